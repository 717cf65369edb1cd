"""Decks and cards, as values."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, final

from kaczmatch.core.vectors import Vector
from kaczmatch.recommend.decks.policy import DeckPlan


class Reason(StrEnum):
    """How a card came into its deck."""

    SAMPLED = "sampled"  # chosen by the sampler
    EXPLORED = "explored"  # drawn uniformly, so that everybody is shown to somebody
    REPEAT = "repeat"  # passed before, longer ago than the cooldown; nobody new was left
    RANKED = "ranked"  # not drawn: the app found them itself
    PICKED = "picked"  # not drawn: a job that looked at everybody at once gave them
    RELAXED = "relaxed"  # in cooldown, but too few others were left


@final
class Card(NamedTuple):
    """One candidate in a deck. `propensity` is the probability that the card had of being in its deck, `score` the mutual score.

    Both are for operators and their logs: scores reveal other people's tastes, propensities reveal who has liked the viewer.
    """

    id: Hashable
    reason: Reason
    why: str
    propensity: float
    score: float

    def __repr__(self) -> str:
        return f"Card(id={self.id!r}, reason={self.reason!r}, why={self.why!r})"


@final
@dataclass(frozen=True, slots=True)
class FilterHint:
    """How many people could be shown if the viewer removed one of their own filters: `widened` is what to change in a profile."""

    filter: str
    people: int
    widened: Mapping[str, Any] = field(default_factory=dict, repr=False, hash=False)


@final
@dataclass(frozen=True, slots=True)
class Deck:
    """Cards in the order to show them.

    `eligible` new people could have been shown, each with a propensity of at least `min_propensity`.
    In an empty deck, `empty` says why, `empty_code` which sentence that is, and `hints` which filter to widen, the most helpful
    first. `next_at` is the end of the first cooldown after which somebody can be shown again. `traits` are those by which the
    cards were scored, and their doubts, where there are any.
    """

    cards: tuple[Card, ...]
    policy: str
    plan: DeckPlan
    eligible: int
    empty: str = ""
    hints: tuple[FilterHint, ...] = ()
    min_propensity: float = 1.0
    next_at: datetime | None = None
    empty_code: str = ""
    traits: Mapping[Hashable, Vector] = field(default_factory=dict, repr=False, compare=False)


@final
@dataclass(frozen=True, slots=True, eq=False)
class SimulatedDeck:
    """A deck that could have been dealt, and the people whom the caller asked about.

    `shown` are the people of the deck, `shown_forward` their forward scores. `propensities` and `forward` belong to the people
    who were asked about. Both are 0 for people who are not eligible.
    """

    shown: tuple[Hashable, ...]
    shown_forward: Vector
    propensities: Vector
    forward: Vector
