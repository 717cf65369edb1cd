"""The rows of the index in their chunks: put in, changed, moved and taken out in place."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.recommend.index.columns import CHUNK, Array, IndexColumns

_FILL = CHUNK * 9 // 10  # rows of a chunk when it is laid out anew, which leaves room to put people in
_SPARSE = 0.65  # the share of its chunks below which a kind is laid out anew,
_FEW = 8  # unless it has only a few
_BEFORE_ALL = -(2**31)


@final
class ChunkTable:
    """Chunks of rows; `home` says where a person's first row stands, `copies` where the others do."""

    def __init__(self, tags: int, features: int) -> None:
        self.tags, self.features = tags, features
        self.columns = IndexColumns.empty(0, tags, features)
        self.used = np.zeros(0, np.int32)
        self.kind = np.zeros(0, np.int32)
        self.home = np.zeros(0, np.int64)
        self.copies: dict[tuple[int, int], int] = {}
        # By kind: where each chunk begins, by birth date, and which it is. A chunk's rows are not before its own beginning and
        # not after the next one's.
        self.begins: list[list[int]] = [[] for _ in range(32)]
        self.chunks: list[list[int]] = [[] for _ in range(32)]
        self.free: list[int] = []

    def __len__(self) -> int:
        """Rows, not people."""
        return int(self.used.sum())

    def between(self, kind: int, first: int, last: int) -> list[int]:
        """The chunks of a kind that can hold somebody born from `first` to `last`; all but the first and the last hold nobody
        else."""
        begins = self.begins[kind]
        return self.chunks[kind][max(bisect_left(begins, first) - 1, 0) : bisect_right(begins, last)]

    def insert(self, rows: IndexColumns) -> None:
        """Put people in, each into the chunks of all they are."""
        highest = int(rows.who.max(initial=-1)) + 1
        if highest > len(self.home):
            self.home = np.append(self.home, np.full(max(highest - len(self.home), len(self.home) // 8), -1))
        for kind in range(32):
            chosen = np.flatnonzero(rows.i_am >> np.uint32(kind) & np.uint32(1))
            if chosen.size:
                chosen = chosen[np.argsort(rows.born[chosen], kind="stable")]
                self._insert(kind, rows.taken(chosen))
                self._repack(kind)

    def remove(self, number: int) -> None:
        """Take a person out of every chunk."""
        for place in self.places(number):
            chunk, row = divmod(place, CHUNK)
            last = int(self.used[chunk]) - 1
            kind = int(self.kind[chunk])
            if row != last:
                self._write(chunk, row, self.columns.chunk(chunk, slice(last, last + 1)))
            for column in self.columns:  # nothing of who left stays in memory or in a saved file
                column[chunk][..., last] = 0
            self.used[chunk] = last
            if last == 0:
                at = self.chunks[kind].index(chunk)
                del self.chunks[kind][at], self.begins[kind][at]
                if at == 0 and self.begins[kind]:
                    self.begins[kind][0] = _BEFORE_ALL
                self.free.append(chunk)
            self.copies.pop((number, kind), None)
        self.home[number] = -1

    def places(self, number: int) -> list[int]:
        """Every row of a person."""
        first = int(self.home[number])
        chunk, row = divmod(first, CHUNK)
        kinds = int(self.columns.i_am[chunk, row])
        own = int(self.kind[chunk])
        return [first, *(self.copies[number, kind] for kind in range(own + 1, 32) if kinds >> kind & 1)]

    def all_places(self, numbers: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Every row of many people, and which of them each belongs to."""
        homes = self.home[numbers]
        kinds = self.columns.i_am.reshape(-1)[homes]
        several = np.flatnonzero(kinds & (kinds - np.uint32(1)))
        copies = [(place, which) for which in several.tolist() for place in self.places(int(numbers[which]))[1:]]
        extra = np.array(copies, np.int64).reshape(-1, 2).T
        return np.concatenate([homes, extra[0]]), np.concatenate([np.arange(len(numbers)), extra[1]])

    def change(self, places: NDArray[np.int64], columns: Mapping[str, Array]) -> None:
        """New values for some columns of some rows."""
        chunk, row = np.divmod(places, CHUNK)
        for name, values in columns.items():
            getattr(self.columns, name)[chunk, ..., row] = np.moveaxis(values, -1, 0)

    def rows(self, numbers: NDArray[np.int32]) -> IndexColumns:
        """A copy of the first row of each person."""
        chunk, row = np.divmod(self.home[numbers], CHUNK)
        return IndexColumns(*(np.moveaxis(column[chunk, ..., row], 0, -1) for column in self.columns))

    def _insert(self, kind: int, rows: IndexColumns) -> None:
        begins, chunks = self.begins[kind], self.chunks[kind]
        if not chunks:
            begins.append(_BEFORE_ALL)
            chunks.append(self._new_chunk(kind))
        target = np.searchsorted(begins, rows.born, side="right") - 1
        limits = np.append(np.flatnonzero(np.diff(target, prepend=-1)), len(target))
        for first, last in reversed(list(pairwise(limits.tolist()))):  # later chunks first: places stay valid
            self._merge(kind, int(target[first]), rows.taken(slice(first, last)))

    def _merge(self, kind: int, at: int, rows: IndexColumns) -> None:
        chunk = self.chunks[kind][at]
        used, coming = int(self.used[chunk]), len(rows.who)
        if used + coming <= CHUNK:
            self._write(chunk, used, rows)
            self.used[chunk] = used + coming
            return
        there = self.columns.chunk(chunk, slice(0, used))
        both = IndexColumns(*(np.concatenate(pair, axis=-1) for pair in zip(there, rows, strict=True)))
        parts = np.array_split(np.argsort(both.born, kind="stable"), -(-(used + coming) // _FILL))
        self._reserve(len(parts) - 1)
        homes = [chunk, *(self._new_chunk(kind) for _ in parts[1:])]
        for target, part in zip(homes, parts, strict=True):
            self._write(target, 0, both.taken(part))
            self.used[target] = len(part)
        self.chunks[kind][at + 1 : at + 1] = homes[1:]
        self.begins[kind][at + 1 : at + 1] = [int(both.born[part[0]]) for part in parts[1:]]

    def _repack(self, kind: int) -> None:
        """Lay a kind out anew where its chunks have become too empty by splitting and leaving."""
        chunks = self.chunks[kind]
        rows = int(self.used[chunks].sum())
        if len(chunks) < _FEW or rows > _SPARSE * CHUNK * len(chunks):
            return
        full = [self.columns.chunk(chunk, slice(0, self.used[chunk])) for chunk in chunks]
        everybody = IndexColumns(*(np.concatenate(parts, axis=-1) for parts in zip(*full, strict=True)))
        for column in self.columns:
            column[chunks] = 0
        self.free.extend(reversed(chunks))
        parts = np.array_split(np.argsort(everybody.born, kind="stable"), -(-rows // _FILL))
        self.chunks[kind] = [self._new_chunk(kind) for _ in parts]
        self.begins[kind] = [_BEFORE_ALL, *(int(everybody.born[part[0]]) for part in parts[1:])]
        for chunk, part in zip(self.chunks[kind], parts, strict=True):
            self._write(chunk, 0, everybody.taken(part))
            self.used[chunk] = len(part)

    def _write(self, chunk: int, row: int, rows: IndexColumns) -> None:
        coming = len(rows.who)
        for column, values in zip(self.columns, rows, strict=True):
            column[chunk][..., row : row + coming] = values
        kind = int(self.kind[chunk])
        place = chunk * CHUNK + row + np.arange(coming)
        first = rows.i_am & (~rows.i_am + np.uint32(1)) == np.uint32(1 << kind)  # the lowest of all they are
        self.home[rows.who[first]] = place[first]
        for number, copy in zip(rows.who[~first].tolist(), place[~first].tolist(), strict=True):
            self.copies[number, kind] = copy

    def _new_chunk(self, kind: int) -> int:
        self._reserve(1)
        chunk = self.free.pop()
        self.kind[chunk], self.used[chunk] = kind, 0
        return chunk

    def _reserve(self, chunks: int) -> None:
        """Room for so many more chunks."""
        if len(self.free) >= chunks:
            return
        old = len(self.used)
        more = max(chunks - len(self.free), old // 8, 1)
        room = IndexColumns.empty(more, self.tags, self.features)
        self.columns = IndexColumns(*(np.concatenate(pair) for pair in zip(self.columns, room, strict=True)))
        self.used, self.kind = (np.append(array, np.zeros(more, np.int32)) for array in (self.used, self.kind))
        self.free.extend(range(old + more - 1, old - 1, -1))
