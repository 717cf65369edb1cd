"""One person's records against their events: what is derived must follow from the log."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self, final

from kaczmatch.learners.population.traits import CandidateTraits
from kaczmatch.service.domain.appeal import summed_evidence
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.counting import recounted, resets_at_last_answers, standing_decisions
from kaczmatch.service.domain.folding import UNSEEN, ModelFold
from kaczmatch.service.domain.impressions import shows
from kaczmatch.service.domain.records import (
    Decision,
    Event,
    EventKind,
    LatestDecision,
    MatchSide,
    PersonCounters,
    SeenTraits,
    StoredDeck,
    StoredTraits,
)
from kaczmatch.service.domain.store import Snapshot
from kaczmatch.service.domain.traits import site_of, traits_of
from kaczmatch.service.meeting.viewer_context import matched_or_blocked

_ROUNDED = 1e-6  # appeal is added to and taken from in another order than it is summed here


@final
@dataclass(frozen=True, slots=True)
class RecordsOfPeople:
    """What is checked of some people, as of one moment, by id."""

    events: Mapping[str, Sequence[Event]]
    counters: Mapping[tuple[str, ...], PersonCounters]
    decisions: Mapping[str, Sequence[LatestDecision]]
    raters: Mapping[str, Sequence[LatestDecision]]  # what others decided on them
    matches: Mapping[str, Sequence[MatchSide]]
    decks: Mapping[str, Sequence[StoredDeck]]
    seen_by_them: Mapping[str, Sequence[SeenTraits]]
    seen_of_them: Mapping[str, Sequence[SeenTraits]]

    @classmethod
    def read(cls, reader: Snapshot, people: Collection[str]) -> Self:
        return cls(
            events=reader.of_people(Event, "user", people),
            counters=reader.many(PersonCounters, [(user,) for user in people]),
            decisions=reader.of_people(LatestDecision, "user", people),
            raters=reader.of_people(LatestDecision, "candidate", people),
            matches=reader.of_people(MatchSide, "user", people),
            decks=reader.of_people(StoredDeck, "user", people),
            seen_by_them=reader.of_people(SeenTraits, "user", people),
            seen_of_them=reader.of_people(SeenTraits, "candidate", people),
        )


@final
@dataclass(frozen=True, slots=True)
class ConsistencyCheck:
    """`user` and their records.

    Of people who are `leaving`, cards and matches may be gone already, and decisions not yet.
    """

    context: Context
    reader: Snapshot
    fold: ModelFold
    user: str
    records: RecordsOfPeople
    leaving: frozenset[str] = frozenset()

    @property
    def log(self) -> Sequence[Event]:
        return self.records.events[self.user]

    def problems(self) -> Iterator[str]:
        pairs = {pair.candidate: pair for pair in self.records.decisions[self.user]}
        matches = {match.other: match for match in self.records.matches[self.user]}
        counters = self.records.counters.get((self.user,))
        yield from self._counters(counters, sum(match.ended is None for match in matches.values()))
        yield from self._traits(pairs)
        yield from self._decisions(pairs)
        yield from self._cards()
        yield from self._matches(matches)
        yield from self._unmatched(pairs)

    def _counters(self, counters: PersonCounters | None, matches: int) -> Iterator[str]:
        if counters is not None and counters.open_matches != matches:
            yield f"{self.user!r} has {matches} open matches, and {counters.open_matches} are counted"
        if counters is None or counters != recounted(counters, self.log):
            yield f"the counters of {self.user!r} are not those of its {len(self.log)} events"
        raters = self.records.raters[self.user]
        sums = summed_evidence(raters, counters, self.context.config.appeal)
        held = (0.0, 0.0) if counters is None else (counters.excess, counters.information)
        if any(abs(one - other) > _ROUNDED * (1.0 + abs(other)) for one, other in zip(held, sums, strict=True)):
            yield f"the appeal of {self.user!r} is not the sum of what {len(raters)} people said"

    def _traits(self, pairs: dict[str, LatestDecision]) -> Iterator[str]:
        """The exact sum of what raters said, and a site of every first answer."""
        if self.fold.traits is None:
            return
        model = self.fold.model
        stored = self.reader.get(StoredTraits, model, self.user)
        raters = [one for one in self.records.seen_of_them[self.user] if one.model == model]
        sums = CandidateTraits.unknown(self.fold.traits.learner.traits)
        for one in raters:
            site = site_of(one)
            sums = sums if site is None else sums.plus(site)
        if traits_of(self.fold.traits, stored) != sums:
            yield f"the traits of {self.user!r} are not the sum of what {len(raters)} people said"
        mine = [one for one in self.records.seen_by_them[self.user] if one.model == model]
        unseen = {event.id for event in self.log if event.said is UNSEEN}
        first = {pair.first_answer: pair.candidate for pair in pairs.values() if pair.first_answer not in {None, *unseen}}
        if {one.swipe: one.candidate for one in mine if one.site} != first:
            yield f"what {self.user!r} says of others' traits is not what their {len(first)} first answers say"

    def _decisions(self, pairs: dict[str, LatestDecision]) -> Iterator[str]:
        stands, answered = standing_decisions(self.log), resets_at_last_answers(self.log)
        for other in sorted({*stands, *pairs}):
            event, pair = stands.get(other), pairs.get(other)
            said = None if event is None else (event.decision, event.at, event.id, answered.get(other))
            if said != (None if pair is None else (pair.decision, pair.at, pair.swipe, pair.answered_after_resets)):
                yield f"what {self.user!r} decided on {other!r} is not what its events say"

    def _cards(self) -> Iterator[str]:
        """Whoever was swiped on in a deck that is still kept was shown in it."""
        decks = {deck.id: deck for deck in self.records.decks[self.user]}
        swipes = [one for one in self.log if one.kind == EventKind.SWIPED and one.deck in decks and one.candidate is not None]
        numbers = self.reader.numbers_of({one.candidate or "" for one in swipes})
        for one in swipes:
            if one.candidate not in self.leaving and not shows(decks[one.deck or ""], numbers.get(one.candidate or "")):
                yield f"swipe {one.id!r} of {self.user!r} is on {one.candidate!r}, who is not in deck {one.deck!r}"

    def _matches(self, matches: dict[str, MatchSide]) -> Iterator[str]:
        made = {event.candidate: event for event in self.log if event.match is not None}
        for other, event in made.items():
            if other not in matches and other not in self.leaving:
                yield f"{self.user!r} made match {event.match!r} with {other!r}, which is not there"
        sides = self.reader.many(MatchSide, [(other, self.user) for other in matches]) if matches else {}
        for other, match in matches.items():
            if other in self.leaving:
                continue
            if (other, self.user) not in sides or sides[other, self.user].id != match.id:
                yield f"match {match.id!r} of {self.user!r} has no other side"
            elif not self._is_made(match, made.get(other)):
                yield f"match {match.id!r} of {self.user!r} was made by no event"

    def _is_made(self, match: MatchSide, mine: Event | None) -> bool:
        """By one's own swipe, or by the other's, which mostly is the one that stands."""
        last = self.reader.get(LatestDecision, match.other, self.user)
        theirs = self.reader.get(Event, match.other, last.swipe) if last is not None else None
        if any(one is not None and (one.match, one.at) == (match.id, match.at) for one in (mine, theirs)):
            return True
        return any((one.match, one.at) == (match.id, match.at) for one in self.reader.find(Event, user=match.other))

    def _unmatched(self, pairs: dict[str, LatestDecision]) -> Iterator[str]:
        """Two likes without a match; an import may bring likes of people who have blocked each other."""
        likes_me = {one.user for one in self.records.raters[self.user] if one.decision == Decision.LIKE}
        mutual = [other for other, pair in pairs.items() if pair.decision == Decision.LIKE and other in likes_me]
        may_not_match = matched_or_blocked(self.reader, self.user) | self.leaving if mutual else ()
        for other in mutual:
            if other not in may_not_match:
                yield f"{self.user!r} and {other!r} like each other and have no match"
