"""Identifiers, and the small numbers that stand for them in the index."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import final

import numpy as np
from numpy.typing import NDArray


@final
class IdNumbers:
    """One number per person. The number of a removed person is reused."""

    def __init__(self, ids: Iterable[Hashable] = ()) -> None:
        self._ids: list[Hashable] = list(ids)
        self._numbers = {identifier: number for number, identifier in enumerate(self._ids) if identifier is not None}
        self._free = [number for number, identifier in enumerate(self._ids) if identifier is None]
        self.version = 0  # changes whenever a person is added or removed

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, identifier: Hashable) -> bool:
        return identifier in self._numbers

    def add(self, identifier: Hashable) -> int:
        """The number of a person, a new one for a new person."""
        known = self._numbers.get(identifier)
        if known is not None:
            return known
        if self._free:
            number = self._free.pop()
            self._ids[number] = identifier
        else:
            number = len(self._ids)
            self._ids.append(identifier)
        self._numbers[identifier] = number
        self.version += 1
        return number

    def remove(self, identifier: Hashable) -> int:
        """Remove a person and return the number."""
        number = self._numbers.pop(identifier)
        self._ids[number] = None
        self._free.append(number)
        self.version += 1
        return number

    def copy(self) -> IdNumbers:
        other = IdNumbers()
        other._ids, other._numbers, other._free = self._ids.copy(), self._numbers.copy(), self._free.copy()
        return other

    def number(self, identifier: Hashable) -> int | None:
        return self._numbers.get(identifier)

    def numbers(self, identifiers: Iterable[Hashable]) -> NDArray[np.int32]:
        """The numbers of known identifiers; others are left out."""
        return np.array([number for number in map(self._numbers.get, identifiers) if number is not None], np.int32)

    def ids(self, numbers: Iterable[int]) -> list[Hashable]:
        return [self._ids[number] for number in numbers]

    @property
    def capacity(self) -> int:
        """One more than the highest number ever given."""
        return len(self._ids)

    def all(self) -> list[Hashable]:
        """Identifiers by number; None for a free number."""
        return list(self._ids)
