"""Swipes: event, new state, match and message in one commit. And the end of a session."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.recommend.people.filters import passes_all_filters
from kaczmatch.service.domain import catalogue
from kaczmatch.service.domain.appeal import appeal_to, rating_evidence, with_rating
from kaczmatch.service.domain.capacity import check_not_full, count_match
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.folding import models_that_learn
from kaczmatch.service.domain.impressions import shows
from kaczmatch.service.domain.outbox import announce
from kaczmatch.service.domain.person_ids import checked_id
from kaczmatch.service.domain.quotas import SWIPES, spend
from kaczmatch.service.domain.records import (
    ActiveVersions,
    Block,
    Decision,
    Event,
    EventKind,
    HeldPerson,
    LatestDecision,
    MatchSide,
    Person,
    PersonCounters,
    SeenTraits,
    StoredDeck,
    StoredState,
    StoredTraits,
)
from kaczmatch.service.domain.refusals import Conflict, NotFound, Reused
from kaczmatch.service.domain.store import RecordKey, Transaction
from kaczmatch.service.domain.traits import learn_event
from kaczmatch.service.meeting.presence import note_presence
from kaczmatch.service.meeting.profiles import columns_of, counters_of, profile_of, require_person


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Swipe:
    """What a client sends: an id of its own choice makes it safe to send again."""

    user: str
    id: str
    candidate: str
    decision: str  # a `Decision`, or its value
    deck: str  # empty: on somebody whom the app found itself


@final
@dataclass(frozen=True, slots=True)
class RecordedSwipe:
    """What a swipe came to: its event, the match it made, and whether it had been received before."""

    event: Event
    repeated: bool

    @property
    def match(self) -> str | None:
        return self.event.match


@final
@dataclass(frozen=True, slots=True)
class Swipes:
    """The use cases of a swipe."""

    context: Context

    def swipe(self, swipe: Swipe) -> Future[RecordedSwipe]:
        """Learn from a swipe on a card of a deck, or outside a deck. It is done when it is on disk."""
        _check(swipe)
        return self.context.store.write(
            lambda tx: self._swipe(tx, swipe), locks=(swipe.user, swipe.candidate), prefetch=self._reads(swipe)
        )

    def end_session(self, user: str, *, at: datetime | None = None) -> Future[bool]:
        """End the open session, if there is one: block rules learn then. With `at`, only if nothing came after that moment."""

        def work(transaction: Transaction) -> bool:
            require_person(transaction, user)
            counters = transaction.get(PersonCounters, user)
            if counters is None or not counters.in_session or (at is not None and counters.last_swipe_at > at):
                return False
            moment = self.context.clock() if at is None else counters.last_swipe_at + self.context.config.session_silence
            self._end_session(transaction, counters, moment)
            transaction.put(replace(counters, in_session=False))
            return True

        return self.context.store.write(
            work, locks=[user], prefetch=[(Person, (user,)), (PersonCounters, (user,)), catalogue.ACTIVE_VERSIONS]
        )

    def import_swipe(self, swipe: Swipe, at: datetime) -> Future[RecordedSwipe]:
        """A swipe that was made elsewhere: no card is needed, and it is marked as imported."""
        _check(swipe)

        def work(transaction: Transaction) -> RecordedSwipe:
            require_person(transaction, swipe.user)
            known = transaction.get(Event, swipe.user, swipe.id)
            if known is not None:
                return _again(known, replace(swipe, deck=known.deck or ""))  # our own export names no decks
            spent, them = counters_of(transaction, swipe.user).quota_use, require_person(transaction, swipe.candidate)
            return self._learn(transaction, swipe, them, spent, min(at, self.context.clock()), imported=True)

        return self.context.store.write(work, locks=(swipe.user, swipe.candidate), prefetch=self._reads(swipe))

    def _swipe(self, transaction: Transaction, swipe: Swipe) -> RecordedSwipe:
        now, me = self.context.clock(), require_person(transaction, swipe.user)
        known = transaction.get(Event, swipe.user, swipe.id)
        if known is not None:
            return _again(known, swipe)
        deck = transaction.get(StoredDeck, swipe.user, swipe.deck) if swipe.deck else None
        them, number = transaction.get(Person, swipe.candidate), transaction.numbers_of([swipe.candidate]).get(swipe.candidate)
        if (
            them is None
            or (swipe.deck and (deck is None or not shows(deck, number)))
            or self._blocked(transaction, swipe)
            or not self._compatible(transaction, me, them, deck, now)
        ):
            # One answer for all of these: a block, an erasure and a person who never was look alike.
            whom, where = swipe.candidate, swipe.deck
            raise NotFound(f"there is no card of {whom!r} in deck {where!r}" if where else f"there is nobody {whom!r} to meet")
        if me.paused:
            raise Conflict("a paused person cannot swipe; resume first")
        if self._matched(transaction, swipe):
            raise Conflict(f"{swipe.user!r} and {swipe.candidate!r} have matched")
        last = transaction.get(LatestDecision, swipe.user, swipe.candidate)
        answer = None if deck is None or last is None else transaction.get(Event, swipe.user, last.swipe)
        if answer is not None and answer.deck == swipe.deck:
            raise Conflict(f"this card was answered by swipe {answer.id!r}; undo that first")
        if swipe.decision == Decision.LIKE:
            check_not_full(transaction, me, them, self.context.config.schema)
        spent = spend(counters_of(transaction, swipe.user), SWIPES, self.context.config.swipes, now)
        note_presence(transaction, self.context, me)
        return self._learn(transaction, swipe, them, spent, now, imported=False)

    def _learn(
        self, transaction: Transaction, swipe: Swipe, them: Person, spent: bytes, now: datetime, *, imported: bool
    ) -> RecordedSwipe:
        """Append the event and bring everything that follows from it up to date."""
        rules = self.context.config
        current = self.context.catalogue.current(transaction)
        mine, theirs = counters_of(transaction, swipe.user), counters_of(transaction, swipe.candidate)
        pair = transaction.get(LatestDecision, swipe.user, swipe.candidate)
        if mine.in_session and now - mine.last_swipe_at >= rules.session_silence:
            self._end_session(transaction, mine, mine.last_swipe_at + rules.session_silence)
            mine = replace(mine, in_session=False)
        back = transaction.get(LatestDecision, swipe.candidate, swipe.user)
        known = pair if imported and pair is not None and pair.at > now else None  # an import may be older than what stands
        decision = Decision(swipe.decision)
        mutual = known is None and decision == Decision.LIKE and back is not None and back.decision == Decision.LIKE
        new = mutual and not self._matched(transaction, swipe) and not self._blocked(transaction, swipe)
        event = Event(
            user=swipe.user,
            id=swipe.id,
            kind=EventKind.SWIPED,
            at=now,
            candidate=swipe.candidate,
            decision=decision,
            features_version=them.features_version,
            features=them.features,
            appeal=appeal_to(theirs, pair, now, rules.appeal),
            vocabulary=current.vocabulary,
            model=current.model,
            deck=swipe.deck or None,
            match=self.context.new_id() if new else None,
            imported=imported,
        )
        transaction.append(event)
        counts, liked = decision != Decision.SKIP, decision == Decision.LIKE
        answered = None if pair is None else pair.answered_after_resets
        first = None if pair is None else pair.first_answer
        self._fold(transaction, current, event, repeated=counts and answered == mine.resets, first=first)
        own: tuple[float, float, datetime | None] = (
            (pair.excess, pair.information, pair.appeal_as_of) if pair else (0.0, 0.0, None)
        )
        if counts and own[2] is None:  # a later answer changes the decision, not what was learned from the first
            said = rating_evidence(mine, liked=liked)
            transaction.put(theirs.with_appeal(*with_rating(theirs, said, now, rules.appeal)))
            own = with_rating(pair, said, now, rules.appeal)
        latest = LatestDecision(
            user=swipe.user,
            candidate=swipe.candidate,
            decision=decision if known is None else known.decision,
            at=now if known is None else known.at,
            swipe=swipe.id if known is None else known.swipe,
            excess=own[0],
            information=own[1],
            appeal_as_of=own[2],
            first_answer=swipe.id if counts and first is None else first,
            answered_after_resets=mine.resets if counts else answered,
        )
        transaction.put(latest)
        session = mine.session if mine.in_session else swipe.id
        transaction.put(mine.after_swipe(now, session, spent, counts=counts, liked=liked))
        if event.match is not None:
            self._match(transaction, event, event.match, now)
        return RecordedSwipe(event, repeated=False)

    def _match(self, transaction: Transaction, event: Event, match: str, now: datetime) -> None:
        for user, other in ((event.user, event.candidate or ""), (event.candidate or "", event.user)):
            transaction.put(MatchSide(user=user, other=other, id=match, at=now))
            count_match(transaction, self.context, user, 1)
            if not event.imported:  # whoever brings its history knows its matches
                announce(transaction, self.context, "match.created", user, {"match": match}, other=other)

    def _end_session(self, transaction: Transaction, counters: PersonCounters, at: datetime) -> None:
        current = self.context.catalogue.current(transaction)
        event = Event(
            user=counters.user,
            id=f"~end:{self.context.new_id()}",  # no client can choose such an id
            kind=EventKind.SESSION_ENDED,
            at=at,
            vocabulary=current.vocabulary,
            model=current.model,
        )
        transaction.append(event)
        self._fold(transaction, current, event)

    def _fold(
        self, transaction: Transaction, current: ActiveVersions, event: Event, repeated: bool = False, first: str | None = None
    ) -> None:
        """One more step of every model that learns."""
        for model in models_that_learn(transaction, current, event.user):
            fold = self.context.catalogue.fold(transaction, model)
            before = fold.decode(transaction.get(StoredState, model, event.user))
            after = learn_event(transaction, fold, event, before, repeated=repeated, first_answer=first)
            transaction.put(fold.encode(event.user, after))

    def _matched(self, transaction: Transaction, swipe: Swipe) -> bool:
        """A match needs that each has decided on the other, and of most cards neither side has: those need no look-up."""
        get, user, other = transaction.get, swipe.user, swipe.candidate
        both = get(LatestDecision, user, other) is not None and get(LatestDecision, other, user) is not None
        return both and get(MatchSide, user, other) is not None

    def _blocked(self, transaction: Transaction, swipe: Swipe) -> bool:
        user, other = swipe.user, swipe.candidate
        return transaction.get(Block, user, other) is not None or transaction.get(Block, other, user) is not None

    def _compatible(self, transaction: Transaction, me: Person, them: Person, deck: StoredDeck | None, now: datetime) -> bool:
        """Whether the two still pass the filters; they did when the card was dealt, so only changes are looked at.

        Whoever paused after they were shown may still be answered; whom an operator holds back not.
        """
        if them.paused and (deck is None or transaction.get(HeldPerson, them.id) is not None):
            return False
        if deck is not None and max(me.changed, them.changed) <= deck.at and deck.at.date() == now.date():
            return True
        version = self.context.catalogue.current(transaction).vocabulary
        vocabulary, schema = self.context.catalogue.vocabulary(transaction, version), self.context.config.schema
        fits = passes_all_filters(profile_of(me, vocabulary, schema), columns_of([them], schema), now.astimezone(UTC).date())
        return bool(fits[0])

    def _reads(self, swipe: Swipe) -> list[RecordKey]:
        user, other, known = swipe.user, swipe.candidate, self.context.catalogue
        known.keep_up(self.context.store)
        models = [one for one in (known.last.model, known.last.building, known.last.previous) if one] if known.last else []
        with_traits = [model for model in models if known.has_traits(model)]
        return [
            catalogue.ACTIVE_VERSIONS,
            (Event, (user, swipe.id)),
            (Person, (user,)),
            (Person, (other,)),
            *([(StoredDeck, (user, swipe.deck))] if swipe.deck else []),
            (Block, (user, other)),
            (Block, (other, user)),
            (PersonCounters, (user,)),
            (PersonCounters, (other,)),
            (LatestDecision, (user, other)),
            (LatestDecision, (other, user)),
            *((StoredState, (model, user)) for model in models),
            *((StoredTraits, (model, other)) for model in with_traits),
            *((SeenTraits, (model, user, swipe.id)) for model in with_traits),
        ]


_DECISIONS: Final = frozenset(Decision)  # plain strings are found in it too


def _check(swipe: Swipe) -> None:
    checked_id(swipe.user), checked_id(swipe.id), checked_id(swipe.candidate)
    if swipe.decision not in _DECISIONS:
        raise InvalidInput("decision", f"must be like, pass or skip, got {swipe.decision!r}")
    if swipe.candidate == swipe.user:
        raise InvalidInput("candidate", "nobody swipes on themselves")


def _again(known: Event, swipe: Swipe) -> RecordedSwipe:
    """The same answer to the same swipe; another one under its id is a mistake."""
    said = (known.kind, known.candidate, known.decision, known.deck or "")
    if said != (EventKind.SWIPED, swipe.candidate, swipe.decision, swipe.deck):
        raise Reused(f"the id {swipe.id!r} was used for another swipe")
    return RecordedSwipe(known, repeated=True)
