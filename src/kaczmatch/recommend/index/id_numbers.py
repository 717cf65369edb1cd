"""Identifiers and the small numbers that stand for them in the index."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import final

import numpy as np
from numpy.typing import NDArray


@final
class IdNumbers:
    """A number a person; the number of who left goes to the next who comes."""

    def __init__(self, ids: Iterable[Hashable] = ()) -> None:
        self._ids: list[Hashable] = list(ids)
        self._numbers = {identifier: number for number, identifier in enumerate(self._ids) if identifier is not None}
        self._free = [number for number, identifier in enumerate(self._ids) if identifier is None]
        self.version = 0  # as long as it stays the same, nobody came, and nobody left

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, identifier: Hashable) -> bool:
        return identifier in self._numbers

    def enter(self, identifier: Hashable) -> int:
        """The number of somebody, a new one for who is new."""
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

    def leave(self, identifier: Hashable) -> int:
        """The number that somebody had."""
        number = self._numbers.pop(identifier)
        self._ids[number] = None
        self._free.append(number)
        self.version += 1
        return number

    def number(self, identifier: Hashable) -> int | None:
        return self._numbers.get(identifier)

    def numbers(self, identifiers: Iterable[Hashable]) -> NDArray[np.int32]:
        """The numbers of those who are here; the others are left out."""
        return np.array([number for number in map(self._numbers.get, identifiers) if number is not None], np.int32)

    def ids(self, numbers: Iterable[int]) -> list[Hashable]:
        return [self._ids[number] for number in numbers]

    @property
    def highest(self) -> int:
        """One more than the highest number there was."""
        return len(self._ids)

    def all(self) -> list[Hashable]:
        """By number; None where nobody has it."""
        return list(self._ids)
