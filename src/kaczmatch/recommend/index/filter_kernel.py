"""The hard filters as compiled code.

They decide exactly as `people/filters.py` does, and have no branches, so that they vectorise.
"""

from __future__ import annotations

from datetime import date
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled, compiled_short
from kaczmatch.core.vectors import Integers, Matrix
from kaczmatch.recommend.index.chunk_bounds import ChunkBounds
from kaczmatch.recommend.index.columns import CHUNK, IndexColumns
from kaczmatch.recommend.people.filters import NO_BIRTH_DATE, date_number
from kaczmatch.recommend.people.location import NOWHERE_ELSE, max_squared_chord
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.people.schema import Schema

ByteMask = NDArray[np.uint8]
Kinds = NDArray[np.int32]
Used = NDArray[np.int32]
RowNumbers = NDArray[np.uint32]  # unsigned: indexing needs no check for negative numbers

MOST_AGE: Final = 255  # that a column of ages holds
LOOKS, AGES, DISTANCE, BORN = np.uint8(1), np.uint8(2), np.uint8(4), np.uint8(8)
_BORN_NEVER: Final = -1
_MARGIN: Final = 1e-5
_NO_CHECKS: Final = np.empty(0, np.uint8)


class FilterQuery(NamedTuple):
    """The hard filters of one viewer, in numbers."""

    i_am: np.uint32
    i_look_for: np.uint32
    least_age: int  # that the viewer can have
    greatest_age: int
    born_from: int
    born_to: int
    also_born: int  # passes, too: `NO_BIRTH_DATE`, or a date that nobody has
    x: np.float32
    y: np.float32
    z: np.float32
    max_squared_chord: np.float32
    checks: ByteMask  # by chunk, the filters that not all of its rows pass


def filter_query(viewer: Profile, schema: Schema, day: date) -> FilterQuery:
    """Without chunks, of which `possible_chunks` knows. A birthday moves a limit, not a row."""
    today, (least, greatest) = date_number(day), viewer.possible_ages(day)
    youngest, oldest = max(viewer.ages[0], schema.minimum_age), viewer.ages[1]
    takes_part = viewer.old_enough(day) and greatest <= MOST_AGE
    born_from = today - (oldest + 1) * 10_000 + 1
    return FilterQuery(
        np.uint32(schema.mask(viewer.i_am, "i_am")),
        np.uint32(schema.mask(viewer.i_look_for, "i_look_for")),
        least,
        greatest,
        born_from,
        today - youngest * 10_000 if takes_part else born_from - 1,  # then nobody passes
        NO_BIRTH_DATE if takes_part and not schema.age_required else _BORN_NEVER,
        *(viewer.location.point if viewer.location else NOWHERE_ELSE),
        max_squared_chord(viewer.within_km),
        _NO_CHECKS,
    )


@compiled_short
def possible_chunks(b: ChunkBounds, chunks: Integers, used: Used, q: FilterQuery) -> tuple[Integers, ByteMask]:
    """Those of some chunks in which somebody can pass; and by chunk, the filters that not all of its rows pass.

    Distances are compared with a margin that is far greater than what rounding does to them.
    """
    checks, possible, count = np.zeros(len(used), np.uint8), np.empty(len(chunks), np.int64), 0
    point = (np.float64(q.x), np.float64(q.y), np.float64(q.z))
    for chunk in chunks:
        nearest, farthest = 0.0, 0.0
        for k in range(3):
            low, high = b.low[chunk, k], b.high[chunk, k]
            nearest += max(low - point[k], point[k] - high, 0.0) ** 2
            farthest += max(abs(low - point[k]), abs(high - point[k])) ** 2
        reach = min(b.least_reach[chunk], q.max_squared_chord), min(b.greatest_reach[chunk], q.max_squared_chord)
        first, last = b.first_born[chunk], b.last_born[chunk]
        also = first <= q.also_born <= last
        possible[count] = chunk
        count += (
            (used[chunk] > 0)
            & ((b.some_look_for[chunk] & q.i_am) != 0)
            & (b.least_youngest[chunk] <= q.greatest_age)
            & (b.greatest_oldest[chunk] >= q.least_age)
            & (nearest * (1.0 - _MARGIN) <= reach[1])
            & (((first <= q.born_to) & (last >= q.born_from)) | also)
        )
        if (b.all_look_for[chunk] & q.i_am) == 0:
            checks[chunk] |= LOOKS
        if b.greatest_youngest[chunk] > q.greatest_age or b.least_oldest[chunk] < q.least_age:
            checks[chunk] |= AGES
        if not farthest * (1.0 + _MARGIN) <= reach[0]:
            checks[chunk] |= DISTANCE
        if not ((q.born_from <= first and last <= q.born_to) or first == last == q.also_born):
            checks[chunk] |= BORN
    return possible[:count], checks


@compiled_short
def rows_pass(rows: Matrix, q: FilterQuery) -> NDArray[np.bool_]:
    """Which rows pass every filter. Their columns are those of `FilterColumns`, from `i_am` on."""
    passes = np.empty(len(rows), np.bool_)
    for j in range(len(rows)):
        am, look, born, youngest, oldest = rows[j, 0], rows[j, 1], rows[j, 2], rows[j, 3], rows[j, 4]
        east, north, up = np.float32(rows[j, 5]) - q.x, np.float32(rows[j, 6]) - q.y, np.float32(rows[j, 7]) - q.z
        passes[j] = (
            ((np.uint32(look) & q.i_am) != 0)
            & ((np.uint32(am) & q.i_look_for) != 0)
            & ((q.born_from <= born <= q.born_to) | (born == q.also_born))
            & (youngest <= q.greatest_age)
            & (oldest >= q.least_age)
            & (east * east + north * north + up * up <= min(np.float32(rows[j, 8]), q.max_squared_chord))
        )
    return passes


