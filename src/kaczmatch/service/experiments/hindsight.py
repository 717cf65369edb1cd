"""The past as decks met it: every deck that was dealt, with what was known and who was there at that moment.

It is read from the log. States are folds of the events until then, so they are those of the time; the same events can be folded
by another learner too. What the log does not keep is taken as it is now: profiles and vocabulary. Whether somebody was away is
told by their swipes and decks, and by the decks that they were in.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import final

from kaczmatch.core.moments import microsecond
from kaczmatch.core.swipes import appeal_row
from kaczmatch.core.vectors import Vector
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.logs.fold import EventFold
from kaczmatch.learners.population.traits import TraitModel
from kaczmatch.recommend.decks.eligible import Answers
from kaczmatch.recommend.decks.exposure import Exposure
from kaczmatch.recommend.decks.policy import Experience, Policy
from kaczmatch.recommend.decks.recommender import Recommender
from kaczmatch.recommend.scoring import Viewer
from kaczmatch.service.domain.appeal import appeal_to, rating_evidence, with_rating
from kaczmatch.service.domain.catalogue import neutral_prior
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.folding import ModelFold
from kaczmatch.service.domain.impressions import Impression
from kaczmatch.service.domain.records import (
    Block,
    Decision,
    Event,
    EventKind,
    MatchSide,
    Person,
    PersonCounters,
    StoredDeck,
)
from kaczmatch.service.domain.store import Reader
from kaczmatch.service.experiments.past_log import PastLog
from kaczmatch.service.experiments.past_states import PastStates
from kaczmatch.service.meeting.profiles import profile_of
from kaczmatch.service.meeting.viewer_context import MOST_ADMIRERS, answers


@final
@dataclass(frozen=True, slots=True, eq=False)
class PastDeck:
    """One deck that was dealt, and all that dealing it again takes."""

    deck: StoredDeck
    cards: tuple[Impression, ...]
    decisions: Mapping[str, Decision]  # on those cards that were answered
    viewer: Viewer
    experience: Experience
    matched_or_blocked: frozenset[str]
    answers: Answers
    admirers: tuple[str, ...]
    recommender: Recommender
    exposure: Exposure  # of everybody, until then


@final
class Hindsight:
    """Walks through the log once; past decks come with a recommender that deals by `policy`.

    With a `learner`, everybody is taken to have been learned by it, from a neutral start; otherwise by the model in use then.
    """

    def __init__(self, context: Context, reader: Reader, policy: Policy, learner: Learner | None = None) -> None:
        self._context, self._reader, self._policy = context, reader, policy
        current = context.catalogue.current(reader)
        self._vocabulary = context.catalogue.vocabulary(reader, current.vocabulary)
        self._other = None if learner is None else self._fold_of(learner)
        self._past_states: PastStates | None = None
        self._people = {person.id: person for person in reader.find(Person)}
        by_arrival = sorted(self._people.values(), key=lambda person: person.created)
        self._coming, self._here = deque(by_arrival), dict[str, Person]()
        self._away, self._seen = dict[str, Person](), {person.id: person.created for person in by_arrival}
        self._leaving = deque(sorted((one for one in by_arrival if one.paused), key=lambda person: person.changed))
        self._matched_or_blocked: dict[str, list[tuple[datetime, str]]] = defaultdict(list)
        for match in reader.find(MatchSide):
            self._matched_or_blocked[match.user].append((match.at, match.other))
        for block in reader.find(Block):
            self._matched_or_blocked[block.user].append((block.at, block.other))
            self._matched_or_blocked[block.other].append((block.at, block.user))
        self._log, self._applied = PastLog(reader), 0  # so many events
        self.swipes_outside_decks = 0  # known when `past_decks` is through
        self._decided: dict[str, dict[str, tuple[Decision, datetime]]] = defaultdict(dict)
        self._admirers: dict[str, dict[str, None]] = defaultdict(dict)  # the newest last
        self._counters: dict[str, PersonCounters] = {}
        self._rated: dict[str, set[str]] = defaultdict(set)
        self._appeal_changed: set[str] = set()
        self._exposure = Exposure(cap=context.config.exposure_cap)

    def past_decks(self, watch: Callable[[int, int], None] | None = None, *, since: datetime | None = None) -> Iterator[PastDeck]:
        """Every deck, in the order of time. Use one before you ask for the next: the world goes on.

        `since` is when the swipes were made that are counted as outside decks.
        """
        total, events = self._reader.count(StoredDeck), self._counted(since)
        coming = next(events, None)
        for number, (deck, answered) in enumerate(self._log.decks()):
            # Events are in the order of their commits. One that was imported says an older time, and waits for those before it.
            while coming is not None and coming.at < deck.at:
                self._apply(coming)
                coming = next(events, None)
            self._seen[deck.user] = deck.at
            if answered and deck.user in self._people:
                said = ((card.candidate, swipe.decision) for card, swipe in answered if swipe is not None)
                decisions = {who: decision for who, decision in said if decision is not None}
                yield self._past_deck(deck, tuple(card for card, _ in answered), decisions)
            self._exposure.record([card.candidate for card, _ in answered], deck.at)
            if watch is not None:
                watch(number + 1, total)
        deque(events, maxlen=0)  # the others are counted

    def _counted(self, since: datetime | None) -> Iterator[Event]:
        for event in self._log.events():
            self.swipes_outside_decks += event.outside_deck and (since is None or event.at >= since)
            yield event

    def _past_deck(self, deck: StoredDeck, cards: tuple[Impression, ...], decisions: Mapping[str, Decision]) -> PastDeck:
        states, user, rules = self._states_at(deck, {card.candidate for card in cards}), deck.user, self._context.config
        profile = profile_of(self._people[user], self._vocabulary, rules.schema)
        tracked = states.tracked_state(user)
        return PastDeck(
            deck,
            cards,
            decisions,
            Viewer(profile, states.fold.learner, states.state(user), self._others(states, user, deck.at)),
            Experience(tracked.swipes, tracked.stability),
            frozenset(other for at, other in self._matched_or_blocked[user] if at <= deck.at),
            answers((other, decision, at) for other, (decision, at) in self._decided[user].items()),
            tuple(reversed(self._admirers[user]))[:MOST_ADMIRERS],
            states.recommender,
            self._exposure,
        )

    def _states_at(self, deck: StoredDeck, shown: Collection[str]) -> PastStates:
        """Everybody's state at the moment of a deck in which these people were shown."""
        states = self._past_states
        if states is None or (self._other is None and states.fold.model != deck.model):
            fold = self._other or self._context.catalogue.fold(self._reader, deck.model)
            states = self._past_states = PastStates(self._context.config, self._vocabulary, fold, self._policy)
            states.add_people(self._here.values())
            for event in islice(self._log.events(), self._applied):
                states.apply_event(event)
            self._appeal_changed.update(self._here)
        come, gone = (
            _until(self._coming, lambda one: one.created, deck.at),
            _until(self._leaving, lambda one: one.changed, deck.at),
        )
        back, away = self._back_and_away(deck.at, shown)
        come, gone = come + back, gone + away
        self._here.update((person.id, person) for person in come)
        self._appeal_changed.update(person.id for person in come)
        for person in gone:
            self._here.pop(person.id, None)
        self._away.update((person.id, person) for person in away)
        states.add_people(come)
        states.remove_people(gone)
        states.update_index({user: self._others(states, user, deck.at) for user in self._appeal_changed})
        self._appeal_changed.clear()
        return states

    def _back_and_away(self, at: datetime, shown: Collection[str]) -> tuple[list[Person], list[Person]]:
        """Who came back since the last deck, and who has been away for too long by now."""
        days = self._context.config.away_days
        if days is None:
            return [], []
        first = (at.astimezone(UTC) - timedelta(days=days)).replace(hour=0, minute=0, second=0, microsecond=0)
        back = [self._away.pop(one) for one in [*self._away] if one in shown or self._seen[one] >= first]
        away = [one for one in self._here.values() if self._seen[one.id] < first and one.id not in shown]
        return back, away

    def _apply(self, event: Event) -> None:
        self._applied += 1
        if not event.imported:
            self._seen[event.user] = event.at
        if self._past_states is not None:
            self._past_states.apply_event(event)
        if event.kind != EventKind.SWIPED or event.candidate is None or event.decision is None:
            return
        user, other, liked = event.user, event.candidate, event.decision == Decision.LIKE
        before = self._decided[user].get(other)
        if before is None or not event.imported or event.at >= before[1]:  # as in `standing_decisions`
            self._decided[user][other] = event.decision, event.at
            self._admirers[other].pop(user, None)
            if liked:
                self._admirers[other][user] = None
        if event.decision != Decision.SKIP:
            mine = self._counters.get(user, PersonCounters(user=user))
            if other not in self._rated[user]:  # a later answer does not change an appeal
                self._rated[user].add(other)
                theirs = self._counters.get(other, PersonCounters(user=other))
                said = rating_evidence(mine, liked=liked)
                self._counters[other] = theirs.with_appeal(*with_rating(theirs, said, event.at, self._context.config.appeal))
                self._appeal_changed.add(other)
            self._counters[user] = replace(mine, swipes=mine.swipes + 1, likes=mine.likes + liked)

    def _others(self, states: PastStates, user: str, at: datetime) -> Vector:
        if states.fold.traits is not None and user in self._people:
            return states.others(self._people[user], at)
        counters = self._counters.get(user, PersonCounters(user=user))
        return appeal_row(appeal_to(counters, None, at, self._context.config.appeal))

    def _fold_of(self, learner: Learner) -> ModelFold:
        current = self._context.catalogue.current(self._reader)
        once = self._context.catalogue.fold(self._reader, current.model).first_answers_only
        prior = neutral_prior(learner, self._vocabulary.dimensions)
        traits = None
        if isinstance(learner, ProbitTraits):
            half_life, now = self._context.config.appeal.half_life_days, microsecond(self._context.clock())
            traits = TraitModel(learner=learner, prior=prior, half_life_days=half_life, reference=now)
        dimensions = self._vocabulary.dimensions
        return ModelFold(0, EventFold(learner, prior), lambda _: dimensions, once or traits is not None, traits)


def _until(waiting: deque[Person], moment: Callable[[Person], datetime], limit: datetime) -> list[Person]:
    """Whose time has come, in order."""
    found = []
    while waiting and moment(waiting[0]) <= limit:
        found.append(waiting.popleft())
    return found
