"""The chunks of the index: rows are inserted, changed, moved and removed in place."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.recommend.index.cells import DIMENSIONS, cell_of_each, points_of, split
from kaczmatch.recommend.index.chunk_bounds import ChunkBounds, count_learned, measure
from kaczmatch.recommend.index.columns import CHUNK, Array, IndexColumns

_FILL = CHUNK * 9 // 10  # rows per chunk after a repack, which leaves space for inserts
_SPARSE = 0.65  # a kind whose chunks are filled less than this is repacked,
_FEW = 8  # unless it has fewer chunks than this
_EVERYWHERE = np.array([[-np.inf] * DIMENSIONS, [np.inf] * DIMENSIONS])

Places = NDArray[np.int64]


@final
class ChunkTable:
    """Chunks of rows. A person of several kinds has one row per kind.

    `home` is the place of a person's first row. `copies` has those of the others, by kind and then by number; -1: none.
    The place of a row is chunk x CHUNK + row.

    The chunks of a kind share out all birth dates and places: `cells` says which part is whose, and a row lies in the chunk whose
    cell it is in. `bounds` says more closely what the rows of a chunk have in common.
    """

    def __init__(self, tags: int, features: int, said: int = 1, doubts: int = 0) -> None:
        self.tags, self.features, self.said, self.doubts = tags, features, said, doubts
        self.said_width = said + max(doubts, 1)
        self.columns = IndexColumns.empty(0, tags, features, said, doubts)
        self.used = np.zeros(0, np.int32)
        self.kind = np.zeros(0, np.int32)
        self.home = np.zeros(0, np.int64)
        self.copies: dict[int, Places] = {}
        self.cells = np.zeros((0, *_EVERYWHERE.shape))
        self.bounds = ChunkBounds.empty(0)
        self.chunks: list[list[int]] = [[] for _ in range(32)]  # of each kind
        self.free: list[int] = []

    def __len__(self) -> int:
        """The number of rows, not of people."""
        return int(self.used.sum())

    def insert(self, rows: IndexColumns) -> None:
        """Insert people, each into the chunks of all their kinds."""
        highest = int(rows.person.max(initial=-1)) + 1
        if highest > len(self.home):
            self.home = np.append(self.home, np.full(max(highest - len(self.home), len(self.home) // 8), -1))
        for kind in range(32):
            chosen = np.flatnonzero(rows.i_am >> np.uint32(kind) & np.uint32(1))
            if chosen.size:
                self._insert(kind, rows.take(chosen))
                self._repack(kind)

    def remove(self, number: int) -> None:
        """Remove a person from every chunk, also where the row was overwritten in the file that it is mapped from."""
        copies = [int(places[number]) for places in self.copies.values() if number < len(places)]
        for place in [int(self.home[number]), *(place for place in copies if place >= 0)]:
            chunk, row = divmod(place, CHUNK)
            last = int(self.used[chunk]) - 1
            kind = int(self.kind[chunk])
            if row != last:
                self._move(np.array([chunk * CHUNK + last]), np.array([place]))
            for column in self.columns:  # nothing of a removed person stays in memory or in a saved file
                column[chunk][..., last] = 0
            self.used[chunk] = last
            self._learned_first([chunk])
            self.measure([chunk])
            if not self.used[self.chunks[kind]].any():
                self.free.extend(reversed(self.chunks[kind]))
                self.chunks[kind] = []
        for places in self.copies.values():
            if (
                number < len(places) and places[number] >= 0
            ):  # a page that is mapped from a file is shared as long as it is only read
                places[number] = -1
        self.home[number] = -1

    def places_of_all(self, numbers: Array) -> tuple[Places, NDArray[np.int64]]:
        """The places of all rows of many people, and which person each belongs to."""
        found, of_whom = [self.home[numbers]], [np.arange(len(numbers))]
        for kind in self.copies:
            places = self.copies_of(kind)[numbers]
            of_whom.append(np.flatnonzero(places >= 0))
            found.append(places[of_whom[-1]])
        return np.concatenate(found), np.concatenate(of_whom)

    def set_columns(self, places: Places, columns: Mapping[str, Array]) -> None:
        """Set some columns of the rows at some places. Only values that differ are written: a page that is mapped from a file is
        shared with other processes until then."""
        chunk, row = np.divmod(places, CHUNK)
        for name, values in columns.items():
            column = getattr(self.columns, name)
            new = np.moveaxis(values, -1, 0).astype(column.dtype, copy=False)
            which, *inner = np.nonzero(column[chunk, ..., row] != new)
            column[(chunk[which], *inner, row[which])] = new[(which, *inner)]

    def mark_learned(self, numbers: Array) -> None:
        """These people have learned something: their rows go to the others who have."""
        chunk, row = np.divmod(self.places_of_all(numbers)[0], CHUNK)
        new = self.columns.learned[chunk, row] == 0
        self.columns.learned[chunk[new], row[new]] = 1
        self._learned_first(np.unique(chunk[new]))

    def _learned_first(self, chunks: Array | list[int]) -> None:
        """Exchange rows until in these chunks those come first who have learned something."""
        one, other = count_learned(self.columns.learned, self.used, np.asarray(chunks, np.int64), self.bounds.learned)
        if len(one):
            self._move(np.concatenate([other, one]), np.concatenate([one, other]))

    def _move(self, sources: Places, targets: Places) -> None:
        """Copy rows to other places of their chunks. Whose row it is tells the place that it came from, not what is in it: it may
        have been overwritten in the file that it is mapped from.

        All of a row is written, also what is there already: in the file the place is somebody else's, who may be erased.
        """
        rows, (chunk, row) = self._rows_at(sources), np.divmod(targets, CHUNK)
        for column, values in zip(self.columns, rows, strict=True):
            column[chunk, ..., row] = np.moveaxis(values, -1, 0)
        first = self.home[rows.person] == sources
        self.home[rows.person[first]] = targets[first]
        kinds = self.kind[targets // CHUNK]
        for kind in np.unique(kinds[~first]).tolist():
            which = ~first & (kinds == kind)
            self.copies_of(kind)[rows.person[which]] = targets[which]

    def copies_of(self, kind: int) -> Places:
        """The places of further rows of a kind, by number; as long as `home`."""
        known = self.copies.get(kind, np.empty(0, np.int64))
        if len(known) < len(self.home):
            known = self.copies[kind] = np.append(known, np.full(len(self.home) - len(known), -1))
        return known

    def measure(self, chunks: Array | list[int]) -> None:
        """What the filter columns of some chunks have in common, after they have changed."""
        measure(self.columns, self.used, np.asarray(chunks, np.int64), self.bounds)

    def measure_all(self) -> None:
        every = np.arange(len(self.used))
        self._learned_first(every)
        self.measure(every)

    def rows(self, numbers: NDArray[np.int32]) -> IndexColumns:
        """A copy of the first row of each person."""
        return self._rows_at(self.home[numbers])

    def _rows_at(self, places: Places) -> IndexColumns:
        chunk, row = np.divmod(places, CHUNK)
        return IndexColumns(*(np.moveaxis(column[chunk, ..., row], 0, -1) for column in self.columns))

    def widened_columns(self, tags: int, features: int) -> IndexColumns:
        """The columns with space for more tags and features, which nobody has yet; those that need none are the same arrays."""
        wider = IndexColumns.empty(0, tags, features, self.said, self.doubts)
        return IndexColumns(*(_widened(old, new.shape[1:]) for old, new in zip(self.columns, wider, strict=True)))

    def copy(self, learned: Mapping[str, Array]) -> ChunkTable:
        """The same rows, all with these values in their learned columns."""
        said, doubts = (len(learned[name]) if name in learned else getattr(self, name) for name in ("said", "doubts"))
        other = ChunkTable(self.tags, self.features, said, doubts)
        columns = zip(self.columns._fields, self.columns, strict=True)
        other.columns = IndexColumns(
            *(_filled(column, learned[name]) if name in learned else column.copy() for name, column in columns)
        )
        other.used, other.kind, other.home = self.used.copy(), self.kind.copy(), self.home.copy()
        other.copies, other.free = {kind: places.copy() for kind, places in self.copies.items()}, self.free.copy()
        other.cells, other.bounds = self.cells.copy(), ChunkBounds.empty(len(self.used))
        other.chunks = [one.copy() for one in self.chunks]
        other.measure_all()
        return other

    def _insert(self, kind: int, rows: IndexColumns) -> None:
        if not self.chunks[kind]:
            self._new_chunk(kind, _EVERYWHERE)
        target = cell_of_each(points_of(rows), np.array(self.chunks[kind]), self.cells)
        order = np.argsort(target, kind="stable")
        limits = np.append(np.flatnonzero(np.diff(target[order], prepend=-1)), len(target))
        rows, touched = rows.take(order), target[order[limits[:-1]]]
        for chunk, (first, last) in zip(touched.tolist(), pairwise(limits.tolist()), strict=True):
            self._merge(kind, chunk, rows.take(slice(first, last)))
        self._learned_first(touched)
        self.measure(touched)

    def _merge(self, kind: int, chunk: int, rows: IndexColumns) -> None:
        """Into a chunk, which is measured afterwards. One that has no space for them is split."""
        used, coming = int(self.used[chunk]), len(rows.person)
        if used + coming <= CHUNK:
            self._write(chunk, slice(used, used + coming), rows)
            self.used[chunk] = used + coming
            return
        there = self.columns.chunk(chunk, slice(0, used))
        both = IndexColumns(*(np.concatenate(pair, axis=-1) for pair in zip(there, rows, strict=True)))
        self._spread(kind, both, self.cells[chunk].copy(), [chunk])

    def _spread(self, kind: int, rows: IndexColumns, cell: Array, chunks: list[int]) -> None:
        """Write the rows of a cell into chunks, first into these, each with a part of the cell."""
        parts = split(points_of(rows), cell, _FILL)
        self._reserve(max(len(parts) - len(chunks), 0))
        chunks = [*chunks, *(self._new_chunk(kind, cell) for _ in parts[len(chunks) :])]
        for target, (part, own) in zip(chunks, parts, strict=True):
            self._write(target, slice(0, len(part)), rows.take(part))
            for column in self.columns:  # of those who have moved, too, nothing stays
                column[target][..., len(part) : self.used[target]] = 0
            self.used[target], self.cells[target] = len(part), own
        self._learned_first(chunks)
        self.measure(chunks)

    def _repack(self, kind: int) -> None:
        """Write the chunks of a kind anew where they have become too empty by splits and removals."""
        chunks = self.chunks[kind]
        rows = int(self.used[chunks].sum())
        if len(chunks) < _FEW or rows > _SPARSE * CHUNK * len(chunks):
            return
        full = [self.columns.chunk(chunk, slice(0, self.used[chunk])) for chunk in chunks]
        everybody = IndexColumns(*(np.concatenate(parts, axis=-1) for parts in zip(*full, strict=True)))
        for column in self.columns:
            column[chunks] = 0
        self.free.extend(reversed(chunks))
        self.used[chunks], self.chunks[kind] = 0, []
        self._spread(kind, everybody, _EVERYWHERE, [])

    def _write(self, chunk: int, at: slice, rows: IndexColumns) -> None:
        for column, values in zip(self.columns, rows, strict=True):
            column[chunk][..., at] = values
        kind = int(self.kind[chunk])
        place = chunk * CHUNK + np.arange(at.start, at.stop)
        # Whether this is the lowest of their kinds. Those who were overwritten have none: their first row was in such a chunk.
        first = rows.i_am & (~rows.i_am + np.uint32(1)) == np.uint32(1 << kind)
        first |= (rows.i_am == 0) & (self.kind[self.home[rows.person] // CHUNK] == kind)
        self.home[rows.person[first]] = place[first]
        if not first.all():
            self.copies_of(kind)[rows.person[~first]] = place[~first]

    def _new_chunk(self, kind: int, cell: Array) -> int:
        self._reserve(1)
        chunk = self.free.pop()
        self.kind[chunk], self.used[chunk], self.cells[chunk] = kind, 0, cell
        self.chunks[kind].append(chunk)
        return chunk

    def _reserve(self, chunks: int) -> None:
        """Make sure that so many chunks are free."""
        if len(self.free) >= chunks:
            return
        old = len(self.used)
        more = max(chunks - len(self.free), old // 8, 1)
        room = IndexColumns.empty(more, self.tags, self.features, self.said, self.doubts)
        self.columns = IndexColumns(*(np.concatenate(pair) for pair in zip(self.columns, room, strict=True)))
        self.used, self.kind = (np.append(array, np.zeros(more, np.int32)) for array in (self.used, self.kind))
        self.cells = np.append(self.cells, np.zeros((more, *_EVERYWHERE.shape)), axis=0)
        self.bounds = ChunkBounds(*(np.concatenate(pair) for pair in zip(self.bounds, ChunkBounds.empty(more), strict=True)))
        self.free.extend(range(old + more - 1, old - 1, -1))


def _widened(column: Array, shape: tuple[int, ...]) -> Array:
    if column.shape[1:] == shape:
        return column
    wider = np.zeros((len(column), *shape), column.dtype)
    wider[:, : column.shape[1]] = column
    return wider


def _filled(column: Array, value: Array) -> Array:
    filled = np.empty((len(column), *value.shape[:-1], CHUNK), column.dtype)
    filled[...] = value
    return filled
