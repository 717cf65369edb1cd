"""A deck as it is given out: its cards with reasons, or why there are none."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple, final

from kaczmatch.core.vectors import Vector
from kaczmatch.recommend.decks.deck import FilterHint, Reason
from kaczmatch.service.domain.capacity import is_full
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.impressions import REASONS, Impression
from kaczmatch.service.domain.records import Person, StoredDeck
from kaczmatch.service.domain.refusals import Conflict
from kaczmatch.service.domain.store import Reader
from kaczmatch.service.meeting.card_reasons import CardReason, CardReasons, disclosed_reason
from kaczmatch.service.meeting.profile_features import tag_names
from kaczmatch.service.meeting.viewer_context import ViewerState


@final
class DeckCard(NamedTuple):
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
@dataclass(frozen=True, slots=True, eq=False)
class DealtDeck:
    """A deck on its way to the store. `stored` tells which of its cards are there in the end."""

    deck: OpenDeck
    numbers: Mapping[str, int]  # of the people in it
    stored: Future[list[Impression]]


_FULL: Final = OpenDeck(
    None, (), "you have as many open matches as you take; when one ends, you see people again", empty_code="full"
)


def deck_of_nobody(reader: Reader, context: Context, known: ViewerState) -> OpenDeck | None:
    """What somebody gets who has as many open matches as they take; None for others. A paused person is refused."""
    if known.person.paused:
        raise Conflict("a paused person sees nobody; resume first")
    return _FULL if is_full(reader, known.person, context.config.schema) else None


def new_deck(
    context: Context,
    known: ViewerState,
    now: datetime,
    size: int,
    *,
    eligible: int,
    policy: str = Reason.RANKED.value,
    sampler: str = "",
    reason: str = "the app found these people itself",
    min_propensity: float | None = None,
    arm: str = "",
    unit: str = "",
) -> StoredDeck:
    """A deck without its cards. Unless it says how it was drawn, it is one of people whom the app found."""
    config = context.config
    return StoredDeck(
        user=known.person.id,
        id=context.new_id(),
        at=now,
        expires=now + config.deck_life,
        policy=policy,
        sampler=sampler,
        reason=reason,
        model=known.versions.model,
        eligible=eligible,
        min_propensity=min_propensity,
        size=size,
        experiment="" if config.experiment is None else config.experiment.name,
        arm=arm,
        unit=unit,
    )


def impression(
    deck: StoredDeck, position: int, candidate: str, propensity: float | None, score: float, reason: Reason
) -> Impression:
    return Impression(deck.user, deck.id, candidate, deck.at, position, propensity, score, REASONS[reason])


def with_reasons(
    known: ViewerState, cards: Sequence[Impression], people: dict[str, Person], said: Mapping[Hashable, Vector] | None = None
) -> tuple[DeckCard, ...]:
    """Cards as their viewer may see them. `said` are the traits of people, where there are any."""
    shown, traits = [people[card.candidate] for card in cards], said or {}
    reasons = CardReasons(known).reasons([card.reason for card in cards], shown, [traits.get(one.id) for one in shown])
    return tuple(map(DeckCard, cards, shown, tag_names(shown, known.vocabulary), reasons))
