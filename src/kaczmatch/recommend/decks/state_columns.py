"""Everybody's states in columns: one row of cells per person, by the person's number in the index."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.vectors import Matrix
from kaczmatch.learners.state import State, StateRows, gathered_rows
from kaczmatch.recommend.index.membership import PersonNumbers

Rows = NDArray[np.int32]

_START = 0  # the row of everybody whose state is not known
_ROOM = 256  # rows, at the least, that are added at once


class StatesByNumber(ABC):
    """Everybody's states, kept by the numbers of an index: a deck needs no identifier of those whom it does not show."""

    @abstractmethod
    def __call__(self, ids: Sequence[Hashable]) -> Sequence[State]:
        """By identifier."""

    @abstractmethod
    def at(self, numbers: PersonNumbers) -> Sequence[State]:
        """By number, while the index is read."""


@final
class StateColumns:
    """States over the same terms, from the same start. `kept` may be mapped from a file, and is only read. Changed rows lie in
    `changed`, whose places go on where those of `kept` end.

    A state of another length, such as one with pending swipes, is kept as it is.
    """

    def __init__(self, start: State) -> None:
        self.start = start
        self.kept: Matrix = start.cells[None].copy()
        self.changed: Matrix = np.empty((0, len(start.cells)))
        self.rows: Rows = np.zeros(0, np.int32)  # of each person, by number
        self.odd: dict[int, State] = {}
        self._used, self._free = 0, list[int]()

    @classmethod
    def kept_in(cls, start: State, arrays: Mapping[str, NDArray[Any]]) -> StateColumns:
        """Those that `arrays` returned."""
        columns = cls(start)
        columns.kept, columns.rows = arrays["state_cells"], arrays["state_rows"]
        if columns.kept.shape[1:] != start.cells.shape or not np.array_equal(columns.kept[_START], start.cells):
            raise ValueError("these states do not start where those of the learner do")
        if not 0 <= columns.rows.min(initial=0) <= columns.rows.max(initial=0) < len(columns.kept):
            raise ValueError("people have rows that there are not")
        return columns

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All states but the odd ones, for `kept_in`; and whose are odd, by number."""
        here = np.flatnonzero(self.rows)
        odd = np.zeros(max(self.odd, default=-1) + 1, np.uint8)
        odd[[*self.odd]] = 1
        rows = np.zeros_like(self.rows)
        rows[here] = np.arange(1, len(here) + 1)
        return {
            "state_cells": gathered_rows(self.kept, self.changed, np.append(np.int32(_START), self.rows[here])),
            "state_rows": rows,
            "state_odd": odd,
        }

    def people(self) -> PersonNumbers:
        """Whose state is known."""
        return np.append(np.flatnonzero(self.rows), [*self.odd]).astype(np.int32)

    def states(self, numbers: PersonNumbers) -> Sequence[State]:
        """Of each of these people; the start of somebody whose number is -1, or whose state is not known. Those of one kind are
        not copied."""
        known = (numbers >= 0) & (numbers < len(self.rows))
        rows = np.zeros(len(numbers), np.int32)
        rows[known] = self.rows[numbers[known]]
        found = StateRows(self.start, self.kept, self.changed, rows)
        if self.odd and any(number in self.odd for number in numbers.tolist()):
            return [self.odd.get(number) or state for number, state in zip(numbers.tolist(), found, strict=True)]
        return found

    def knows(self, number: int) -> bool:
        return number in self.odd or (number < len(self.rows) and self.rows[number] != _START)

    def set(self, number: int, state: State) -> None:
        if len(state.cells) != len(self.start.cells) or state.prior.fingerprint != self.start.prior.fingerprint:
            self.clear(number)
            self.odd[number] = state
            return
        self.odd.pop(number, None)
        if number >= len(self.rows):
            self.rows = np.append(self.rows, np.zeros(max(number + 1 - len(self.rows), len(self.rows) // 8), np.int32))
        row = int(self.rows[number])
        place = row - len(self.kept)
        if place < 0:
            if row != _START and np.array_equal(self.kept[row], state.cells):
                return  # what is mapped from a file is shared with other processes as long as it is only read
            place = self._new_place()
            self.rows[number] = len(self.kept) + place
        self.changed[place] = state.cells

    def clear(self, number: int) -> None:
        """The person's state is not known any more."""
        self.odd.pop(number, None)
        if number < len(self.rows):
            place = int(self.rows[number]) - len(self.kept)
            self.rows[number] = _START
            if place >= 0:
                self.changed[place] = 0.0
                self._free.append(place)

    def _new_place(self) -> int:
        if self._free:
            return self._free.pop()
        if self._used == len(self.changed):
            more = np.zeros((max(_ROOM, self._used // 4), self.changed.shape[1]))
            self.changed = np.concatenate([self.changed, more])
        self._used += 1
        return self._used - 1
