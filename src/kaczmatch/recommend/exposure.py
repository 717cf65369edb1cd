"""How often each profile is shown, who has had their share, and how unequal it is."""

from __future__ import annotations

import math
import threading
from collections.abc import Hashable, Iterable
from datetime import datetime
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
        self._lock = threading.Lock()
        # Cards are kept in units that grow with time as fast as old ones fade, so that only new ones are ever written.
        self._origin: datetime | None = None
        self._places: dict[Hashable, int] = {}
        self._ids: list[Hashable] = []
        self._cards = np.zeros(64)

    def shown(self, ids: Iterable[Hashable], at: datetime) -> None:
        """Count a card for each."""
        with self._lock:
            card = self._unit(at)
            for identifier in ids:
                if identifier not in self._places:
                    self._places[identifier] = len(self._ids)
                    self._ids.append(identifier)
                    if len(self._ids) > len(self._cards):
                        self._cards = np.append(self._cards, np.zeros(len(self._cards)))
                self._cards[self._places[identifier]] += card

    def forget(self, identifier: Hashable) -> None:
        """Somebody who left; whoever stands last takes their place."""
        with self._lock:
            place = self._places.pop(identifier, None)
            if place is None:
                return
            last = self._ids.pop()
            if last != identifier:
                self._ids[place], self._places[last] = last, place
                self._cards[place] = self._cards[len(self._ids)]
            self._cards[len(self._ids)] = 0.0

    def over(self, people: int, at: datetime) -> list[Hashable]:
        """Who has had their share, in a population of so many."""
        with self._lock:
            limit = self.cap * (self._unit(at) + float(self._cards.sum()) / max(people, 1))
            return [self._ids[place] for place in np.flatnonzero(self._cards > limit).tolist()]

    def of(self, identifier: Hashable, at: datetime) -> float:
        """Cards of one person, old ones faded."""
        with self._lock:
            unit = self._unit(at)
            place = self._places.get(identifier)
            return 0.0 if place is None else float(self._cards[place]) / unit

    def _unit(self, at: datetime) -> float:
        """What a card at this moment counts, in the units kept."""
        if not isinstance(at, datetime) or at.tzinfo is None:
            raise InvalidInput("at", f"must be a time with its zone, such as datetime.now(UTC), got {at!r}")
        if self._origin is None:
            self._origin = at
        grown = self._rate * (at - self._origin).total_seconds()
        if grown > 300.0:  # start the units anew before they leave float64
            self._cards *= math.exp(-grown)
            self._origin, grown = at, 0.0
        return math.exp(max(grown, -300.0))


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
