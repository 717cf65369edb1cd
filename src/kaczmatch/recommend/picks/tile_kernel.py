"""Tiles of people against tiles: both products, then everybody who may be among somebody's best.

Proposals use float32 and a rounded Φ. A bound on their error, per person, makes sure that nobody is missed. Whoever is
proposed is filtered and scored again in double precision, and that score decides.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled
from kaczmatch.core.intrinsics import fetch_and_increment
from kaczmatch.core.vectors import Integers
from kaczmatch.recommend.index.search_kernel import Float32s, approximate_probability

TILE = 128
_APPROXIMATION = 2.6e-4  # of Φ by `approximate_probability`: Abramowitz and Stegun 7.1.27 is within 2.5e-4
_ROOT_HALF = math.sqrt(0.5)

UNIT = 2.0**-30  # scores are compared in whole numbers of this, so that ties are ties on every machine

Keys = NDArray[np.uint64]  # per person: a score in units, then the row counted from the end, so that larger is better


class TileColumns(NamedTuple):
    """The columns of `PickColumns`, padded to whole tiles, and what tiles have in common."""

    weights: Float32s
    profiles: Float32s
    weights_by_tile: Float32s  # tile x dimension x row
    profiles_by_tile: Float32s
    random_share: Float32s
    slack: Float32s  # how far a proposal's probability can be off,
    tile_slack: Float32s  # and the largest of each tile
    i_am: NDArray[np.uint32]
    i_look_for: NDArray[np.uint32]
    age: NDArray[np.int32]  # the least that is possible,
    greatest_age: NDArray[np.int32]  # and the greatest: the same, but for people who have given none
    youngest: NDArray[np.int32]
    oldest: NDArray[np.int32]
    tile_youngest: NDArray[np.int32]
    tile_oldest: NDArray[np.int32]
    x: Float32s
    y: Float32s
    z: Float32s
    max_squared_chord: Float32s
    excluded: NDArray[np.int32]
    excluded_from: Integers


@compiled
def meet_tiles(
    c: TileColumns, pairs: NDArray[np.int32], turns: Integers, floor: Float32s, best: Keys, stop: NDArray[np.bool_]
) -> None:
    """Let pairs of tiles meet, until none is left that no other thread has taken. `best` belongs to this thread.

    `floor` is shared: a lower bound of everybody's k-th best score. A bound that another thread overwrites with its own is still
    a bound.
    """
    forward, backward = np.empty((TILE, TILE), np.float32), np.empty((TILE, TILE), np.float32)
    mutual, flags = np.empty(TILE, np.float32), np.zeros(TILE, np.uint8)
    eights = flags.view(np.uint64)
    limit_j, penalty = np.empty(TILE, np.float32), np.empty(TILE, np.float32)
    weights, profiles, random_share, excluded, excluded_from = c.weights, c.profiles, c.random_share, c.excluded, c.excluded_from
    turn = fetch_and_increment(turns)
    while turn < len(pairs) and not stop[0]:
        first, other = pairs[turn, 0], pairs[turn, 1]
        begin_i, begin_j = first * TILE, other * TILE
        product(c.weights[begin_i : begin_i + TILE], c.profiles_by_tile[other], forward)
        product(c.profiles[begin_i : begin_i + TILE], c.weights_by_tile[other], backward)
        shares = c.random_share[begin_j : begin_j + TILE]
        low, high = c.tile_youngest[first], c.tile_oldest[first]
        for j in range(TILE):
            row = begin_j + j
            limit_j[j] = floor[row] - c.slack[row] - c.tile_slack[first]
            penalty[j] = np.float32(0.0) if c.youngest[row] <= high and c.oldest[row] >= low else np.float32(4.0)
        for i in range(TILE):
            row = begin_i + i
            if c.youngest[row] > c.tile_oldest[other] or c.oldest[row] < c.tile_youngest[other]:
                continue
            limit, share = floor[row] - c.slack[row] - c.tile_slack[other], c.random_share[row]
            ahead, back = forward[i], backward[i]
            for j in range(TILE):
                mutual[j] = approximate_probability(ahead[j], share) * approximate_probability(back[j], shares[j]) - penalty[j]
            for j in range(TILE):
                flags[j] = mutual[j] >= min(limit, limit_j[j])
            for eight in range(TILE // 8):
                if eights[eight] == 0:
                    continue
                for j in range(8 * eight, 8 * eight + 8):
                    candidate = begin_j + j
                    if not flags[j] or (first == other and j <= i) or not _may_meet(c, row, candidate):
                        continue
                    if _excludes(excluded, excluded_from[row], excluded_from[row + 1], candidate):
                        continue
                    score = _mutual_probability(weights, profiles, random_share, row, candidate)
                    offer(best, floor, row, candidate, score)
                    offer(best, floor, candidate, row, score)
        turn = fetch_and_increment(turns)


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})  # fused, since proposals need no exact bits
def product(rows: Float32s, columns: Float32s, out: Float32s) -> None:  # pragma: no cover
    """`rows` times `columns`, four rows and four dimensions at a time, which keeps the sums in registers."""
    for i in range(0, TILE, 4):
        a, b, c, d = out[i], out[i + 1], out[i + 2], out[i + 3]
        for j in range(TILE):
            a[j] = b[j] = c[j] = d[j] = np.float32(0.0)
        for k in range(0, rows.shape[1], 4):
            a0, a1, a2, a3 = rows[i, k], rows[i, k + 1], rows[i, k + 2], rows[i, k + 3]
            b0, b1, b2, b3 = rows[i + 1, k], rows[i + 1, k + 1], rows[i + 1, k + 2], rows[i + 1, k + 3]
            c0, c1, c2, c3 = rows[i + 2, k], rows[i + 2, k + 1], rows[i + 2, k + 2], rows[i + 2, k + 3]
            d0, d1, d2, d3 = rows[i + 3, k], rows[i + 3, k + 1], rows[i + 3, k + 2], rows[i + 3, k + 3]
            p0, p1, p2, p3 = columns[k], columns[k + 1], columns[k + 2], columns[k + 3]
            for j in range(TILE):
                q0, q1, q2, q3 = p0[j], p1[j], p2[j], p3[j]
                a[j] += a0 * q0 + a1 * q1 + a2 * q2 + a3 * q3
                b[j] += b0 * q0 + b1 * q1 + b2 * q2 + b3 * q3
                c[j] += c0 * q0 + c1 * q1 + c2 * q2 + c3 * q3
                d[j] += d0 * q0 + d1 * q1 + d2 * q2 + d3 * q3


@numba.njit(inline="always", error_model="numpy")  # a call would count references to all columns, pair by pair
def _may_meet(c: TileColumns, i: int, j: int) -> bool:  # pragma: no cover
    """The hard filters, exactly as `people/filters.py` has them."""
    if (c.i_look_for[i] & c.i_am[j]) == 0 or (c.i_look_for[j] & c.i_am[i]) == 0:
        return False
    if c.greatest_age[j] < c.youngest[i] or c.age[j] > c.oldest[i] or c.greatest_age[i] < c.youngest[j] or c.age[i] > c.oldest[j]:
        return False
    east, north, up = c.x[i] - c.x[j], c.y[i] - c.y[j], c.z[i] - c.z[j]
    return bool(east * east + north * north + up * up <= min(c.max_squared_chord[i], c.max_squared_chord[j]))


@compiled
def _excludes(excluded: NDArray[np.int32], begin: int, end: int, row: int) -> bool:
    at = begin + np.searchsorted(excluded[begin:end], row)
    return bool(at < end and excluded[at] == row)


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _mutual_probability(  # pragma: no cover
    weights: Float32s, profiles: Float32s, random_share: Float32s, i: int, j: int
) -> float:
    """The mutual probability in double precision, whose last bits do not matter to a `UNIT`."""
    there, back = 0.0, 0.0
    for k in range(weights.shape[1]):
        there += np.float64(weights[i, k]) * np.float64(profiles[j, k])
        back += np.float64(weights[j, k]) * np.float64(profiles[i, k])
    here = 0.5 + (0.5 - 0.5 * np.float64(random_share[i])) * math.erf(there * _ROOT_HALF)
    return here * (0.5 + (0.5 - 0.5 * np.float64(random_share[j])) * math.erf(back * _ROOT_HALF))


@compiled
def offer(best: Keys, floor: Float32s, person: int, candidate: int, score: float) -> None:
    """Keep a candidate if they are among the person's best: a heap whose first key is the worst."""
    units = np.uint64(score / UNIT + 0.5)
    key = (units << np.uint64(32)) | (np.uint64(0xFFFFFFFF) - np.uint64(candidate))
    heap = best[person]
    if key <= heap[0]:
        return
    k, at = len(heap), 0
    while 2 * at + 1 < k:
        child = 2 * at + 1
        if child + 1 < k and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = key
    worst = np.float32(np.float64(heap[0] >> np.uint64(32)) * UNIT)
    if heap[0] > np.uint64(0) and worst > floor[person]:
        floor[person] = worst


def slack_of(weights: Float32s, profiles: Float32s, random_share: Float32s) -> Float32s:
    """How far a proposed probability can be off: Φ has a slope of at most 0.399, and float32 sums D products."""
    dimensions = weights.shape[1]
    longest = float(np.sqrt((profiles.astype(np.float64) ** 2).sum(axis=1).max(initial=0.0)))
    lengths = np.sqrt((weights.astype(np.float64) ** 2).sum(axis=1))
    of_score = (dimensions + 2) * 2.0**-23 * lengths * longest
    return np.asarray((1.0 - random_share) * (0.4 * of_score + _APPROXIMATION) + 1e-6).astype(np.float32)
