"""The kernels of `probit-traits` (`probit_traits.py` has the formulas)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled, compiled_short, dot
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.belief.behaviour import BEHAVIOUR_CELLS
from kaczmatch.learners.belief.gaussian_kernels import forget_towards, like_probability, unit_rows_and_one, update_gains
from kaczmatch.learners.kernels import BAD_FEATURES, DONE, forget_kernel, predict_kernel, predict_rows_kernel, swipe_kernel
from kaczmatch.learners.state import row_of


@compiled
def trait_coordinates(features: Vector, said: Vector, traits: int, directions: int) -> Vector:
    """φ = (x̃, 1, Ux̃, z̄); empty where the features cannot be used. Where nothing is known, the last two are 0."""
    x, usable = coordinate_rows(features.reshape(1, -1), said.reshape(1, -1), traits, directions)
    return x[0] if usable else np.empty(0)


@compiled
def coordinate_rows(features: Matrix, said: Matrix, traits: int, directions: int) -> tuple[Matrix, bool]:
    """φ of each row, and whether all rows can be used."""
    many = directions + traits
    x, usable = unit_rows_and_one(features, many)
    x[:, features.shape[1] + 1 :] = said[:, :many] if said.shape[1] == many + traits else np.zeros((len(said), many))
    return x, usable


@compiled
def _doubts(said: Vector, traits: int) -> Vector:
    """About the traits, 1 where nothing is known: what is known ends with them."""
    return said[said.shape[0] - traits :] if said.shape[0] >= 2 * traits else np.ones(traits)


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
    doubts = _doubts(said, traits)
    for k in range(traits):
        i = n - traits + k
        row = i - alone
        variance = cells[n + alone + row * (row + 3) // 2]
        spread += doubts[k] * (cells[i] * cells[i] + variance)
    return dot(x, cells[:n]), spread, px


@swipe_kernel
def swipe(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    traits = int(parameters[2])
    x = trait_coordinates(features, said, traits, int(parameters[4]))
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
    x = trait_coordinates(features, said, traits, int(parameters[4]))
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
    x = trait_coordinates(features, said, traits, int(parameters[4]))
    n, alone = x.shape[0], 0 if parameters[3] > 0.0 else features.shape[0]
    if n == 0:
        return found
    counts, doubts = _variance_counts(x, said, traits, alone), _doubts(said, traits)
    squares, slope, first = np.empty(alone), np.nan, -1
    for j in range(len(rows)):
        if rows[j] == 0 and not math.isnan(at_start):
            found[j] = at_start
            continue
        cells = row_of(kept, changed, rows[j])
        if cells[-BEHAVIOUR_CELLS - 2] != slope or int(cells[-BEHAVIOUR_CELLS - 1]) != first:  # mostly all have the same prior
            slope, first = cells[-BEHAVIOUR_CELLS - 2], int(cells[-BEHAVIOUR_CELLS - 1])
            for i in range(alone):
                apart = x[i] - slope if i < first else x[i]
                squares[i] = apart * apart
        spread = dot(squares, cells[n : n + alone]) + dot(counts, cells[n + alone : n + alone + counts.shape[0]])
        for k in range(traits):
            spread += doubts[k] * cells[n - traits + k] * cells[n - traits + k]
        found[j] = like_probability(dot(x, cells[:n]), spread, parameters, cells[-BEHAVIOUR_CELLS:])
        if rows[j] == 0:
            at_start = found[j]
    return found


@compiled
def _variance_counts(x: Vector, said: Vector, traits: int, alone: int) -> Vector:
    """What each cell of P beyond the first `alone` coordinates counts in the variance of a score with its doubts."""
    rest, doubts = x.shape[0] - alone, _doubts(said, traits)
    counts, place = np.empty(rest * (rest + 1) // 2), 0
    for i in range(rest):
        for j in range(i):
            counts[place] = 2.0 * x[alone + i] * x[alone + j]
            place += 1
        counts[place] = x[alone + i] * x[alone + i]
        if i >= rest - traits:
            counts[place] += doubts[i - rest + traits]
        place += 1
    return counts


@compiled
def score_variances(cells: Vector, x: Matrix, threshold: int, alone: int) -> Vector:
    """The variance of the score of each row of coordinates, without doubts about candidates."""
    found, n = np.empty(len(x)), x.shape[1]
    slope, first = cells[-BEHAVIOUR_CELLS - 2], int(cells[-BEHAVIOUR_CELLS - 1])
    variances, squares = cells[n : n + alone], np.empty(alone)
    for j in range(len(x)):
        for i in range(alone):
            apart = x[j, i] - slope * x[j, threshold] if i < first else x[j, i]
            squares[i] = apart * apart
        total, place = dot(squares, variances), n + alone
        for i in range(alone, n):
            beside = 0.0
            for k in range(alone, i):
                beside += cells[place] * x[j, k]
                place += 1
            total += x[j, i] * (2.0 * beside + cells[place] * x[j, i])
            place += 1
        found[j] = total
    return found


@compiled
def decision_noise(cells: Vector, said: Matrix, n: int, alone: int, parameters: Vector) -> Vector:
    """α, and what doubts about each candidate add to it: Σ S (v̄² + its variance)."""
    found, traits = np.full(len(said), parameters[0]), int(parameters[2])
    for k in range(traits):
        row = n - alone - traits + k
        weight = cells[n - traits + k]
        felt = weight * weight + cells[n + alone + row * (row + 3) // 2]
        for j in range(len(said)):
            found[j] += said[j, said.shape[1] - traits + k] * felt
    return found


@compiled
def drawn_tastes(cells: Vector, noise: Matrix, threshold: int, alone: int) -> Matrix:
    """A taste of the belief from each row of standard normal numbers."""
    n = noise.shape[1]
    slope, first = cells[-BEHAVIOUR_CELLS - 2], int(cells[-BEHAVIOUR_CELLS - 1])
    root, tastes = _lower_root(unpacked(cells[n + alone :], n - alone)), np.empty(noise.shape)
    deviations = np.sqrt(cells[n : n + alone])
    for j in range(len(noise)):
        apart = 0.0
        for i in range(alone):
            moved = deviations[i] * noise[j, i]
            tastes[j, i] = cells[i] + moved
            apart += moved if i < first else 0.0
        for i in range(alone, n):
            moved = 0.0
            for k in range(i - alone + 1):
                moved += root[i - alone, k] * noise[j, alone + k]
            tastes[j, i] = cells[i] + moved
        tastes[j, threshold] -= slope * apart
    return tastes


@compiled
def _lower_root(matrix: Matrix) -> Matrix:
    """The Cholesky factor. A variance that rounding made negative counts as none."""
    root = np.zeros(matrix.shape)
    for i in range(len(matrix)):
        for j in range(i + 1):
            left = matrix[i, j] - np.sum(root[i, :j] * root[j, :j])
            if i == j:
                root[i, i] = math.sqrt(max(left, 0.0))
            elif root[j, j] > 0.0:
                root[i, j] = left / root[j, j]
    return root


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
