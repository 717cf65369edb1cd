"""The filters as machine code: exactly the readable ones, without branches, so that they run at full width."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled
from kaczmatch.recommend.index.columns import CHUNK, IndexColumns

Places = NDArray[np.int64]
Flags = NDArray[np.uint8]
Kinds = NDArray[np.int32]
Used = NDArray[np.int32]
Found = NDArray[np.uint32]  # unsigned: no row is counted from the end, and nothing has to check


class Query(NamedTuple):
    """Whom a viewer can be shown, as the filters read it."""

    am: np.uint32
    looks: np.uint32
    age: int
    born_from: int
    born_to: int
    x: np.float32
    y: np.float32
    z: np.float32
    reach: np.float32
    edges: Places  # the chunks where somebody can be too young or too old; in all others nobody is


@compiled
def admitted(c: IndexColumns, chunk: int, kind: int, used: int, q: Query, flags: Flags) -> None:
    """Which rows of a chunk pass every filter. Without branches, so that it runs at full width; what a chunk says of all its rows
    is not read again in each."""
    look, youngest, oldest = c.i_look_for[chunk], c.youngest[chunk], c.oldest[chunk]
    one, zero, age = np.uint32(1), np.uint32(0), np.uint8(q.age)
    for i in range(used):
        flags[i] = ((look[i] & q.am) != zero) & (youngest[i] <= age) & (oldest[i] >= age)
    x, y, z, reach = c.x[chunk], c.y[chunk], c.z[chunk], c.reach[chunk]
    for i in range(used):
        east, north, up = x[i] - q.x, y[i] - q.y, z[i] - q.z
        flags[i] &= east * east + north * north + up * up <= min(reach[i], q.reach)
    if (q.looks & (q.looks - one)) != zero:  # once, however many of what somebody is are sought
        am, bit = c.i_am[chunk], one << np.uint32(kind)
        for i in range(used):
            sought = am[i] & q.looks
            flags[i] &= (sought & (~sought + one)) == bit
    for edge in q.edges:
        if edge == chunk:
            born, first, last = c.born[chunk], np.int32(q.born_from), np.int32(q.born_to)
            for i in range(used):
                flags[i] &= (born[i] >= first) & (born[i] <= last)


@compiled
def listed(flags: Flags, used: int, found: Found) -> int:
    """The rows that are flagged, into `found`; how many."""
    count = 0
    for i in range(used):
        found[count] = i
        count += flags[i]
    return count


@compiled
def everyone(c: IndexColumns, chunks: Places, kinds: Kinds, used: Used, q: Query) -> Places:
    """The places of all who pass."""
    total = 0
    for chunk in chunks:
        total += used[chunk]
    places = np.empty(total, np.int64)
    flags, found = np.empty(CHUNK, np.uint8), np.empty(CHUNK, np.uint32)
    total = 0
    for chunk in chunks:
        admitted(c, chunk, kinds[chunk], used[chunk], q, flags)
        count = listed(flags, used[chunk], found)
        for j in range(count):
            places[total + j] = chunk * CHUNK + found[j]
        total += count
    return places[:total]


@compiled
def passing(c: IndexColumns, places: Places, q: Query) -> NDArray[np.bool_]:
    """Which of the rows at some places pass every filter, whatever they are that is sought."""
    passes = np.empty(len(places), np.bool_)
    for j in range(len(places)):
        chunk, i = places[j] // CHUNK, places[j] % CHUNK
        east, north, up = c.x[chunk, i] - q.x, c.y[chunk, i] - q.y, c.z[chunk, i] - q.z
        passes[j] = (
            ((c.i_look_for[chunk, i] & q.am) != 0)
            & ((c.i_am[chunk, i] & q.looks) != 0)
            & (q.born_from <= c.born[chunk, i] <= q.born_to)
            & (c.youngest[chunk, i] <= q.age <= c.oldest[chunk, i])
            & (east * east + north * north + up * up <= min(c.reach[chunk, i], q.reach))
        )
    return passes


@compiled
def at_ranks(c: IndexColumns, chunks: Places, kinds: Kinds, used: Used, q: Query, ends: Places, ranks: Places) -> Places:
    """The places of those who stand at some ranks, in rising order, among all who pass; `ends` counts them chunk by chunk."""
    flags, found = np.empty(CHUNK, np.uint8), np.empty(CHUNK, np.uint32)
    places = np.empty(len(ranks), np.int64)
    k, listed_chunk = 0, -1
    for j in range(len(ranks)):
        while ends[k] <= ranks[j]:
            k += 1
        if k != listed_chunk:
            admitted(c, chunks[k], kinds[chunks[k]], used[chunks[k]], q, flags)
            listed(flags, used[chunks[k]], found)
            listed_chunk = k
        before = ends[k - 1] if k > 0 else 0
        places[j] = chunks[k] * CHUNK + found[ranks[j] - before]
    return places
