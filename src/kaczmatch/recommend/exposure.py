"""How often each profile is shown, who has had their share, and how unequal it is."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from datetime import UTC, datetime
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.errors import InvalidInput, checked
from kaczmatch.core.vectors import Vector, as_vector

_DAY = 86_400.0


@final
class Exposure:
    """Cards shown of each person, an older card counting less: half as much after `half_life_days`.

    Who has been shown more than `cap` times the average, plus as many cards at the very start when the average is nothing yet,
    has had their share.
    """

    def __init__(self, *, cap: float = 3.0, half_life_days: float = 7.0) -> None:
        self.cap = checked("cap", cap, low=1.0)
        self._rate = math.log(2.0) / (_DAY * checked("half_life_days", half_life_days, low=0.0, open_low=True))
        # Cards are kept in units that grow with time as fast as old ones fade, so that only new ones are ever written.
        self._cards: dict[Hashable, float] = {}
        self._total = 0.0
        self._origin: datetime | None = None
        self._over: set[Hashable] = set()

    def shown(self, ids: Iterable[Hashable], at: datetime) -> None:
        """Count a card for each."""
        card = self._unit(at)
        for identifier in ids:
            self._cards[identifier] = self._cards.get(identifier, 0.0) + card
            self._total += card
            self._over.add(identifier)

    def forget(self, identifier: Hashable) -> None:
        """Somebody who left."""
        self._total -= self._cards.pop(identifier, 0.0)
        self._over.discard(identifier)

    def over(self, people: int, at: datetime) -> set[Hashable]:
        """Who has had their share, in a population of so many."""
        limit = self.cap * (self._unit(at) + self._total / max(people, 1))
        self._over = {identifier for identifier in self._over if self._cards[identifier] > limit}
        return set(self._over)

    def of(self, identifier: Hashable, at: datetime) -> float:
        """Cards of one person, old ones faded."""
        return self._cards.get(identifier, 0.0) / self._unit(at)

    def _unit(self, at: datetime) -> float:
        """What a card at this moment counts, in the units kept."""
        if at.tzinfo is None:
            raise InvalidInput("at", "must say its time zone, such as datetime.now(UTC)")
        if self._origin is None:
            self._origin = at.astimezone(UTC)
        grown = self._rate * (at - self._origin).total_seconds()
        if grown > 300.0:  # start the units anew before they leave float64
            scale = math.exp(-grown)
            self._cards = {identifier: cards * scale for identifier, cards in self._cards.items() if cards * scale > 0.0}
            self._over &= self._cards.keys()
            self._total *= scale
            self._origin, grown = at.astimezone(UTC), 0.0
        return math.exp(grown)


def gini(cards: ArrayLike) -> float:
    """0 where everybody is shown alike, towards 1 where one has it all."""
    ordered = np.sort(_counts(cards))
    n, total = len(ordered), float(ordered.sum())
    if n == 0 or total == 0.0:
        return 0.0
    return float((2.0 * np.arange(1, n + 1) - n - 1.0) @ ordered / (n * total))


def top_share(cards: ArrayLike, share: float = 0.01) -> float:
    """The part of all cards that goes to the most shown `share` of people, at least one of them."""
    checked("share", share, low=0.0, high=1.0)
    ordered = np.sort(_counts(cards))[::-1]
    total = float(ordered.sum())
    if total == 0.0:
        return 0.0
    return float(ordered[: max(1, math.ceil(share * len(ordered)))].sum() / total)


def _counts(cards: ArrayLike) -> Vector:
    counts = as_vector(cards, "cards")
    if not (np.isfinite(counts).all() and (counts >= 0.0).all()):
        raise InvalidInput("cards", "must be counts of at least 0")
    return counts
