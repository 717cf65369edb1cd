"""Identifiers, and the small numbers that stand for them in the index."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import repeat
from typing import final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.recommend.index.packed_ids import PackedIds


@final
class IdNumbers:
    """One number per person. The number of a removed person is reused.

    Identifiers may come `packed`, from a file that several processes map. What has changed since is kept beside them.
    """

    def __init__(self, ids: Iterable[Hashable] = (), *, packed: PackedIds | None = None) -> None:
        self._packed = PackedIds.of(()) if packed is None else packed
        taken = self._packed.taken()
        self._free = np.flatnonzero(~taken).tolist()
        self._packed_people = int(taken.sum())  # whose packed identifier still counts
        self._numbers: dict[Hashable, int] = {}  # of whom is not packed,
        self._ids: dict[int, Hashable | None] = {}  # and whose number each is that has changed; None: nobody's
        self.capacity = self._packed.capacity  # one more than the highest number ever given
        self.version = 0  # changes whenever a person is added or removed
        for identifier in ids:
            self.add(identifier)

    def __len__(self) -> int:
        return self._packed_people + len(self._numbers)

    def __contains__(self, identifier: Hashable) -> bool:
        return self.number(identifier) is not None

    def add(self, identifier: Hashable) -> int:
        """The number of a person, a new one for a new person."""
        known = self.number(identifier)
        if known is not None:
            return known
        if self._free:
            number = self._free.pop()
        else:
            number, self.capacity = self.capacity, self.capacity + 1
        self._ids[number], self._numbers[identifier] = identifier, number
        self.version += 1
        return number

    def remove(self, identifier: Hashable) -> int:
        """Remove a person and return the number."""
        number = self._numbers.pop(identifier, None)
        if number is None:
            number = self.number(identifier)
            if number is None:
                raise KeyError(identifier)
            self._packed_people -= 1
        self._ids[number] = None
        self._free.append(number)
        self.version += 1
        return number

    def copy(self) -> IdNumbers:
        other = IdNumbers.__new__(IdNumbers)
        other._packed, other._packed_people, other.capacity = self._packed, self._packed_people, self.capacity
        other._free, other._numbers, other._ids = self._free.copy(), self._numbers.copy(), self._ids.copy()
        other.version = 0
        return other

    def number(self, identifier: Hashable) -> int | None:
        number = self._numbers.get(identifier)
        if number is None and self._packed_people:
            packed = int(self._packed.numbers((identifier,))[0])
            return None if packed < 0 or packed in self._ids else packed
        return number

    def numbers(self, identifiers: Iterable[Hashable]) -> NDArray[np.int32]:
        """The numbers of known identifiers; others are left out."""
        found = self.numbers_or_none(identifiers)
        return found[found >= 0]

    def numbers_or_none(self, identifiers: Iterable[Hashable]) -> NDArray[np.int32]:
        """The number of each identifier; -1 where it is not known."""
        wanted = identifiers if isinstance(identifiers, list) else list(identifiers)
        found = np.fromiter(map(self._numbers.get, wanted, repeat(-1)), np.int32, len(wanted))
        rest = np.flatnonzero(found < 0) if self._packed_people else ()
        if len(rest):
            packed = self._packed.numbers(wanted if len(rest) == len(wanted) else [wanted[place] for place in rest])
            found[rest] = packed
            if self._ids:  # a number that was given to somebody else, or to nobody
                for place in rest[packed >= 0].tolist():
                    if int(found[place]) in self._ids:
                        found[place] = -1
        return found

    def ids(self, numbers: Iterable[int]) -> list[Hashable]:
        wanted, changed = list(numbers), self._ids
        if not self._packed_people:
            return [changed[number] for number in wanted]
        if changed:
            rest = [number for number in wanted if number not in changed]
            packed = iter(self._packed.ids(rest))
            return [changed[number] if number in changed else next(packed) for number in wanted]
        return self._packed.ids(wanted)

    def packed(self) -> PackedIds:
        """All identifiers as of now."""
        if not self._ids:
            return self._packed
        everybody: list[Hashable | None] = [*self._packed.ids(range(self._packed.capacity))]
        everybody += [None] * (self.capacity - len(everybody))
        for number, identifier in self._ids.items():
            everybody[number] = identifier
        return PackedIds.of(everybody)

    def changed(self) -> list[int]:
        """The numbers that are not, or no longer, as they were packed."""
        return list(self._ids)