@compiled
def mask_passing(c: IndexColumns, chunk: int, kind: int, used: int, q: FilterQuery, flags: ByteMask) -> None:
    """Which rows of a chunk pass every filter. What holds for a whole chunk is not checked per row.

    So the row of an erased person may pass, where another process has overwritten it in a mapped file: `looks_for` tells.
    """
    checks, one, zero = q.checks[chunk], np.uint32(1), np.uint32(0)
    for i in range(used):
        flags[i] = 1
    if checks & LOOKS:
        look = c.i_look_for[chunk]
        for i in range(used):
            flags[i] &= (look[i] & q.i_am) != zero
    if checks & AGES:
        youngest, oldest, least, greatest = c.youngest[chunk], c.oldest[chunk], np.uint8(q.least_age), np.uint8(q.greatest_age)
        for i in range(used):
            flags[i] &= (youngest[i] <= greatest) & (oldest[i] >= least)
    if checks & DISTANCE:
        x, y, z, reach = c.x[chunk], c.y[chunk], c.z[chunk], c.max_squared_chord[chunk]
        for i in range(used):
            east, north, up = x[i] - q.x, y[i] - q.y, z[i] - q.z
            flags[i] &= east * east + north * north + up * up <= min(reach[i], q.max_squared_chord)
    if checks & BORN:
        born, first, last, also = c.born[chunk], np.int32(q.born_from), np.int32(q.born_to), np.int32(q.also_born)
        for i in range(used):
            flags[i] &= ((born[i] >= first) & (born[i] <= last)) | (born[i] == also)
    if (q.i_look_for & (q.i_look_for - one)) != zero:  # a person of several wanted kinds passes in one chunk only
        am, bit = c.i_am[chunk], one << np.uint32(kind)
        for i in range(used):
            sought = am[i] & q.i_look_for
            flags[i] &= (sought & (~sought + one)) == bit


@compiled
def looks_for(c: IndexColumns, chunk: int, row: int, q: FilterQuery) -> bool:
    """Whether a row looks for the viewer's kind. One that was overwritten looks for nobody."""
    return bool((c.i_look_for[chunk, row] & q.i_am) != 0)


@compiled
def list_masked(flags: ByteMask, used: int, found: RowNumbers) -> int:
    """Write the rows with a set flag into `found`. Returns how many there are."""
    count = 0
    for i in range(used):
        found[count] = i
        count += flags[i]
    return count


@compiled
def all_passing(c: IndexColumns, chunks: Integers, kinds: Kinds, used: Used, q: FilterQuery) -> Integers:
    """The places of all people who pass."""
    total = 0
    for chunk in chunks:
        total += used[chunk]
    places = np.empty(total, np.int64)
    flags, found = np.empty(CHUNK, np.uint8), np.empty(CHUNK, np.uint32)
    total = 0
    for chunk in chunks:
        mask_passing(c, chunk, kinds[chunk], used[chunk], q, flags)
        count = list_masked(flags, used[chunk], found)
        for j in range(count):
            places[total] = chunk * CHUNK + found[j]
            total += looks_for(c, chunk, found[j], q)
    return places[:total]


@compiled_short
def passing_at(c: IndexColumns, places: Integers, q: FilterQuery) -> NDArray[np.bool_]:
    """Which of the rows at some places pass every filter."""
    passes = np.empty(len(places), np.bool_)
    for j in range(len(places)):
        passes[j] = _passes(c, places[j] // CHUNK, places[j] % CHUNK, q)
    return passes


@compiled_short
def passing_among(c: IndexColumns, chunks: Integers, kinds: Kinds, q: FilterQuery, ends: Integers, rows: Integers) -> Integers:
    """Some rows of some chunks, as if those lay one after the other: the places of those that pass, in the same order.

    `ends` is the cumulative number of rows per chunk.
    """
    places, count, one = np.empty(len(rows), np.int64), 0, np.uint32(1)
    for row in rows:
        k = np.searchsorted(ends, row, side="right")
        chunk, i = chunks[k], row - (ends[k - 1] if k > 0 else 0)
        sought = c.i_am[chunk, i] & q.i_look_for
        if (sought & (~sought + one)) == one << np.uint32(kinds[chunk]) and _passes(c, chunk, i, q):  # as in `mask_passing`
            places[count] = chunk * CHUNK + i
            count += 1
    return places[:count]


@compiled_short
def _passes(c: IndexColumns, chunk: int, i: int, q: FilterQuery) -> bool:
    east, north, up = c.x[chunk, i] - q.x, c.y[chunk, i] - q.y, c.z[chunk, i] - q.z
    return bool(
        ((c.i_look_for[chunk, i] & q.i_am) != 0)
        & ((c.i_am[chunk, i] & q.i_look_for) != 0)
        & ((q.born_from <= c.born[chunk, i] <= q.born_to) | (c.born[chunk, i] == q.also_born))
        & (c.youngest[chunk, i] <= q.greatest_age)
        & (c.oldest[chunk, i] >= q.least_age)
        & (east * east + north * north + up * up <= min(c.max_squared_chord[chunk, i], q.max_squared_chord))
    )
