"""How often each profile is shown, who has had their share, and how unequal it is."""

from __future__ import annotations

import math
import threading
from collections.abc import Hashable, Iterable, Sequence
from datetime import datetime
from typing import final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kaczmatch.core.errors import InvalidInput, checked
from kaczmatch.core.vectors import Vector, as_vector
from kaczmatch.recommend.index.id_numbers import IdNumbers
from kaczmatch.recommend.index.membership import NO_BITS, Bits, Numbers, marks

_DAY = 86_400.0
_UNKNOWN, _ABSENT = -2, -1


@final
class Exposure:
    """Cards shown of each person, an older card counting less: half as much after `half_life_days`.

    Who has been shown more than `cap` times the average, plus as many cards at the very start when the average is nothing yet,
    has had their share.
    """

    def __init__(self, *, cap: float = 2.0, half_life_days: float = 7.0) -> None:
        self.cap = checked("cap", cap, low=1.0)
        self._rate = math.log(2.0) / (_DAY * checked("half_life_days", half_life_days, low=0.0, open_low=True))
        self._lock = threading.Lock()
        # Cards are kept in units that grow with time as fast as old ones fade, so that only new ones are ever written.
        self._origin: datetime | None = None
        self._places: dict[Hashable, int] = {}
        self._ids: list[Hashable] = []
        self._cards = np.zeros(64)
        self._total = 0.0
        # Who was over the limit when it was last asked for. As long as it rises, only they and who was shown since can be.
        self._limit = -math.inf
        self._over = np.empty(0, np.int64)
        self._is_over = np.zeros(64, np.bool_)
        self._since: list[int] = []
        self._numbers: WeakKeyDictionary[IdNumbers, _Numbers] = WeakKeyDictionary()

    def shown(self, ids: Iterable[Hashable], at: datetime) -> None:
        """Count a card for each."""
        with self._lock:
            card = self._unit(at)
            for identifier in ids:
                place = self._places.get(identifier)
                if place is None:
                    place = self._places[identifier] = len(self._ids)
                    self._ids.append(identifier)
                    if len(self._ids) > len(self._cards):
                        self._cards = np.append(self._cards, np.zeros(len(self._cards)))
                        self._is_over = np.append(self._is_over, np.zeros(len(self._is_over), np.bool_))
                self._cards[place] += card
                self._total += card
                self._since.append(place)
            if len(self._since) > len(self._cards):
                self._look_at_everybody()

    def forget(self, identifier: Hashable) -> None:
        """Somebody who left; whoever stands last takes their place."""
        with self._lock:
            place = self._places.pop(identifier, None)
            if place is None:
                return
            last = self._ids.pop()
            if last != identifier:
                self._ids[place], self._places[last] = last, place
            self._cards[place], self._cards[len(self._ids)] = self._cards[len(self._ids)], 0.0
            self._total = float(self._cards.sum())
            self._look_at_everybody()
            self._numbers.clear()

    def over(self, people: int, at: datetime) -> list[Hashable]:
        """Who has had their share, in a population of so many."""
        with self._lock:
            return [self._ids[place] for place in self._over_now(people, at).tolist()]

    def marks(self, roster: IdNumbers, at: datetime) -> Bits:
        """The same for the people of an index, as bits by their numbers; hold the index while you ask."""
        with self._lock:
            over = self._over_now(len(roster), at)
            if not len(over):
                return NO_BITS
            known = self._numbers.get(roster)
            if known is None or known.version != roster.version:
                known = self._numbers[roster] = _Numbers(roster.version)
            return marks(known.of(over, self._ids, roster), roster.highest)

    def _over_now(self, people: int, at: datetime) -> NDArray[np.int64]:
        limit = self.cap * (self._unit(at) + self._total / max(people, 1))
        if limit < self._limit:
            over = np.flatnonzero(self._cards > limit)
        else:
            before = self._over[self._cards[self._over] > limit]
            new = [place for place in set(self._since) if self._cards[place] > limit and not self._is_over[place]]
            over = np.append(before, np.array(new, np.int64)) if new else before
        self._is_over[self._over] = False
        self._is_over[over] = True
        self._since.clear()
        self._over, self._limit = over, limit
        return over

    def _look_at_everybody(self) -> None:
        """Next time, not only at who was over the limit or has been shown since."""
        self._limit = math.inf
        self._since.clear()

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
            self._total *= math.exp(-grown)
            self._origin, grown = at, 0.0
            self._look_at_everybody()
        return math.exp(max(grown, -300.0))


@final
class _Numbers:
    """The numbers that people have in an index, looked up once each, for as long as nobody comes or leaves there."""

    def __init__(self, version: int) -> None:
        self.version = version
        self._by_place = np.empty(0, np.int32)

    def of(self, places: NDArray[np.int64], ids: Sequence[Hashable], roster: IdNumbers) -> Numbers:
        """Of those who are there."""
        if len(self._by_place) < len(ids):
            more = max(len(ids), 2 * len(self._by_place)) - len(self._by_place)
            self._by_place = np.append(self._by_place, np.full(more, _UNKNOWN, np.int32))
        for place in places[self._by_place[places] == _UNKNOWN].tolist():
            number = roster.number(ids[place])
            self._by_place[place] = _ABSENT if number is None else number
        numbers = self._by_place[places]
        return numbers[numbers >= 0]


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
