"""Sums over everybody whom a person may meet, by e to the surplus. Tiles are computed again; the matrix is never stored."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled
from kaczmatch.core.vectors import Vector
from kaczmatch.recommend.index.search_kernel import Float32s
from kaczmatch.recommend.picks.tile_kernel import TILE, Keys, TileColumns, offer, product

Pairs = NDArray[np.int32]


@compiled
def surplus_sums(c: TileColumns, pairs: Pairs, steepness: np.float32, weight: Float32s) -> Vector:
    """Per person i: Σⱼ exp(steepness · mᵢⱼ) weightⱼ over these pairs of tiles."""
    sums = np.zeros(len(c.age))
    forward, backward = np.empty((TILE, TILE), np.float32), np.empty((TILE, TILE), np.float32)
    column = np.empty(TILE, np.float32)
    for turn in range(len(pairs)):
        begin_i, begin_j = pairs[turn, 0] * TILE, pairs[turn, 1] * TILE
        _fill_tile(c, pairs[turn, 0], pairs[turn, 1], steepness, forward, backward)
        column[:] = np.float32(0.0)
        for i in range(TILE):
            sums[begin_i + i] += _add(forward[i], weight[begin_j : begin_j + TILE], weight[begin_i + i], column)
        for j in range(TILE):
            sums[begin_j + j] += column[j]
    return sums


@compiled
def keep_largest(
    c: TileColumns, pairs: Pairs, steepness: np.float32, weight: Float32s, scale: Float32s, floor: Float32s, best: Keys
) -> None:
    """Per person i keep the j with the largest exp(steepness · mᵢⱼ) weightⱼ scaleᵢ, which must not exceed 1."""
    forward, backward = np.empty((TILE, TILE), np.float32), np.empty((TILE, TILE), np.float32)
    for turn in range(len(pairs)):
        begin_i, begin_j = pairs[turn, 0] * TILE, pairs[turn, 1] * TILE
        _fill_tile(c, pairs[turn, 0], pairs[turn, 1], steepness, forward, backward)
        for i in range(TILE):
            row = begin_i + i
            for j in range(TILE):
                surplus = forward[i, j]
                if surplus > np.float32(0.0):
                    other = begin_j + j
                    if surplus * weight[other] * scale[row] >= floor[row]:
                        offer(best, floor, row, other, surplus * weight[other] * scale[row])
                    if surplus * weight[row] * scale[other] >= floor[other]:
                        offer(best, floor, other, row, surplus * weight[row] * scale[other])


@compiled
def _fill_tile(c: TileColumns, first: int, other: int, steepness: np.float32, forward: Float32s, backward: Float32s) -> None:
    """exp(steepness · m) in `forward` for people of two tiles, each pair once, and 0 where two may not meet."""
    begin_i, begin_j = first * TILE, other * TILE
    product(c.weights[begin_i : begin_i + TILE], c.profiles_by_tile[other], forward)
    product(c.profiles[begin_i : begin_i + TILE], c.weights_by_tile[other], backward)
    share = c.random_share[begin_j : begin_j + TILE]
    am, look = c.i_am[begin_j : begin_j + TILE], c.i_look_for[begin_j : begin_j + TILE]
    age, greatest = c.age[begin_j : begin_j + TILE], c.greatest_age[begin_j : begin_j + TILE]
    youngest, oldest = c.youngest[begin_j : begin_j + TILE], c.oldest[begin_j : begin_j + TILE]
    x, y, z = c.x[begin_j : begin_j + TILE], c.y[begin_j : begin_j + TILE], c.z[begin_j : begin_j + TILE]
    reach = c.max_squared_chord[begin_j : begin_j + TILE]
    for i in range(TILE):
        row, values, back = begin_i + i, forward[i], backward[i]
        own = c.random_share[row]
        for j in range(TILE):
            values[j] = _exponential(steepness * _probability(values[j], own) * _probability(back[j], share[j]))
        look_i, am_i, age_i, greatest_i = c.i_look_for[row], c.i_am[row], c.age[row], c.greatest_age[row]
        youngest_i, oldest_i, reach_i = c.youngest[row], c.oldest[row], c.max_squared_chord[row]
        x_i, y_i, z_i = c.x[row], c.y[row], c.z[row]
        for j in range(TILE):
            east, north, up = x_i - x[j], y_i - y[j], z_i - z[j]
            fits = ((look_i & am[j]) != 0) & ((look[j] & am_i) != 0)
            fits &= (greatest[j] >= youngest_i) & (age[j] <= oldest_i) & (greatest_i >= youngest[j]) & (age_i <= oldest[j])
            fits &= east * east + north * north + up * up <= min(reach_i, reach[j])
            values[j] = values[j] if fits else np.float32(0.0)
        for at in range(c.excluded_from[row], c.excluded_from[row + 1]):
            if begin_j <= c.excluded[at] < begin_j + TILE:
                values[c.excluded[at] - begin_j] = np.float32(0.0)
        if first == other:
            values[: i + 1] = np.float32(0.0)


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _add(  # pragma: no cover
    values: Float32s, weight: Float32s, own: np.float32, column: Float32s
) -> np.float32:
    """Add a row times the weight of its person to `column`; returns the sum of the row by the others' weights."""
    total = np.float32(0.0)
    for j in range(TILE):
        total += values[j] * weight[j]
        column[j] += values[j] * own
    return total


@compiled
def _probability(z: np.float32, random_share: np.float32) -> np.float32:
    """c/2 + (1 − c)Φ(z) to 2e-6: Abramowitz and Stegun 7.1.28."""
    x = abs(z) * np.float32(0.70710678)
    t = x * (np.float32(0.0002765672) + x * np.float32(0.0000430638))
    t = x * (np.float32(0.0422820123) + x * (np.float32(0.0092705272) + x * (np.float32(0.0001520143) + t)))
    t = np.float32(1.0) + x * (np.float32(0.0705230784) + t)
    t = t * t
    t = t * t
    t = t * t
    half = np.float32(0.5) - np.float32(0.5) / (t * t)
    signed = half if z > np.float32(0.0) else -half
    return np.float32(0.5) + (np.float32(1.0) - random_share) * signed


@compiled
def _exponential(x: np.float32) -> np.float32:
    """eˣ for 0 ≤ x ≤ 50 to 4e-5 of itself: a short series of x/256, squared eight times, which runs in vector registers."""
    y = x * np.float32(1.0 / 256.0)
    e = np.float32(1.0 / 6.0) + y * (np.float32(1.0 / 24.0) + y * np.float32(1.0 / 120.0))
    e = np.float32(1.0) + y * (np.float32(1.0) + y * (np.float32(0.5) + y * e))
    for _ in range(8):
        e = e * e
    return e
