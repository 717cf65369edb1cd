"""What a deck is made of."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import final

from kaczmatch.core.vectors import Vector
from kaczmatch.recommend.policy import DeckPlan


class Reason(StrEnum):
    """How somebody came into a deck."""

    SAMPLED = "sampled"  # chosen by the sampler
    EXPLORED = "explored"  # drawn uniformly, so that everybody is seen by somebody
    RELAXED = "relaxed"  # met within the cooldown, and nobody else was left


@final
@dataclass(frozen=True, slots=True)
class Card:
    """Somebody to show. `chance` is the probability they had of being in this deck. It and the both-way `score` are for
    operators and their logs: scores give away other people's tastes, and the chance who has liked the viewer already."""

    id: Hashable
    reason: Reason
    why: str
    propensity: float = field(repr=False)
    score: float = field(repr=False)


@final
@dataclass(frozen=True, slots=True)
class FilterHint:
    """How many people could be shown if the viewer's own side of a filter were opened."""

    filter: str
    people: int


@final
@dataclass(frozen=True, slots=True)
class Deck:
    """Cards in the order to show them. `eligible` people could have been shown, each with a probability of at least `least`.
    Where there is nobody, `empty` says why, and `openings` what to widen, the most helpful first."""

    cards: tuple[Card, ...]
    policy: str
    plan: DeckPlan
    eligible: int
    empty: str = ""
    hints: tuple[FilterHint, ...] = ()
    min_propensity: float = 1.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class SimulatedDeck:
    """One deck that would have been dealt, and some people who were asked about: the probability of each to be in such a
    deck, and how the viewer takes to each. Who may not be shown has neither."""

    shown: tuple[Hashable, ...]
    shown_likes: Vector
    chances: Vector
    likes: Vector
