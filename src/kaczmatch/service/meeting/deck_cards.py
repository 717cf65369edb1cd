"""The cards of a deck: as the log keeps them, and as their viewer may see them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import final

from kaczmatch.core.vectors import Vector
from kaczmatch.recommend.decks.deck import Reason
from kaczmatch.service.domain.records import Impression, Person, StoredDeck
from kaczmatch.service.meeting.card_reasons import CardReason, CardReasons, disclosed_reason
from kaczmatch.service.meeting.profiles import tags_of
from kaczmatch.service.meeting.viewer_context import ViewerState


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


def impression(
    deck: StoredDeck, position: int, candidate: Hashable, propensity: float | None, score: float, reason: Reason
) -> Impression:
    return Impression(
        user=deck.user,
        deck=deck.id,
        candidate=str(candidate),
        at=deck.at,
        position=position,
        propensity=propensity,
        score=score,
        reason=str(reason),
    )


def with_reasons(
    known: ViewerState, cards: Iterable[Impression], people: dict[str, Person], said: Mapping[Hashable, Vector] | None = None
) -> tuple[DeckCard, ...]:
    """Cards as their viewer may see them. `said` are the traits of people, where there are any."""
    reasons, vocabulary, traits = CardReasons(known), known.vocabulary, said or {}
    return tuple(
        DeckCard(
            card,
            people[card.candidate],
            tuple(tags_of(people[card.candidate], vocabulary)[0]),
            reasons.reason(card.reason, people[card.candidate], traits.get(card.candidate)),
        )
        for card in cards
    )
