"""A deck for a user: drawn from memory, checked against the store, logged card by card with the propensity of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, final

import numpy as np

from kaczmatch.core.errors import check_integer
from kaczmatch.recommend.decks.deck import Deck, FilterHint
from kaczmatch.recommend.decks.policy import Experience
from kaczmatch.recommend.decks.recommender import Recommender
from kaczmatch.recommend.people.filters import passes_all_filters
from kaczmatch.schemas.decks import LARGEST_DECK
from kaczmatch.service.domain import catalogue
from kaczmatch.service.domain.capacity import is_full, without_full
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.experiment import Assignment
from kaczmatch.service.domain.quotas import DECKS, spend
from kaczmatch.service.domain.records import Decision, Impression, LatestDecision, Person, PersonCounters, StoredDeck
from kaczmatch.service.domain.refusals import Conflict
from kaczmatch.service.domain.store import Reader, Transaction
from kaczmatch.service.meeting.card_reasons import CardReason, CardReasons, disclosed_reason
from kaczmatch.service.meeting.profiles import columns_of, counters_of, profile_of, require_person, tags_of
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.meeting.viewer_context import (
    ViewerContext,
    ViewerState,
    load_viewer_context,
    load_viewer_state,
    matched_or_blocked,
)

_TRIES: Final = 5
_WAITED_FOR: Final = 1_000  # changes that a request waits for, if its deck would be empty without them
STILL_LOADING: Final = "people are still being loaded; ask again in a moment"
FULL: Final = "you have as many open matches as you take; when one ends, you see people again"


@final
@dataclass(frozen=True, slots=True, eq=False)
class DeckCard:
    """One card as its viewer may see it, and the impression that the log keeps of it."""

    impression: Impression
    person: Person
    tags: tuple[str, ...]
    reason: CardReason

    @property
    def how_dealt(self) -> str:
        """How the card came into the deck, as far as the viewer may know."""
        return disclosed_reason(self.impression.reason)


@final
@dataclass(frozen=True, slots=True, eq=False)
class OpenDeck:
    """The cards that a user has not answered yet, in order.

    Where there are none: why, which filters to widen, and when somebody can be shown again.
    """

    deck: StoredDeck | None
    cards: tuple[DeckCard, ...]
    empty: str = ""
    hints: tuple[FilterHint, ...] = ()
    next_at: datetime | None = None
    empty_code: str = ""


@final
@dataclass(frozen=True, slots=True)
class Decks:
    """The use cases of a deck."""

    context: Context
    serving_index: ServingIndex
    fresh_rng: Callable[[], np.random.Generator]

    def deck(self, user: str, size: int | None = None) -> OpenDeck:
        """The open deck, as long as it has unanswered cards and has not expired; otherwise a new one."""
        wanted = check_integer("size", self.context.config.deck_size if size is None else size, low=1, high=LARGEST_DECK)
        caught_up = False
        for _ in range(_TRIES):
            deck = self._open_or_new(user, wanted)
            if deck is None:
                continue
            if deck.cards or caught_up:
                return deck
            with self.context.store.read() as reader:
                unread = self.serving_index.unread_changes(reader)
            if not unread:
                return deck
            if unread > _WAITED_FOR:
                return OpenDeck(None, (), STILL_LOADING, empty_code="still-loading")
            self.serving_index.follow()  # after an import nobody is told that nobody is here
            caught_up = True
        raise Conflict(f"the deck of {user!r} was overtaken by other changes {_TRIES} times in a row; try again in a moment")

    def _open_or_new(self, user: str, size: int) -> OpenDeck | None:
        """One try, from one snapshot of the store. None: something changed meanwhile, and it has to be tried again."""
        with self.context.store.read() as reader:
            now = self.context.clock()
            known = load_viewer_state(reader, self.context, user)
            if known.person.paused:
                raise Conflict("a paused person sees nobody; resume first")
            if is_full(reader, known.person, self.context.config.schema):
                return OpenDeck(None, (), FULL, empty_code="full")
            last = counters_of(reader, user).last_deck
            still_open = self._still_open(reader, known, last, now)
            if still_open is not None:
                return still_open
            recommender = self.serving_index.serving(known.versions)
            if recommender is None:  # the model or the vocabulary has changed since this snapshot
                return None
            experiment = self.context.config.experiment
            assignment = None if experiment is None else experiment.assign(known.person, now)
            if assignment is not None:
                recommender = replace(recommender, policy=assignment.arm.policy)
            drawn, people = self._draw(reader, recommender, known, size, now)
        if not drawn.cards:
            return OpenDeck(None, (), drawn.empty, drawn.hints, drawn.next_at, drawn.empty_code)
        return self._store(known, last, drawn, people, now, assignment, size)

    def _still_open(self, reader: Reader, known: ViewerState, last: str | None, now: datetime) -> OpenDeck | None:
        """The unanswered cards of the last deck, without people who are gone, matched, blocked, fit no more, or were answered
        elsewhere meanwhile."""
        user = known.person.id
        deck = reader.get(StoredDeck, user, last) if last is not None else None
        if deck is None or deck.expires <= now:
            return None
        unanswered = [card for card in reader.find(Impression, user=user, deck=deck.id) if card.swipe is None]
        if not unanswered:
            return None
        decided = reader.many(LatestDecision, [(user, card.candidate) for card in unanswered]).values()
        hidden = matched_or_blocked(reader, user) | {
            pair.candidate for pair in decided if pair.decision == Decision.LIKE or pair.at >= deck.at
        }
        people = self._who_fits(reader, known, [card.candidate for card in unanswered if card.candidate not in hidden], now)
        cards = sorted((card for card in unanswered if card.candidate in people), key=lambda card: card.position)
        return OpenDeck(deck, _with_reasons(known, cards, people)) if cards else None

    def _draw(
        self, reader: Reader, recommender: Recommender, known: ViewerState, size: int, now: datetime
    ) -> tuple[Deck, dict[str, Person]]:
        """A deck from memory. If the store says that somebody in it is gone, it is drawn again without them."""
        around: ViewerContext = load_viewer_context(reader, self.context, known, now)
        gone: set[str] = set()
        for _ in range(_TRIES):
            deck = recommender.deck(
                around.viewer,
                size,
                now=now,
                rng=self.fresh_rng(),
                blocked=around.matched_or_blocked | gone,
                answers=around.answers,
                admirers=around.admirers,
                experience=Experience(known.tracked.swipes, known.tracked.stability),
                exposure=self.serving_index.exposure,
            )
            ids = [str(card.id) for card in deck.cards]
            people = self._who_fits(reader, known, ids, now)
            if len(people) == len(ids):
                return deck, people
            gone.update(set(ids) - set(people))
        return replace(deck, cards=tuple(card for card in deck.cards if card.id in people)), people

    def _who_fits(self, reader: Reader, known: ViewerState, ids: Collection[str], now: datetime) -> dict[str, Person]:
        """Who of these is there, not paused, takes one more match, and passes all filters by what the store knows now."""
        schema = self.context.config.schema
        there = [person for person in reader.many(Person, [(other,) for other in ids]).values() if not person.paused]
        there = without_full(reader, there, schema)
        if not there:
            return {}
        profile = profile_of(known.person, known.vocabulary, schema)
        passes = passes_all_filters(profile, columns_of(there, schema), now.astimezone(UTC).date())
        return {person.id: person for person, fits in zip(there, passes.tolist(), strict=True) if fits}

    def _store(
        self,
        known: ViewerState,
        before: str | None,
        drawn: Deck,
        people: dict[str, Person],
        now: datetime,
        assignment: Assignment | None,
        size: int,
    ) -> OpenDeck | None:
        """Log the deck. None: another request has stored one meanwhile, or everybody in it was erased; then it costs nothing."""
        user, identifier, config = known.person.id, self.context.new_id(), self.context.config

        def work(transaction: Transaction) -> list[Impression]:
            require_person(transaction, user)
            counters = counters_of(transaction, user)
            if counters.last_deck != before:
                return []
            # Somebody may have been erased a moment ago: nothing may bring them back.
            kept = [card for card in cards if transaction.get(Person, card.candidate) is not None]
            if kept:
                spent = spend(counters, DECKS, config.decks, now)
                transaction.put(replace(counters, last_deck=identifier, quota_use=spent))
                transaction.put(deck)
                for card in kept:
                    transaction.put(card)
            return kept

        deck = StoredDeck(
            user=user,
            id=identifier,
            at=now,
            expires=now + config.deck_life,
            policy=drawn.policy,
            sampler=drawn.plan.sampler.slug,
            reason=drawn.plan.reason,
            model=known.versions.model,
            eligible=drawn.eligible,
            min_propensity=drawn.min_propensity,
            size=size,
            experiment="" if config.experiment is None else config.experiment.name,
            arm="" if assignment is None else assignment.arm.name,
            unit="" if assignment is None else assignment.unit,
        )
        cards = [
            Impression(
                user=user,
                deck=identifier,
                candidate=str(card.id),
                at=now,
                position=position,
                propensity=card.propensity,
                score=card.score,
                reason=str(card.reason),
            )
            for position, card in enumerate(drawn.cards)
        ]
        candidates = [card.candidate for card in cards]
        prefetch = [*((Person, (one,)) for one in (user, *candidates)), (PersonCounters, (user,)), catalogue.ACTIVE_VERSIONS]
        kept = self.context.store.write(work, locks=[user, *candidates], prefetch=prefetch).result()
        if not kept:
            return None
        self.serving_index.exposure.record([card.candidate for card in kept], now)
        return OpenDeck(deck, _with_reasons(known, kept, people))


def _with_reasons(known: ViewerState, cards: Iterable[Impression], people: dict[str, Person]) -> tuple[DeckCard, ...]:
    reasons, vocabulary = CardReasons(known), known.vocabulary
    return tuple(
        DeckCard(
            card,
            people[card.candidate],
            tuple(tags_of(people[card.candidate], vocabulary)[0]),
            reasons.reason(card.reason, people[card.candidate]),
        )
        for card in cards
    )
