"""The kernels of `probit-traits` (`probit_traits.py` has the formulas)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled, compiled_short, dot, usable_norm
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.belief.behaviour import BEHAVIOUR_CELLS
from kaczmatch.learners.belief.gaussian_kernels import forget_towards, like_probability, update_gains
from kaczmatch.learners.kernels import BAD_FEATURES, DONE, forget_kernel, predict_kernel, predict_rows_kernel, swipe_kernel
from kaczmatch.learners.state import row_of


@compiled
def trait_coordinates(features: Vector, said: Vector, traits: int) -> Vector:
    """φ = (x̃, 1, z̄); empty where the features cannot be used. Traits of which nothing is known are 0."""
    d = features.shape[0]
    squared = dot(features, features)
    if not usable_norm(squared):
        return np.empty(0)
    x = np.zeros(d + 1 + traits)
    scale = 1.0 / math.sqrt(squared) if squared > 0.0 else 0.0
    for i in range(d):
        x[i] = features[i] * scale
    x[d] = 1.0
    if said.shape[0] == 2 * traits:
        for k in range(traits):
            x[d + 1 + k] = said[k]
    return x


@compiled
def coordinate_rows(features: Matrix, said: Matrix, traits: int) -> tuple[Matrix, bool]:
    """φ of each row, and whether all rows can be used."""
    x, usable = np.zeros((len(features), features.shape[1] + 1 + traits)), True
    for j in range(len(features)):
        row = trait_coordinates(features[j], said[j], traits)
        usable &= row.shape[0] > 0
        for i in range(row.shape[0]):
            x[j, i] = row[i]
    return x, usable


# The cells between P and the behaviour: length of m, slope c, and of how many tags the threshold is kept apart.
SHAPE_CELLS = 3


@compiled
def score_moments(cells: Vector, x: Vector, said: Vector, traits: int, alone: int) -> tuple[float, float, Vector]:
    """φ·m, its variance with the doubts, and Pφ' as P is kept. The first `alone` coordinates have only variances."""
    n = x.shape[0]
    px = np.empty(n)
    slope, first = cells[-BEHAVIOUR_CELLS - 2], int(cells[-BEHAVIOUR_CELLS - 1])
    spread = 0.0
    for i in range(alone):
        apart = x[i] - slope if i < first else x[i]
        px[i] = cells[n + i] * apart
        spread += apart * px[i]
    place = n + alone
    for i in range(alone, n):
        s = 0.0
        for j in range(alone, i):
            entry = cells[place + j - alone]
            s += entry * x[j]
            px[j] += entry * x[i]
        px[i] = s + cells[place + i - alone] * x[i]
        place += i - alone + 1
    spread += dot(x[alone:], px[alone:])
    known = said.shape[0] == 2 * traits
    for k in range(traits):
        i = n - traits + k
        row = i - alone
        variance = cells[n + alone + row * (row + 3) // 2]
        spread += (said[traits + k] if known else 1.0) * (cells[i] * cells[i] + variance)
    return dot(x, cells[:n]), spread, px


@swipe_kernel
def swipe(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    traits = int(parameters[2])
    x = trait_coordinates(features, said, traits)
    n = x.shape[0]
    if n == 0:
        return BAD_FEATURES
    alone = 0 if parameters[3] > 0.0 else features.shape[0]
    score, spread, px = score_moments(cells, x, said, traits, alone)
    step, shrink, answer = update_gains(score, spread, label, parameters, cells[-BEHAVIOUR_CELLS:])
    for i in range(n):
        cells[i] += step * px[i]
    moved = 0.0
    for i in range(alone):
        cells[n + i] -= shrink * px[i] * px[i]
        moved += px[i] if i < int(cells[-BEHAVIOUR_CELLS - 1]) else 0.0
    cells[features.shape[0]] -= step * cells[-BEHAVIOUR_CELLS - 2] * moved
    place = n + alone
    for i in range(alone, n):
        for j in range(alone, i + 1):
            cells[place + j - alone] -= shrink * px[i] * px[j]
        place += i - alone + 1
    return answer


@predict_kernel
def predict(cells: Vector, features: Vector, said: Vector, parameters: Vector) -> float:
    traits = int(parameters[2])
    x = trait_coordinates(features, said, traits)
    if x.shape[0] == 0:
        return math.nan
    score, spread, _ = score_moments(cells, x, said, traits, 0 if parameters[3] > 0.0 else features.shape[0])
    return like_probability(score, spread, parameters, cells[-BEHAVIOUR_CELLS:])


@predict_rows_kernel
def predict_rows(cells: Vector, features: Matrix, said: Matrix, parameters: Vector) -> Vector:
    """`predict` for many candidates."""
    found = np.empty(len(features))
    for i in range(len(features)):
        found[i] = predict(cells, features[i], said[i], parameters)
    return found


@compiled_short
def predict_users(
    kept: Matrix, changed: Matrix, rows: NDArray[np.int32], features: Vector, said: Vector, parameters: Vector
) -> Vector:
    """`predict` for many users, whose cells are rows of `StateRows`. Many are still at the start: the first row."""
    traits, found, at_start = int(parameters[2]), np.full(len(rows), np.nan), np.nan
    x = trait_coordinates(features, said, traits)
    alone = 0 if parameters[3] > 0.0 else features.shape[0]
    for j in range(len(rows) if x.shape[0] else 0):
        if rows[j] == 0 and not math.isnan(at_start):
            found[j] = at_start
            continue
        cells = row_of(kept, changed, rows[j])
        score, spread, _ = score_moments(cells, x, said, traits, alone)
        found[j] = like_probability(score, spread, parameters, cells[-BEHAVIOUR_CELLS:])
        if rows[j] == 0:
            at_start = found[j]
    return found


@compiled
def score_variances(cells: Vector, x: Matrix, traits: int, alone: int) -> Vector:
    """The variance of the score of each row of coordinates, without doubts about candidates."""
    found, n = np.empty(len(x)), x.shape[1]
    slope, first = cells[-BEHAVIOUR_CELLS - 2], int(cells[-BEHAVIOUR_CELLS - 1])
    rest = unpacked(cells[n + alone :], n - alone)
    for j in range(len(x)):
        row, total = x[j], 0.0
        for i in range(alone):
            apart = row[i] - slope * row[n - 1 - traits] if i < first else row[i]
            total += apart * apart * cells[n + i]
        for i in range(alone, n):
            total += row[i] * dot(rest[i - alone], row[alone:])
        found[j] = total
    return found


@compiled
def unpacked(lower: Vector, size: int) -> Matrix:
    """A symmetric matrix from the rows of its lower triangle, one after the other."""
    found, place = np.empty((size, size)), 0
    for i in range(size):
        for j in range(i + 1):
            found[i, j] = found[j, i] = lower[place]
            place += 1
    return found


@forget_kernel
def forget(cells: Vector, start: Vector, keep: float) -> int:
    forget_towards(start, cells, keep, int(cells[-BEHAVIOUR_CELLS - SHAPE_CELLS]))
    return DONE
