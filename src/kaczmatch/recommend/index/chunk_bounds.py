"""What the rows of a chunk have in common, so that filters which all or none of them pass are not checked row by row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled_short
from kaczmatch.core.vectors import Integers
from kaczmatch.recommend.index.columns import CHUNK, Array, IndexColumns


class ChunkBounds(NamedTuple):
    """One value per chunk."""

    all_look_for: Array  # kinds that everybody looks for
    some_look_for: Array
    first_born: Array
    last_born: Array
    least_youngest: Array  # of the ages from which people look
    greatest_youngest: Array
    least_oldest: Array  # and of those up to which they do
    greatest_oldest: Array
    low: Array  # the box of their places,
    high: Array
    least_reach: Array  # and how far they look, as squared chords
    greatest_reach: Array
    learned: Array  # how many have learned something: they come first

    @classmethod
    def empty(cls, chunks: int) -> ChunkBounds:
        """Of so many chunks without rows."""
        look, number, age = (np.zeros(chunks, kind) for kind in (np.uint32, np.int32, np.uint8))
        place, reach = np.zeros((chunks, 3), np.float32), np.zeros(chunks, np.float32)
        return cls(*(one.copy() for one in (look, look, number, number, age, age, age, age, place, place, reach, reach, number)))


@compiled_short
def measure(c: IndexColumns, used: NDArray[np.int32], chunks: Integers, b: ChunkBounds) -> None:
    """Write the bounds of some chunks, except who has learned something."""
    for chunk in chunks:
        n = used[chunk]
        if n == 0:  # nothing of the last one stays
            b.all_look_for[chunk] = b.some_look_for[chunk] = 0
            b.first_born[chunk] = b.last_born[chunk] = 0
            b.least_youngest[chunk] = b.greatest_youngest[chunk] = b.least_oldest[chunk] = b.greatest_oldest[chunk] = 0
            b.low[chunk] = b.high[chunk] = 0.0
            b.least_reach[chunk] = b.greatest_reach[chunk] = 0.0
            continue
        every, some = ~np.uint32(0), np.uint32(0)
        for i in range(n):
            every &= c.i_look_for[chunk, i]
            some |= c.i_look_for[chunk, i]
        b.all_look_for[chunk], b.some_look_for[chunk] = every, some
        b.first_born[chunk], b.last_born[chunk] = c.born[chunk, :n].min(), c.born[chunk, :n].max()
        b.least_youngest[chunk], b.greatest_youngest[chunk] = c.youngest[chunk, :n].min(), c.youngest[chunk, :n].max()
        b.least_oldest[chunk], b.greatest_oldest[chunk] = c.oldest[chunk, :n].min(), c.oldest[chunk, :n].max()
        b.low[chunk, 0], b.high[chunk, 0] = c.x[chunk, :n].min(), c.x[chunk, :n].max()
        b.low[chunk, 1], b.high[chunk, 1] = c.y[chunk, :n].min(), c.y[chunk, :n].max()
        b.low[chunk, 2], b.high[chunk, 2] = c.z[chunk, :n].min(), c.z[chunk, :n].max()
        reach = c.max_squared_chord[chunk, :n]
        b.least_reach[chunk], b.greatest_reach[chunk] = reach.min(), reach.max()


@compiled_short
def count_learned(
    flags: NDArray[np.uint8], used: NDArray[np.int32], chunks: Integers, learned: NDArray[np.int32]
) -> tuple[Integers, Integers]:
    """Write how many have learned something in some chunks. Returns places to exchange, so that those come first.

    It looks at a copy: another process may overwrite a row of a file that this one has mapped. Any value but 0 counts as 1.
    """
    total = 0
    for chunk in chunks:
        total += used[chunk]
    one, other, found = np.empty(total, np.int64), np.empty(total, np.int64), 0
    for chunk in chunks:
        has = flags[chunk, : used[chunk]] != 0
        end = 0
        for i in range(len(has)):
            end += has[i]
        learned[chunk], behind = end, end
        for i in range(end):
            if not has[i]:
                while not has[behind]:
                    behind += 1
                one[found], other[found] = chunk * CHUNK + i, chunk * CHUNK + behind
                found, behind = found + 1, behind + 1
    return one[:found], other[:found]
