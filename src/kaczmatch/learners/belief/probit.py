"""`probit`: the belief with its full covariance, O(d²) per swipe."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from scipy.special import ndtr

from kaczmatch.core.compiled import add_scaled, compiled, dot
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.swipes import ShownCandidate
from kaczmatch.core.vectors import Integers, Matrix, Vector
from kaczmatch.learners.belief.behaviour import BEHAVIOUR_CELLS, updated_behaviour
from kaczmatch.learners.belief.gaussian import GaussianLearner
from kaczmatch.learners.belief.gaussian_kernels import forget_towards, kernel_coordinates, like_probability, update_gains
from kaczmatch.learners.kernels import (
    BAD_FEATURES,
    DONE,
    Kernels,
    forget_kernel,
    predict_kernel,
    predict_rows_kernel,
    swipe_kernel,
)
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.state import State


@compiled
def _padded(n: int) -> int:
    """The length of a row in the kernels: a multiple of a vector register, so that no remainder is left to scalar code."""
    return (n + 3) // 4 * 4


@compiled
def _times(p: Matrix, x: Vector) -> Vector:
    """Px, four of its rows at a time."""
    n, length = p.shape
    present = np.empty(n, np.int64)  # without branches: the processor cannot predict which tags a candidate has
    count = 0
    for i in range(n):
        present[count] = i
        count += x[i] != 0.0
    px = np.zeros(length)
    whole = count - count % 4
    for c in range(0, whole, 4):
        i0, i1, i2, i3 = present[c], present[c + 1], present[c + 2], present[c + 3]
        x0, x1, x2, x3 = x[i0], x[i1], x[i2], x[i3]
        p0, p1, p2, p3 = p[i0], p[i1], p[i2], p[i3]
        for j in range(length):
            px[j] += (x0 * p0[j] + x1 * p1[j]) + (x2 * p2[j] + x3 * p3[j])
    for c in range(whole, count):
        add_scaled(px, x[present[c]], p[present[c]])
    return px


@swipe_kernel
def swipe(work: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    """Works on the mean and on both triangles of P, so that rows vectorise."""
    x = kernel_coordinates(features, said, parameters)
    n = x.shape[0]
    if n == 0:
        return BAD_FEATURES
    length = _padded(n)
    mean, p, behaviour = work[:length], work[length:-BEHAVIOUR_CELLS].reshape(n, length), work[-BEHAVIOUR_CELLS:]
    px = _times(p, x)
    step, shrink, answer = update_gains(dot(x, mean[:n]), dot(x, px[:n]), label, parameters, behaviour)
    add_scaled(mean, step, px)
    for i in range(n):
        for j in range(length):
            p[i, j] -= (px[i] * px[j]) * shrink  # px first: the same bits on both sides of the diagonal
    return answer


@predict_kernel
def predict(work: Vector, features: Vector, said: Vector, parameters: Vector) -> float:
    x = kernel_coordinates(features, said, parameters)
    n = x.shape[0]
    if n == 0:
        return math.nan
    length = _padded(n)
    px = _times(work[length:-BEHAVIOUR_CELLS].reshape(n, length), x)
    return like_probability(dot(x, work[:n]), dot(x, px[:n]), parameters, work[-BEHAVIOUR_CELLS:])


@predict_rows_kernel
def predict_rows(work: Vector, features: Matrix, said: Matrix, parameters: Vector) -> Vector:
    """`predict` for many candidates."""
    found = np.empty(len(features))
    for i in range(len(features)):
        found[i] = predict(work, features[i], said[i], parameters)
    return found


@forget_kernel
def forget(work: Vector, start: Vector, keep: float) -> int:
    length = 4
    while length * (length + 1) < work.shape[0] - BEHAVIOUR_CELLS:
        length += 4
    forget_towards(start, work, keep, length)
    return DONE


@compiled
def _expanded(cells: Vector, n: int) -> Vector:
    """Mean and whole covariance, in padded rows, from mean and lower triangle."""
    length = _padded(n)
    work = np.zeros(length * (n + 1) + BEHAVIOUR_CELLS)
    p = work[length:-BEHAVIOUR_CELLS].reshape(n, length)
    place = n
    for i in range(n):
        work[i] = cells[i]
        for j in range(i + 1):
            p[i, j] = p[j, i] = cells[place + j]
        place += i + 1
    work[-BEHAVIOUR_CELLS:] = cells[-BEHAVIOUR_CELLS:]
    return work


@compiled
def _compacted(work: Vector, n: int) -> Vector:
    """Mean and lower triangle from mean and whole covariance."""
    length = _padded(n)
    cells = np.empty(n + n * (n + 1) // 2 + BEHAVIOUR_CELLS)
    place = n
    for i in range(n):
        cells[i] = work[i]
        row = work[length * (i + 1) :]
        for j in range(i + 1):
            cells[place + j] = row[j]
        place += i + 1
    cells[-BEHAVIOUR_CELLS:] = work[-BEHAVIOUR_CELLS:]
    return cells


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Probit(GaussianLearner):
    """q = xᵀPx + α, z = y x·m/√q;  m + (y g/√q) Px,  P − (g(g + z)/q) (Px)(Px)ᵀ.

    A state keeps the lower triangle of P. The kernels work on the whole, which stays symmetric to the bit. g(g + z) < 1 keeps P
    positive. After a surprise g(g + z) < 0 and P grows, which is intended: clipping it costs accuracy.
    """

    slug: ClassVar[str] = "probit"
    kernels: ClassVar[Kernels] = Kernels(swipe, forget=forget, predict=predict)

    def step(self, m: Vector, p: Matrix, behaviour: Vector, x: Vector, label: Label) -> tuple[Vector, Matrix, Vector]:
        y, px = sign(label), p @ x
        q = float(x @ px) + self.alpha
        z = y * float(x @ m) / math.sqrt(q)
        g = self.log_likelihood_slope(z, behaviour[0])
        return (
            m + (y * g / math.sqrt(q)) * px,
            p - (g * (g + z) / q) * np.outer(px, px),
            updated_behaviour(behaviour, y, float(ndtr(z))),
        )

    def reference_swipe(self, cells: Vector, candidate: ShownCandidate, label: Label) -> Vector:
        n = self.belief_size(len(candidate.features))
        x = self.coordinates(candidate.features, candidate.appeal)
        m, p, behaviour = self.step(cells[:n], _covariance(cells, n), cells[-BEHAVIOUR_CELLS:], x, label)
        return np.concatenate([m, _lower(p), behaviour])

    def valid_cells(self, cells: Vector, dimensions: int) -> bool:
        n = self.belief_size(dimensions)
        return len(cells) == n + n * (n + 1) // 2 + BEHAVIOUR_CELLS

    def expand(self, cells: Vector, dimensions: int) -> Vector:
        return _expanded(cells, self.belief_size(dimensions))

    def compact(self, work: Vector, dimensions: int) -> Vector:
        return _compacted(work, self.belief_size(dimensions))

    def working_size(self, dimensions: int, swipes: int) -> int:
        n = self.belief_size(dimensions)
        return _padded(n) * (n + 1) + BEHAVIOUR_CELLS

    def predicted(self, work: Vector, features: Matrix, said: Matrix) -> Vector:
        return predict_rows(work, features, said, self.parameters)

    def pack_covariance(self, covariance: Matrix, prior: Prior) -> Vector:
        return _lower(covariance)

    def kept_covariance_cells(self, kept: Integers) -> Integers:
        i, j = np.tril_indices(len(kept))
        return kept[i] * (kept[i] + 1) // 2 + kept[j]

    def covariance_entries(self, packed: Matrix) -> Matrix:
        return packed

    def covariance(self, state: State) -> Matrix:
        n = self.belief_size(state.dimensions)
        return _covariance(self._checked_state(state).cells, n)

    def score_variance(self, state: State, x: Matrix) -> Vector:
        return np.asarray(np.einsum("ij,ij->i", x @ self.covariance(state), x))

    def quadratic_form(self, x: Matrix) -> Matrix:
        i, j = np.tril_indices(x.shape[1])
        return np.where(i == j, 1.0, 2.0) * x[:, i] * x[:, j]

    def draws(self, state: State, count: int, rng: np.random.Generator) -> Matrix:
        root = np.linalg.cholesky(self.covariance(state))
        return np.asarray(self.mean(state) + rng.standard_normal((count, len(root))) @ root.T)


def _lower(covariance: Matrix) -> Vector:
    lower: Vector = covariance[np.tril_indices(len(covariance))]
    return lower


def _covariance(cells: Vector, n: int) -> Matrix:
    return _expanded(cells, n)[_padded(n) : -BEHAVIOUR_CELLS].reshape(n, -1)[:, :n]
