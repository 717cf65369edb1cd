"""A read-only view of the index: who passes the filters, the best of them, a random sample, and their rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from itertools import chain
from operator import itemgetter
from typing import final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.recommend.index import filter_kernel as filtering
from kaczmatch.recommend.index import search_kernel
from kaczmatch.recommend.index.chunks import ChunkTable
from kaczmatch.recommend.index.columns import Array, IndexColumns, read_rows
from kaczmatch.recommend.index.filter_kernel import FilterQuery, filter_query
from kaczmatch.recommend.index.id_numbers import IdNumbers
from kaczmatch.recommend.index.membership import NO_BITS, Bits, PersonNumbers
from kaczmatch.recommend.index.search_kernel import Float32s, ViewerWeights
from kaczmatch.recommend.index.search_threads import CORES, run_shared
from kaczmatch.recommend.people.filters import FilterColumns
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.people.schema import Schema

_CHUNKS_PER_THREAD = 16  # chunks
_MOST_LOOKED_AT = 8_192  # rows: to look at more would take longer than to list everybody who passes


@final
@dataclass(frozen=True, slots=True, eq=False)
class SearchFilter:
    """The hard filters of a viewer, and the chunks in which people can pass them."""

    query: FilterQuery
    chunks: NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True, eq=False)
class SearchResult:
    """The result of a search: how many pass in each chunk, and the numbers of the best."""

    filter: SearchFilter
    counts: NDArray[np.int32]
    best: PersonNumbers

    @property
    def size(self) -> int:
        return int(self.counts.sum())


@final
@dataclass(frozen=True, slots=True, eq=False)
class CandidateRows:
    """Some people as the index has them, one row each. Of hundreds in a pool few are shown: only their ids are looked up."""

    numbers: PersonNumbers
    names: IdNumbers
    squared_norms: Vector
    features: Matrix
    others: Matrix  # what they said of each, a row per person

    def __len__(self) -> int:
        return len(self.numbers)

    def ids(self) -> list[Hashable]:
        """Identifiers. The index must still be read: numbers of people who leave are given to others."""
        return self.names.ids(self.numbers.tolist())

    def take(self, rows: Array | slice) -> CandidateRows:
        """Some of them."""
        return CandidateRows(self.numbers[rows], self.names, self.squared_norms[rows], self.features[rows], self.others[rows])

    def concatenate(self, *others: CandidateRows) -> CandidateRows:
        """These and others."""
        every = [one for one in (self, *others) if len(one)]
        if len(every) <= 1:
            return every[0] if every else self
        return CandidateRows(
            np.concatenate([one.numbers for one in every]),
            self.names,
            np.concatenate([one.squared_norms for one in every]),
            np.concatenate([one.features for one in every]),
            np.concatenate([one.others for one in every]),
        )


@final
class IndexView:
    """The index at one moment. People are given by number; `ids` translates numbers to identifiers."""

    def __init__(
        self, table: ChunkTable, ids: IdNumbers, schema: Schema, tags: NDArray[np.int64], features: NDArray[np.int64]
    ) -> None:
        self._table, self.ids_and_numbers, self._schema = table, ids, schema
        self._coordinates = tags, features

    def search_filter(self, viewer: Profile, day: date) -> SearchFilter:
        """The filters in numbers, and the chunks where people can pass them."""
        query = filter_query(viewer, self._schema, day)
        looks, table = int(query.i_look_for), self._table
        kinds = [kind for kind in range(looks.bit_length()) if looks >> kind & 1]
        chunks = np.array([*chain.from_iterable(table.chunks[kind] for kind in kinds)], np.int64)
        chunks, checks = filtering.possible_chunks(table.bounds, chunks, table.used, query)
        return SearchFilter(query._replace(checks=checks), chunks)

    def search(
        self,
        sought: SearchFilter,
        weights: ViewerWeights,
        want: int,
        rng: np.random.Generator,
        last: Bits = NO_BITS,
        excluded: Bits = NO_BITS,
    ) -> SearchResult:
        """How many pass the filters, and about the `want` best of them by rounded scores.

        People in `last` come after all others. Those in `excluded` are counted, but never among the best.
        Chunks are read in random order, so ties are broken at random.
        """
        chunks, table = rng.permutation(sought.chunks), self._table
        turns, counts = np.zeros(1, np.int64), np.empty(len(chunks), np.int32)

        def best() -> tuple[Float32s, NDArray[np.int64]]:
            return search_kernel.search_chunks(
                table.columns,
                chunks,
                table.kind,
                table.used,
                table.bounds.learned,
                sought.query,
                weights,
                want,
                last,
                excluded,
                turns,
                counts,
            )

        parts = run_shared(best, _helpers(chunks))
        scores, ranks = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
        return SearchResult(
            SearchFilter(sought.query, chunks),
            counts,
            search_kernel.best_numbers(scores, ranks, chunks, table.columns.person, want),
        )

    def everybody(self, sought: SearchFilter) -> PersonNumbers:
        """Everybody who passes the filters."""
        table, helpers = self._table, _helpers(sought.chunks)
        todo = deque(enumerate(np.array_split(sought.chunks, 1 + 3 * helpers)))  # more parts than threads, to balance the load

        def some() -> list[tuple[int, NDArray[np.int64]]]:
            done = []
            with suppress(IndexError):
                while True:
                    number, part = todo.popleft()
                    done.append((number, filtering.all_passing(table.columns, part, table.kind, table.used, sought.query)))
            return done

        parts = sorted((one for done in run_shared(some, helpers) for one in done), key=itemgetter(0))
        return self._numbers(np.concatenate([places for _, places in parts]))

    def passing(self, sought: SearchFilter, numbers: PersonNumbers) -> NDArray[np.bool_]:
        """Which of these people pass the filters."""
        if not len(numbers):
            return np.empty(0, np.bool_)
        return filtering.passing_at(self._table.columns, self._table.home[numbers], sought.query)

    def sample(self, found: SearchResult, want: int, rng: np.random.Generator) -> PersonNumbers:
        """Some of all who pass, in random order: a quarter more than are wanted, more or less, but few where few pass.

        Rows are drawn and looked at, which takes far less than to list everybody who passes.
        """
        chunks, table = found.filter.chunks, self._table
        ends = np.cumsum(table.used[chunks], dtype=np.int64)
        rows = int(ends[-1])
        drawn = rng.choice(rows, min(5 * want * rows // (4 * found.size) + 1, rows, _MOST_LOOKED_AT), replace=False)
        return self._numbers(filtering.passing_among(table.columns, chunks, table.kind, found.filter.query, ends, drawn))

    def candidate_rows(self, numbers: PersonNumbers) -> CandidateRows:
        """Their rows."""
        if not len(numbers):
            none = np.empty((0, sum(map(len, self._coordinates))))
            return CandidateRows(numbers, self.ids_and_numbers, np.empty(0), none, np.empty((0, self._table.said_width)))
        table = self._table
        norms, features, others = read_rows(table.columns, table.home[numbers], *self._coordinates)
        return CandidateRows(numbers, self.ids_and_numbers, norms, features, others)

    def filter_columns(self, numbers: PersonNumbers) -> FilterColumns:
        """Their filter columns."""
        places, columns = self._table.home[numbers], self._table.columns
        return FilterColumns(self._schema, self.ids(numbers), *(column.reshape(-1)[places] for column in columns[1:10]))

    def rows(self, numbers: PersonNumbers) -> IndexColumns:
        return self._table.rows(numbers)

    def features(self, numbers: PersonNumbers) -> Matrix:
        """Their tags and features as learners take them, features as float32 keeps them."""
        return read_rows(self._table.columns, self._table.home[numbers], *self._coordinates)[1]

    def squared_norms(self, numbers: PersonNumbers) -> Vector:
        inverse = self._table.columns.inverse_norm.reshape(-1)[self._table.home[numbers]].astype(np.float64)
        return np.divide(1.0, inverse**2, out=np.zeros_like(inverse), where=inverse > 0.0)

    def numbers(self, ids: Iterable[Hashable]) -> PersonNumbers:
        """The numbers of those who are in the index; the others are left out."""
        return self.ids_and_numbers.numbers(ids)

    def ids(self, numbers: PersonNumbers) -> list[Hashable]:
        return self.ids_and_numbers.ids(numbers.tolist())

    def all_numbers(self) -> PersonNumbers:
        """Everybody in the index, whatever the filters."""
        return np.flatnonzero(self._table.home >= 0).astype(np.int32)

    def __len__(self) -> int:
        return len(self.ids_and_numbers)

    def _numbers(self, places: NDArray[np.int64]) -> PersonNumbers:
        return self._table.columns.person.reshape(-1)[places]


def _helpers(chunks: NDArray[np.int64]) -> int:
    """How many helper threads a search is worth."""
    return min(CORES - 1, len(chunks) // _CHUNKS_PER_THREAD)
