"""Exposure: how often each person was shown of late, who is over the cap, and how unequal it is."""

from __future__ import annotations

import heapq
import math
import threading
from collections.abc import Hashable, Iterable, Mapping
from datetime import datetime
from typing import final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kaczmatch.core.compiled import compiled_short
from kaczmatch.core.errors import InvalidInput, check_number
from kaczmatch.core.vectors import Vector, as_vector
from kaczmatch.recommend.index.id_numbers import IdNumbers
from kaczmatch.recommend.index.membership import NO_BITS, Bits, PersonNumbers, bits_at, to_bits

HALF_LIFE_DAYS = 7.0
_DAY = 86_400.0
_UNKNOWN = -2  # -1: not in the index
_NOBODY: PersonNumbers = np.empty(0, np.int32)


@final
class Exposure:
    """Cards per person. An older card counts less: half as much after `half_life_days`.

    A person is over the cap with more than `cap` x (average + 1) cards. The 1 matters at the very start, when the average is 0.
    """

    def __init__(self, *, cap: float = 2.0, half_life_days: float = HALF_LIFE_DAYS, index_ids: IdNumbers | None = None) -> None:
        """With `index_ids`, only people of that index are counted, by their numbers there. Whoever leaves is forgotten first."""
        self.cap = check_number("cap", cap, low=1.0)
        self._rate = math.log(2.0) / (_DAY * check_number("half_life_days", half_life_days, low=0.0, open_low=True))
        self._lock = threading.Lock()
        # Cards are counted in units that grow as fast as old cards decay, so that only new cards are written.
        self._origin: datetime | None = None
        self._shared = index_ids is not None
        self._ids = IdNumbers() if index_ids is None else index_ids
        self._cards = np.zeros(64)
        self._total = 0.0
        # Who was over the limit at the last query, by the cards that they had when they were last looked at, the fewest first,
        # and the most cards of anybody else. As long as the limit is not below that, only the first of them and people shown
        # since need a look. It falls a little whenever decks ask in another order than they began, or somebody joins.
        self._over: list[tuple[float, int]] = []
        self._most_below = math.inf
        self._over_bits = to_bits(_NOBODY, 64)
        self._since: list[int] = []
        self._numbers: WeakKeyDictionary[IdNumbers, _NumberCache] = WeakKeyDictionary()

    def record(self, ids: Iterable[Hashable], at: datetime) -> None:
        """Count one card for each mention of a person."""
        shown = list(ids)
        self._add(shown, np.ones(len(shown)), at)

    def add(self, cards: Mapping[Hashable, float], at: datetime) -> None:
        """Count so many cards of each person, as of one moment."""
        self._add(list(cards), np.fromiter(cards.values(), np.float64, len(cards)), at)

    def _add(self, ids: list[Hashable], cards: Vector, at: datetime) -> None:
        with self._lock:
            unit = self._unit(at)
            slots = self._ids.numbers_or_none(ids) if self._shared else np.array([*map(self._ids.add, ids)], np.int32)
            self._make_room()
            self._total += _count(self._cards, slots, cards, unit)
            self._since += [slot for slot in slots.tolist() if slot >= 0]
            if len(self._since) > len(self._cards):
                self._invalidate()

    def forget(self, identifier: Hashable) -> None:
        """Remove a person."""
        with self._lock:
            slot = self._ids.number(identifier)
            if slot is None:
                return
            if not self._shared:
                self._ids.remove(identifier)
            if slot < len(self._cards) and self._cards[slot]:
                self._cards[slot] = 0.0
                self._total = float(self._cards.sum())
                self._invalidate()
            self._numbers.clear()

    def moved_to(self, index_ids: IdNumbers) -> Exposure:
        """The same counts for another index of the same people. Decks are counted meanwhile, and none of them waits for long."""
        other = Exposure(cap=self.cap, index_ids=index_ids)
        with self._lock:
            before = self._cards.copy()
        other._take(self._ids, np.flatnonzero(before), before)
        with self._lock:
            other._rate, other._origin, other._total = self._rate, self._origin, self._total
            since = self._cards.copy()
            since[: len(before)] -= before
            other._take(self._ids, np.flatnonzero(since), self._cards)
        other._invalidate()
        return other

    def _take(self, ids: IdNumbers, slots: NDArray[np.int64], cards: Vector) -> None:
        """The cards of some people, who have these numbers among other ids."""
        numbers = self._ids.numbers_or_none(ids.ids(slots.tolist()))
        self._make_room()
        self._cards[numbers[numbers >= 0]] = cards[slots[numbers >= 0]]

    def kept(self) -> tuple[Vector, str]:
        """Cards by number, and the moment in whose units they are counted, for `restored`."""
        with self._lock:
            self._make_room()
            return self._cards[: self._ids.capacity].copy(), "" if self._origin is None else self._origin.isoformat()

    def restore(self, cards: Vector, origin: str) -> None:
        """What `kept` has told of the same index. The array may be mapped from a file."""
        self._cards, self._over_bits = cards, to_bits(_NOBODY, len(cards))
        self._origin = datetime.fromisoformat(origin) if origin else None
        self._total = float(cards.sum())
        self._invalidate()

    def _make_room(self) -> None:
        missing = self._ids.capacity - len(self._cards)
        if missing > 0:
            more = max(missing, len(self._cards) // 8)
            self._cards = np.append(self._cards, np.zeros(more))
            self._over_bits = np.append(self._over_bits, to_bits(_NOBODY, len(self._cards))[len(self._over_bits) :])

    def over_cap(self, people: int, at: datetime) -> list[Hashable]:
        """Who is over the cap, in a population of so many people."""
        with self._lock:
            self._update_over_cap(people, at)
            return self._ids.ids(sorted(slot for _, slot in self._over))

    def over_cap_bits(self, index_ids: IdNumbers, at: datetime) -> Bits:
        """The same for the people of an index, as bits by number. The caller holds the index's read lock."""
        with self._lock:
            self._update_over_cap(len(index_ids), at)
            if not self._over:
                return NO_BITS
            if index_ids is self._ids:
                return self._over_bits.copy()  # others change theirs while this one is searched with
            known = self._numbers.get(index_ids)
            if known is None or known.version != index_ids.version:
                known = self._numbers[index_ids] = _NumberCache(index_ids.version)
            return to_bits(
                known.of(np.array([slot for _, slot in self._over], np.int64), self._ids, index_ids), index_ids.capacity
            )

    def _update_over_cap(self, people: int, at: datetime) -> None:
        limit = self.cap * (self._unit(at) + self._total / max(people, 1))
        if limit < self._most_below:
            over = self._cards > limit
            slots = np.flatnonzero(over)
            self._over_bits = to_bits(slots.astype(np.int32), len(self._cards))
            self._over = [*zip(self._cards[slots].tolist(), slots.tolist(), strict=True)]
            heapq.heapify(self._over)
            self._most_below = float(self._cards.max(where=~over, initial=0.0))
        else:
            since = np.array(self._since, np.int32)
            cards = self._cards[since]
            self._most_below = max(self._most_below, float(cards.max(where=cards <= limit, initial=0.0)))
            shown = since[(cards > limit) & ~bits_at(self._over_bits, since)].tolist()
            for slot in dict.fromkeys(shown):
                self._flip(slot)
                heapq.heappush(self._over, (float(self._cards[slot]), slot))
            while self._over and self._over[0][0] <= limit:
                slot = self._over[0][1]
                now = float(self._cards[slot])
                if now > limit:  # they were shown again
                    heapq.heapreplace(self._over, (now, slot))
                else:
                    self._flip(slot)
                    heapq.heappop(self._over)
                    self._most_below = max(self._most_below, now)
        self._since.clear()

    def _flip(self, slot: int) -> None:
        self._over_bits[slot >> 6] ^= np.uint64(1 << (slot & 63))

    def _invalidate(self) -> None:
        """The next query looks at everybody, not only at who was over the limit or has been shown since."""
        self._most_below = math.inf
        self._since.clear()

    def cards_of(self, identifier: Hashable, at: datetime) -> float:
        """The cards of one person, old ones decayed."""
        with self._lock:
            unit = self._unit(at)
            slot = self._ids.number(identifier)
            return 0.0 if slot is None or slot >= len(self._cards) else float(self._cards[slot]) / unit

    def _unit(self, at: datetime) -> float:
        """What a card at this moment counts, in internal units."""
        if not isinstance(at, datetime) or at.tzinfo is None:
            raise InvalidInput("at", f"must be a time with its zone, such as datetime.now(UTC), got {at!r}")
        if self._origin is None:
            self._origin = at
        grown = self._rate * (at - self._origin).total_seconds()
        if grown > 300.0:  # rescale before the units leave float64
            self._cards *= math.exp(-grown)
            self._total *= math.exp(-grown)
            self._origin, grown = at, 0.0
            self._invalidate()
        return math.exp(max(grown, -300.0))


@compiled_short
def _count(counted: Vector, slots: PersonNumbers, cards: Vector, unit: float) -> float:
    """Add cards where somebody has a number. Returns how many."""
    total = 0.0
    for j in range(len(slots)):
        if slots[j] >= 0:
            counted[slots[j]] += cards[j] * unit
            total += cards[j] * unit
    return total


@final
class _NumberCache:
    """The numbers of people in an index, each looked up once, as long as nobody is added or removed there."""

    def __init__(self, version: int) -> None:
        self.version = version
        self._by_slot = np.empty(0, np.int32)

    def of(self, slots: NDArray[np.int64], ids: IdNumbers, index_ids: IdNumbers) -> PersonNumbers:
        """The numbers of those who are in the index."""
        if len(self._by_slot) < ids.capacity:
            more = max(ids.capacity, 2 * len(self._by_slot)) - len(self._by_slot)
            self._by_slot = np.append(self._by_slot, np.full(more, _UNKNOWN, np.int32))
        unknown = slots[self._by_slot[slots] == _UNKNOWN]
        self._by_slot[unknown] = index_ids.numbers_or_none(ids.ids(unknown.tolist()))
        numbers = self._by_slot[slots]
        return numbers[numbers >= 0]


def gini(cards: ArrayLike) -> float:
    """The Gini coefficient: 0 where everybody is shown equally often, towards 1 where one person has all cards."""
    ordered = np.sort(_counts(cards))
    n, total = len(ordered), float(ordered.sum())
    if n == 0 or total == 0.0:
        return 0.0
    return float((2.0 * np.arange(1, n + 1) - n - 1.0) @ ordered / (n * total))


def top_share(cards: ArrayLike, share: float = 0.01) -> float:
    """The share of all cards that goes to the most shown `share` of people, at least one of them."""
    check_number("share", share, low=0.0, high=1.0)
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
