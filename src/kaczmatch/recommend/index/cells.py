"""Cells: boxes of birth dates and places that share out the people of a kind among chunks.

People who are close in age and place lie together, so a search passes over chunks whose people nobody can meet, and need not look
row by row where all of a chunk can be met. It is a k-d tree (Bentley 1975) of which only the leaves are kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled_short
from kaczmatch.core.vectors import Integers, Matrix
from kaczmatch.recommend.index.columns import IndexColumns

DIMENSIONS = 4  # birth date and place on the unit sphere
_SCALES = np.array([100_000.0, 0.01, 0.01, 0.01])  # ten years, and about sixty kilometres: what people often set as limits
_SAMPLE = 4_096  # points by which the widest dimension is told
_TIE = np.array([1.0, 1e-9, 1e-9, 1e-9])  # below the distance of two values that differ

Cell = NDArray[np.float64]  # lowest values, which are inside, and highest ones, which are not


def points_of(rows: IndexColumns) -> Matrix:
    """Birth date and place of each row. Ties are broken by a hash of the person's number, so that any crowd can be split."""
    place = [rows.born.astype(np.float64), *(column.astype(np.float64) for column in (rows.x, rows.y, rows.z))]
    tie = (rows.person.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(11)) / 2.0**53
    return np.ascontiguousarray(np.array(place).T + tie[:, None] * _TIE)


def split(points: Matrix, cell: Cell, most: int) -> list[tuple[Integers, Cell]]:
    """Parts of at most so many points each, about equally large, with their cells. Every cut is along the widest dimension."""
    waiting, parts = [(np.arange(len(points)), cell)], list[tuple[Integers, Cell]]()
    while waiting:
        rows, box = waiting.pop()
        number = -(-len(rows) // most)
        if number <= 1:
            parts.append((rows, box))
            continue
        across = int(np.argmax(points[rows[:: -(-len(rows) // _SAMPLE)]].std(axis=0) / _SCALES))
        values = points[rows, across]
        at = len(rows) * (number // 2) // number
        ordered = np.partition(values, at)
        cut = (ordered[:at].max() + ordered[at]) / 2.0  # between two people, so that it is nobody's own
        below, above = box.copy(), box.copy()
        below[1, across] = above[0, across] = cut
        waiting += [(rows[values >= cut], above), (rows[values < cut], below)]
    return parts


@compiled_short
def cell_of_each(points: Matrix, chunks: Integers, cells: NDArray[np.float64]) -> Integers:
    """The chunk of each point: the one whose cell it is in."""
    found = np.empty(len(points), np.int64)
    for j in range(len(points)):
        for chunk in chunks:
            inside = True
            for k in range(points.shape[1]):
                inside &= (cells[chunk, 0, k] <= points[j, k]) & (points[j, k] < cells[chunk, 1, k])
            if inside:
                found[j] = chunk
                break
    return found
