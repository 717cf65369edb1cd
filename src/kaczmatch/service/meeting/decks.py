"""A deck for a user: drawn from memory, checked against the store, logged card by card with the propensity of each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, final

import numpy as np

from kaczmatch.core.errors import InvalidInput, check_integer
from kaczmatch.core.vectors import Vector
from kaczmatch.recommend.decks.deck import Deck, Reason
from kaczmatch.recommend.decks.policy import Experience
from kaczmatch.recommend.decks.rank import RankedCandidates
from kaczmatch.recommend.decks.recommender import Recommender
from kaczmatch.schemas.decks import LARGEST_DECK
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.impressions import REASONS, Impression, impressions, with_cards
from kaczmatch.service.domain.quotas import DECKS, spend
from kaczmatch.service.domain.records import Decision, LatestDecision, Person, PersonCounters, Pick, StoredDeck
from kaczmatch.service.domain.refusals import Conflict
from kaczmatch.service.domain.store import RecordKey, Snapshot, Transaction
from kaczmatch.service.meeting.open_deck import DealtDeck, OpenDeck, deck_of_nobody, impression, new_deck, with_reasons
from kaczmatch.service.meeting.presence import note_presence, today
from kaczmatch.service.meeting.profiles import counters_of, require_person
from kaczmatch.service.meeting.published_picks import current_picks
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.meeting.viewer_context import (
    ViewerContext,
    ViewerState,
    load_viewer_context,
    load_viewer_state,
    matched_or_blocked,
    who_fits,
)

_TRIES: Final = 5
_LATE: Final = timedelta(minutes=1)  # a deck that comes to the store later is drawn again: `appearances` does not wait for it
_WAITED_FOR: Final = 1_000  # changes that a request waits for, if its deck would be empty without them
_Tried = tuple[Person | None, OpenDeck | DealtDeck | None]
STILL_LOADING: Final = "people are still being loaded; ask again in a moment"


@final
@dataclass(frozen=True, slots=True)
class Decks:
    """The use cases of a deck."""

    context: Context
    serving_index: ServingIndex
    fresh_rng: Callable[[], np.random.Generator]

    def deck(self, user: str, size: int | None = None, *, present: bool = True) -> OpenDeck:
        """The open deck, as long as it has unanswered cards and has not expired; otherwise a new one.

        `present`: the person asks for it, so they are there. Somebody else may prepare it for them.
        """
        wanted = self._wanted(size)
        return self._finished(user, wanted, self._open_or_new(user, wanted, present=present), present=present)

    def begin(self, user: str, size: int | None = None) -> OpenDeck | DealtDeck:
        """The same for somebody who asks. A new deck is still on its way to the store: see `stored`."""
        wanted = self._wanted(size)
        tried = self._open_or_new(user, wanted, present=True)
        return tried[1] if isinstance(tried[1], DealtDeck) else self._finished(user, wanted, tried, present=True)

    def stored(self, dealt: DealtDeck) -> OpenDeck | None:
        """The deck when the store has it, perhaps without some of its cards.

        None: it has none, because another request has stored one meanwhile, or everybody in it was erased; then it costs nothing.
        """
        kept = dealt.stored.result()
        if not kept or dealt.deck.deck is None:
            return None
        there = {card.candidate for card in kept}
        self.serving_index.exposure.record(there, kept[0].at)
        if len(there) == len(dealt.deck.cards):
            return dealt.deck
        cards = tuple(card for card in dealt.deck.cards if card.person.id in there)
        return OpenDeck(with_cards(dealt.deck.deck, kept, dealt.numbers), cards)

    def _wanted(self, size: int | None) -> int:
        return check_integer("size", self.context.config.deck_size if size is None else size, low=1, high=LARGEST_DECK)

    def _finished(self, user: str, size: int, tried: _Tried, *, present: bool) -> OpenDeck:
        """What came of a try, and of others if it has to be tried again."""
        caught_up = False
        for turn in range(_TRIES):
            unnoted, found = self._open_or_new(user, size, present=present) if turn else tried
            deck = self.stored(found) if isinstance(found, DealtDeck) else found
            if deck is None:
                continue
            if present and unnoted is not None:
                self._note_presence(unnoted)
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

    def _note_presence(self, person: Person) -> None:
        if person.seen < today(self.context):

            def work(transaction: Transaction) -> None:
                note_presence(transaction, self.context, require_person(transaction, person.id))

            self.context.store.write(work, locks=[person.id], prefetch=[(Person, (person.id,))]).result()

    def _open_or_new(self, user: str, size: int, *, present: bool) -> _Tried:
        """One try, from one snapshot of the store. None: something changed meanwhile, and it has to be tried again.

        The person comes with it, if the store has not been told yet that they are `present`.
        """
        versions, recommender = self.serving_index.served  # before the store is read: it knows these versions, or later ones
        with self.context.store.read() as reader:
            now = self.context.clock()
            known = load_viewer_state(reader, self.context, user, versions)
            if nobody := deck_of_nobody(reader, self.context, known):
                return known.person, nobody
            last = counters_of(reader, user).last_deck
            still_open = self._still_open(reader, known, last, now)
            if still_open is not None:
                return known.person, still_open
            experiment = self.context.config.experiment
            assignment = None if experiment is None else experiment.assign(known.person, now)
            if assignment is not None:
                recommender = replace(recommender, policy=assignment.arm.policy)
            try:
                drawn, people, picked = self._draw(reader, recommender, known, size, now)
                numbers = reader.numbers_of(people)
            except InvalidInput as problem:
                if problem.field == "viewer":  # the vocabulary has grown since the viewer was read
                    return known.person, None
                raise
        if not drawn.cards:
            return known.person, OpenDeck(None, (), drawn.empty, drawn.hints, drawn.next_at, drawn.empty_code)
        deck = new_deck(
            self.context,
            known,
            now,
            size,
            policy=drawn.policy,
            sampler=drawn.plan.sampler.slug,
            reason=drawn.plan.reason,
            eligible=drawn.eligible,
            min_propensity=drawn.min_propensity,
            arm="" if assignment is None else assignment.arm.name,
            unit="" if assignment is None else assignment.unit,
        )
        cards = [impression(deck, place, pick.candidate, None, pick.score, Reason.PICKED) for place, pick in enumerate(picked)]
        cards += [
            Impression(known.person.id, deck.id, str(who), now, place, propensity, score, REASONS[reason])
            for place, (who, reason, _, propensity, score) in enumerate(drawn.cards, len(picked))
        ]
        said = None if picked else drawn.traits
        return None, self.begin_storing(known, deck, cards, people, numbers, said, instead_of=last, present=present)

    def open_ranked(self, user: str, ranking: RankedCandidates) -> OpenDeck:
        """A deck of people whom the app found itself, the best first. They were not drawn, so no card has a propensity.

        The user's other deck stays open beside it.
        """
        with self.context.store.read() as reader:
            now = self.context.clock()
            known = load_viewer_state(reader, self.context, user)
            if nobody := deck_of_nobody(reader, self.context, known):
                return nobody
            people = who_fits(reader, self.context, known, [str(other) for other, _ in ranking.ranked[:LARGEST_DECK]], now)
            numbers = reader.numbers_of(people)
        best = [(str(other), score) for other, score in ranking.ranked if other in people]
        deck = new_deck(self.context, known, now, len(best), eligible=len(best))
        cards = [impression(deck, place, other, None, score, Reason.RANKED) for place, (other, score) in enumerate(best)]
        opened = self.stored(self.begin_storing(known, deck, cards, people, numbers)) if cards else None
        return opened or OpenDeck(None, (), "none of these people can be shown", empty_code="none-of-these")

    def _still_open(self, reader: Snapshot, known: ViewerState, last: str | None, now: datetime) -> OpenDeck | None:
        """The unanswered cards of the last deck, without people who are gone, matched, blocked, fit no more, or were answered
        elsewhere meanwhile."""
        user = known.person.id
        deck = reader.get(StoredDeck, user, last) if last is not None else None
        if deck is None or deck.expires <= now:
            return None
        cards = impressions(reader, [deck])
        decided = reader.many(LatestDecision, [(user, card.candidate) for card in cards]).values()
        hidden = matched_or_blocked(reader, user) | {
            pair.candidate for pair in decided if pair.decision == Decision.LIKE or pair.at >= deck.at
        }
        people = who_fits(reader, self.context, known, [card.candidate for card in cards if card.candidate not in hidden], now)
        cards = [card for card in cards if card.candidate in people]
        if not cards:
            return None
        return OpenDeck(deck, with_reasons(known, cards, people, self.serving_index.traits_of(known.versions.model, people)))

    def _draw(
        self, reader: Snapshot, recommender: Recommender, known: ViewerState, size: int, now: datetime
    ) -> tuple[Deck, dict[str, Person], list[Pick]]:
        """A deck from memory. If the store says that somebody in it is gone, it is drawn again without them.

        The policy may give a share of the cards to picks. They are not drawn, and the others are drawn without them.
        """
        around: ViewerContext = load_viewer_context(reader, self.context, known, now)
        experience = Experience(known.tracked.swipes, known.tracked.stability)
        most = int(recommender.policy.plan(experience).pick_share * size)
        picked, picks = current_picks(reader, self.context, known, now).first(most) if most else ([], {})
        gone = set(picks)
        for _ in range(_TRIES):
            deck = recommender.deck(
                around.viewer,
                max(size - len(picked), 1),
                now=now,
                rng=self.fresh_rng(),
                blocked=around.matched_or_blocked | gone,
                answers=around.answers,
                admirers=around.admirers,
                experience=experience,
                exposure=self.serving_index.exposure,
            )
            ids = [str(card.id) for card in deck.cards]
            people = who_fits(reader, self.context, known, ids, now)
            if len(people) == len(ids):
                return deck, people | picks, picked
            gone.update(set(ids) - set(people))
        return replace(deck, cards=tuple(card for card in deck.cards if card.id in people)), people | picks, picked

    def begin_storing(
        self,
        known: ViewerState,
        deck: StoredDeck,
        cards: list[Impression],
        people: dict[str, Person],
        numbers: Mapping[str, int],
        said: Mapping[Hashable, Vector] | None = None,
        *,
        instead_of: str | None = None,
        present: bool = False,
    ) -> DealtDeck:
        """Log a deck, without those who are gone: whose number is nobody's any more.

        Reasons are worked out while the deck is on its way. `said` are everybody's traits, where they were read already.
        """
        user, config = deck.user, self.context.config
        drawn = deck.min_propensity is not None

        def work(transaction: Transaction) -> list[Impression]:
            person, counters = require_person(transaction, user), counters_of(transaction, user)
            if drawn and counters.last_deck != instead_of:
                return []
            # Somebody may have been erased a moment ago: nothing may bring them back.
            there = transaction.with_profile(numbers.values())
            kept = [card for card in cards if numbers[card.candidate] in there]
            if kept and self.context.clock() - deck.at < _LATE:
                spent = spend(counters, DECKS, config.decks, deck.at)
                transaction.put(replace(counters, last_deck=deck.id if drawn else counters.last_deck, quota_use=spent))
                transaction.put(whole if len(kept) == len(cards) else with_cards(deck, kept, numbers))
                if present:
                    note_presence(transaction, self.context, person)
                return kept
            return []

        whole = with_cards(deck, cards, numbers)
        prefetch: list[RecordKey] = [(Person, (user,)), (PersonCounters, (user,))]
        stored = self.context.store.write(work, locks=[user, *(card.candidate for card in cards)], prefetch=prefetch)
        if said is None:
            said = self.serving_index.traits_of(known.versions.model, people)
        return DealtDeck(OpenDeck(whole, with_reasons(known, cards, people, said)), numbers, stored)
