"""A deck for somebody: dealt from memory, checked against the store, logged card by card with the probability of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import final

import numpy as np

from kaczmatch.core.errors import check_integer
from kaczmatch.learners.logs.event_fold import TrackedState
from kaczmatch.recommend.decks.deck import Deck, FilterHint
from kaczmatch.recommend.decks.policy import Experience
from kaczmatch.recommend.decks.recommender import Recommender
from kaczmatch.recommend.people.filters import passes_all_filters
from kaczmatch.recommend.scoring import Viewer
from kaczmatch.service.domain import catalogue
from kaczmatch.service.domain.appeal import appeal_to
from kaczmatch.service.domain.config import LARGEST_DECK
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.experiment import Assignment
from kaczmatch.service.domain.quotas import DECKS, spend
from kaczmatch.service.domain.records import (
    Block,
    Decision,
    Impression,
    LatestDecision,
    MatchSide,
    Person,
    PersonCounters,
    StoredDeck,
    StoredState,
)
from kaczmatch.service.domain.refusals import Conflict, nobody
from kaczmatch.service.domain.store import Reader, Transaction
from kaczmatch.service.meeting.profiles import columns_of, counters_of, profile_of, require_person
from kaczmatch.service.meeting.serving_index import ServingIndex, grown_state

MOST_ADMIRERS = 1_000
_TRIES = 5


@final
@dataclass(frozen=True, slots=True, eq=False)
class OpenDeck:
    """What a viewer gets: cards with the people on them, in order; where there is nobody, why, and what to widen."""

    deck: StoredDeck | None
    cards: tuple[tuple[Impression, Person], ...]
    empty: str = ""
    hints: tuple[FilterHint, ...] = ()


@final
@dataclass(frozen=True, slots=True, eq=False)
class ViewerContext:
    """What the store knows that a deck for one person needs."""

    person: Person
    viewer: Viewer
    tracked: TrackedState
    excluded: frozenset[str]
    last_decided: dict[Hashable, datetime]
    admirers: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Decks:
    """The use cases of a deck."""

    context: Context
    world: ServingIndex
    fresh_rng: Callable[[], np.random.Generator]

    def deck(self, user: str, size: int | None = None) -> OpenDeck:
        """The open deck, as long as it has unanswered cards and has not expired; otherwise a new one."""
        wanted = check_integer("size", self.context.config.deck_size if size is None else size, low=1, high=LARGEST_DECK)
        with self.context.store.read() as reader:
            now = self.context.clock()
            hand = self._open(reader, user, now)
            if hand is not None:
                return hand
            sight = load_viewer(reader, self.context, user, now)
            before = counters_of(reader, user).last_deck
            current = self.context.catalogue.current(reader)
            recommender = self.world.serving(current)
            experiment = self.context.config.experiment
            place = None if experiment is None else experiment.assign(sight.person, now)
            if recommender is not None:
                recommender = recommender if place is None else replace(recommender, policy=place.arm.policy)
                dealt, people = self._deal(reader, recommender, sight, wanted, now)
        if recommender is None:  # the model or vocabulary has changed since we began to read
            return self.deck(user, size)
        if not dealt.cards:
            return OpenDeck(None, (), dealt.empty, dealt.hints)
        return self._log(user, before, dealt, people, current.model, now, place)

    def _open(self, reader: Reader, user: str, now: datetime) -> OpenDeck | None:
        """What is left of the last deck, without those who are gone, blocked or fit no more."""
        me, last = reader.get(Person, user), counters_of(reader, user).last_deck
        if me is None:
            raise nobody(user)
        if me.paused:
            raise Conflict("a paused person sees nobody; resume first")
        deck = reader.get(StoredDeck, user, last) if last is not None else None
        if deck is None or deck.expires <= now:
            return None
        left = [card for card in reader.find(Impression, user=user, deck=deck.id) if card.swipe is None]
        if not left:
            return None
        hidden = excluded_people(reader, user)
        people = self._still_fit(reader, me, [card.candidate for card in left if card.candidate not in hidden], now)
        cards = sorted((card for card in left if card.candidate in people), key=lambda card: card.position)
        return OpenDeck(deck, tuple((card, people[card.candidate]) for card in cards)) if cards else None

    def _deal(
        self, reader: Reader, recommender: Recommender, sight: ViewerContext, size: int, now: datetime
    ) -> tuple[Deck, dict[str, Person]]:
        """A deck from memory. Who turns out to be gone from the store is taken out of memory, and it is dealt again."""
        gone: set[str] = set()
        for _ in range(_TRIES):
            deck = recommender.deck(
                sight.viewer,
                size,
                now=now,
                rng=self.fresh_rng(),
                blocked=sight.excluded | gone,
                recent=sight.last_decided,
                admirers=sight.admirers,
                experience=Experience(sight.tracked.swipes, sight.tracked.stability),
                exposure=self.world.exposure,
            )
            ids = [str(card.id) for card in deck.cards]
            people = self._still_fit(reader, sight.person, ids, now)
            if len(people) == len(ids):
                return deck, people
            gone.update(set(ids) - set(people))
        return replace(deck, cards=tuple(card for card in deck.cards if card.id in people)), people

    def _still_fit(self, reader: Reader, me: Person, ids: Collection[str], now: datetime) -> dict[str, Person]:
        """Who of these is there, not paused, and passes all filters by what the store knows now."""
        known = [one for one in reader.many(Person, [(other,) for other in ids]).values() if not one.paused]
        if not known:
            return {}
        version, schema = self.context.catalogue.current(reader).vocabulary, self.context.config.schema
        mine = profile_of(me, self.context.catalogue.vocabulary(reader, version), schema)
        passes = passes_all_filters(mine, columns_of(known, schema), now.astimezone(UTC).date())
        return {one.id: one for one, ok in zip(known, passes.tolist(), strict=True) if ok}

    def _log(
        self,
        user: str,
        before: str | None,
        deck: Deck,
        people: dict[str, Person],
        model: int,
        now: datetime,
        placed: Assignment | None,
    ) -> OpenDeck:
        """Write the deck down, unless another request has dealt one meanwhile: then that one counts."""
        identifier, rules = self.context.new_id(), self.context.config

        def work(transaction: Transaction) -> bool:
            require_person(transaction, user)
            mine = counters_of(transaction, user)
            if mine.last_deck != before:
                return False
            transaction.put(replace(mine, last_deck=identifier, quota_use=spend(mine, DECKS, rules.decks, now)))
            transaction.put(dealt)
            for card in cards:
                if transaction.get(Person, card.candidate) is not None:  # erased a moment ago: nothing may bring them back
                    transaction.put(card)
            return True

        dealt = StoredDeck(
            user=user,
            id=identifier,
            at=now,
            expires=now + rules.deck_life,
            policy=deck.policy,
            sampler=deck.plan.sampler.slug,
            reason=deck.plan.reason,
            model=model,
            eligible=deck.eligible,
            min_propensity=deck.min_propensity,
            experiment="" if rules.experiment is None else rules.experiment.name,
            arm="" if placed is None else placed.arm.name,
            unit="" if placed is None else placed.unit,
        )
        cards = [
            Impression(
                user=user,
                deck=identifier,
                candidate=str(card.id),
                at=now,
                position=place,
                propensity=card.propensity,
                score=card.score,
                reason=str(card.reason),
            )
            for place, card in enumerate(deck.cards)
        ]
        others = [card.candidate for card in cards]
        reads = [(Person, (one,)) for one in (user, *others)]
        wanted = [*reads, (PersonCounters, (user,)), catalogue.ACTIVE_VERSIONS]
        if not self.context.store.write(work, locks=[user, *others], prefetch=wanted).result():
            return self.deck(user, len(cards))
        self.world.exposure.record(others, now)
        return OpenDeck(dealt, tuple((card, people[card.candidate]) for card in cards))


def load_viewer(reader: Reader, context: Context, user: str, now: datetime) -> ViewerContext:
    """Everything about a viewer that decks, rankings and explanations need."""
    me = reader.get(Person, user)
    if me is None:
        raise nobody(user)
    current = context.catalogue.current(reader)
    fold, words = context.catalogue.fold(reader, current.model), context.catalogue.vocabulary(reader, current.vocabulary)
    taste = fold.decode(reader.get(StoredState, current.model, user))
    appeal = appeal_to(counters_of(reader, user), None, now, context.config.appeal)
    profile = profile_of(me, words, context.config.schema)
    viewer = Viewer(profile, fold.learner, grown_state(fold, taste.state, words), appeal)
    met: dict[Hashable, datetime] = {
        pair.candidate: pair.at for pair in reader.find(LatestDecision, user=user, after=(now - context.config.cooldown,))
    }
    likes = reader.find(LatestDecision, candidate=user, decision=Decision.LIKE, newest=True, limit=MOST_ADMIRERS)
    return ViewerContext(me, viewer, taste, excluded_people(reader, user), met, tuple(pair.user for pair in likes))


def excluded_people(reader: Reader, user: str) -> frozenset[str]:
    """Who never comes (again): matched, unmatched, blocked by either side, reported."""
    return frozenset(
        [match.other for match in reader.find(MatchSide, user=user)]
        + [block.other for block in reader.find(Block, user=user)]
        + [block.user for block in reader.find(Block, other=user)]
    )
