"""Reading the index while nobody writes: who passes, the best of them, a few at random, and their rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain
from operator import itemgetter
from typing import final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.recommend.exposure import Exposure
from kaczmatch.recommend.filters import CandidateColumns, as_number
from kaczmatch.recommend.index import filtering, search_kernel
from kaczmatch.recommend.index.chunks import ChunkTable
from kaczmatch.recommend.index.columns import Array, IndexColumns, described
from kaczmatch.recommend.index.filtering import Query
from kaczmatch.recommend.index.id_numbers import IdNumbers
from kaczmatch.recommend.index.membership import NO_BITS, Bits, Numbers
from kaczmatch.recommend.index.search_kernel import Floats, ViewerWeights
from kaczmatch.recommend.index.search_threads import CORES, run_shared
from kaczmatch.recommend.location import NOWHERE_ELSE, reach
from kaczmatch.recommend.profile import Profile, age_on
from kaczmatch.recommend.schema import Schema

_WORTH_A_THREAD = 16  # chunks


@final
@dataclass(frozen=True, slots=True, eq=False)
class SearchFilter:
    """Whom a viewer can be shown: the filters, and the chunks to look into."""

    query: Query
    chunks: NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True, eq=False)
class SearchResult:
    """Who passes: how many in each chunk, and the numbers of the best."""

    sought: SearchFilter
    counts: NDArray[np.int32]
    best: Numbers

    @property
    def size(self) -> int:
        return int(self.counts.sum())


@final
@dataclass(frozen=True, slots=True, eq=False)
class CandidateRows:
    """Some people as they are in the index, a row each."""

    numbers: Numbers
    ids: list[Hashable]
    squared_norms: Vector
    features: Matrix
    appeal: Vector

    def __len__(self) -> int:
        return len(self.ids)

    def taken(self, rows: Array) -> CandidateRows:
        """Some of them."""
        ids = [self.ids[row] for row in rows.tolist()]
        return CandidateRows(self.numbers[rows], ids, self.squared_norms[rows], self.features[rows], self.appeal[rows])

    def joined(self, *others: CandidateRows) -> CandidateRows:
        """These and others."""
        every = [one for one in (self, *others) if len(one)]
        if len(every) <= 1:
            return every[0] if every else self
        return CandidateRows(
            np.concatenate([one.numbers for one in every]),
            [identifier for one in every for identifier in one.ids],
            np.concatenate([one.squared_norms for one in every]),
            np.concatenate([one.features for one in every]),
            np.concatenate([one.appeal for one in every]),
        )


@final
class IndexView:
    """The index at one moment. People are named by their numbers; `ids` has their identifiers."""

    def __init__(
        self, table: ChunkTable, roster: IdNumbers, schema: Schema, tags: NDArray[np.int64], features: NDArray[np.int64]
    ) -> None:
        self._table, self._roster, self._schema = table, roster, schema
        self._coordinates = tags, features

    def sought(self, viewer: Profile, day: date) -> SearchFilter:
        """The filters in numbers, and the chunks where somebody can pass them. A birthday moves a limit, not a row."""
        today, schema = as_number(day), self._schema
        youngest, oldest = max(viewer.ages[0], schema.minimum_age), viewer.ages[1]
        born_from, born_to = today - (oldest + 1) * 10_000 + 1, today - youngest * 10_000
        looks, age = schema.mask(viewer.i_look_for, "i_look_for"), age_on(viewer.born, day)
        am = schema.mask(viewer.i_am, "i_am")
        point = viewer.location.point if viewer.location else NOWHERE_ELSE
        if age < schema.minimum_age or age > 255:
            born_to = born_from - 1  # nobody
        runs = [run for kind in range(32) if looks >> kind & 1 and (run := self._table.between(kind, born_from, born_to))]
        edges = np.array([chunk for run in runs for chunk in (run[0], run[-1])], np.int64)
        query = Query(np.uint32(am), np.uint32(looks), age, born_from, born_to, *point, reach(viewer.within_km), edges)
        return SearchFilter(query, np.array(list(chain.from_iterable(runs)), np.int64))

    def search(
        self, sought: SearchFilter, lens: ViewerWeights, want: int, rng: np.random.Generator, last: Bits = NO_BITS
    ) -> SearchResult:
        """Everybody who passes the filters, and about the best `want` of them by the rounded both-way score, the marked last.

        Chunks are read in random order: where more people tie than are wanted, it is chance that decides.
        """
        chunks, table = rng.permutation(sought.chunks), self._table
        turns, counts = np.zeros(1, np.int64), np.empty(len(chunks), np.int32)

        def best() -> tuple[Floats, NDArray[np.int64]]:
            return search_kernel.best(
                table.columns, chunks, table.kind, table.used, sought.query, lens, want, last, turns, counts
            )

        parts = run_shared(best, _helpers(chunks))
        scores, ranks = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
        return SearchResult(
            SearchFilter(sought.query, chunks), counts, search_kernel.first(scores, ranks, chunks, table.columns.who, want)
        )

    def everybody(self, sought: SearchFilter) -> Numbers:
        """Everybody who passes the filters."""
        table, helpers = self._table, _helpers(sought.chunks)
        todo = deque(enumerate(np.array_split(sought.chunks, 1 + 3 * helpers)))  # more parts than threads: who is quick does more

        def some() -> list[tuple[int, NDArray[np.int64]]]:
            done = []
            with suppress(IndexError):
                while True:
                    number, part = todo.popleft()
                    done.append((number, filtering.everyone(table.columns, part, table.kind, table.used, sought.query)))
            return done

        parts = sorted((one for done in run_shared(some, helpers) for one in done), key=itemgetter(0))
        return self._numbers(np.concatenate([places for _, places in parts]))

    def passing(self, sought: SearchFilter, numbers: Numbers) -> NDArray[np.bool_]:
        """Which of some people pass the filters."""
        if not len(numbers):
            return np.empty(0, np.bool_)
        return filtering.passing(self._table.columns, self._table.home[numbers], sought.query)

    def pick(self, found: SearchResult, ranks: NDArray[np.int64]) -> Numbers:
        """Those who stand at some places among all who pass."""
        table = self._table
        order = np.argsort(ranks, kind="stable")
        places = np.empty(len(ranks), np.int64)
        places[order] = filtering.at_ranks(
            table.columns, found.sought.chunks, table.kind, table.used, found.sought.query, np.cumsum(found.counts), ranks[order]
        )
        return self._numbers(places)

    def people(self, numbers: Numbers) -> CandidateRows:
        """Their rows."""
        if not len(numbers):
            nothing = np.empty(0)
            return CandidateRows(numbers, [], nothing, np.empty((0, sum(map(len, self._coordinates)))), nothing)
        table = self._table
        return CandidateRows(numbers, self.ids(numbers), *described(table.columns, table.home[numbers], *self._coordinates))

    def candidates(self, numbers: Numbers) -> CandidateColumns:
        """Their filter columns."""
        places, columns = self._table.home[numbers], self._table.columns
        return CandidateColumns(self._schema, self.ids(numbers), *(column.reshape(-1)[places] for column in columns[1:10]))

    def rows(self, numbers: Numbers) -> IndexColumns:
        return self._table.rows(numbers)

    def features(self, numbers: Numbers) -> Matrix:
        """Their tags and features as learners take them, features as float32 keeps them."""
        return described(self._table.columns, self._table.home[numbers], *self._coordinates)[1]

    def squared_norms(self, numbers: Numbers) -> Vector:
        inverse = self._table.columns.inverse_norm.reshape(-1)[self._table.home[numbers]].astype(np.float64)
        return np.divide(1.0, inverse**2, out=np.zeros_like(inverse), where=inverse > 0.0)

    def over(self, exposure: Exposure, now: datetime) -> Bits:
        """Who has had their share of exposure, as bits by number."""
        return exposure.marks(self._roster, now)

    def numbers(self, ids: Iterable[Hashable]) -> Numbers:
        """The numbers of those who are in the index; the others are left out."""
        return self._roster.numbers(ids)

    def ids(self, numbers: Numbers) -> list[Hashable]:
        return self._roster.ids(numbers.tolist())

    def all(self) -> Numbers:
        """Everybody, whoever looks."""
        return np.flatnonzero(self._table.home >= 0).astype(np.int32)

    def __len__(self) -> int:
        return len(self._roster)

    def _numbers(self, places: NDArray[np.int64]) -> Numbers:
        return self._table.columns.who.reshape(-1)[places]


def _helpers(chunks: NDArray[np.int64]) -> int:
    """On how many more threads a search is worth while."""
    return min(CORES - 1, len(chunks) // _WORTH_A_THREAD)
