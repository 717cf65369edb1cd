"""`probit`: the belief with its full covariance, O(d²) a swipe."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from scipy.special import ndtr

from kaczmatch.core.compiled import add, compiled, dot
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.swipes import Seen
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.belief.gaussian import GaussianLearner, coordinates, gains, likelihood, towards
from kaczmatch.learners.belief.habits import HABITS, after
from kaczmatch.learners.kernels import BAD_FEATURES, DONE, Kernels, foretell_kernel, forget_kernel, swipe_kernel
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.state import State


@compiled
def _padded(n: int) -> int:
    """The length of a row in the kernels: whole vector registers, so that no remainder is left to scalar code."""
    return (n + 3) // 4 * 4


@compiled
def _times(p: Matrix, x: Vector) -> Vector:
    """Px, four of its rows at a time."""
    n, length = p.shape
    present = np.empty(n, np.int64)  # found without branching: which tags a candidate has cannot be predicted
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
        add(px, x[present[c]], p[present[c]])
    return px


@swipe_kernel
def swipe(work: Vector, features: Vector, appeal: float, label: float, parameters: Vector) -> int:
    """On the mean and the whole of P: half of it twice, for rows that vectorise."""
    x = coordinates(features, appeal, parameters)
    n = x.shape[0]
    if n == 0:
        return BAD_FEATURES
    length = _padded(n)
    mean, p, habits = work[:length], work[length:-HABITS].reshape(n, length), work[-HABITS:]
    px = _times(p, x)
    step, shrink, answer = gains(dot(x, mean[:n]), dot(x, px[:n]), label, parameters, habits)
    add(mean, step, px)
    for i in range(n):
        for j in range(length):
            p[i, j] -= (px[i] * px[j]) * shrink  # px first: the same bits on both sides of the diagonal
    return answer


@foretell_kernel
def foretell(work: Vector, features: Vector, appeal: float, parameters: Vector) -> float:
    x = coordinates(features, appeal, parameters)
    n = x.shape[0]
    if n == 0:
        return math.nan
    length = _padded(n)
    px = _times(work[length:-HABITS].reshape(n, length), x)
    return likelihood(dot(x, work[:n]), dot(x, px[:n]), parameters, work[-HABITS:])


@forget_kernel
def forget(work: Vector, start: Vector, keep: float) -> int:
    length = 4
    while length * (length + 1) < work.shape[0] - HABITS:
        length += 4
    towards(start, work, keep, length)
    return DONE


@compiled
def _expanded(cells: Vector, n: int) -> Vector:
    """Mean and whole covariance, in padded rows, from mean and lower triangle."""
    length = _padded(n)
    work = np.zeros(length * (n + 1) + HABITS)
    p = work[length:-HABITS].reshape(n, length)
    place = n
    for i in range(n):
        work[i] = cells[i]
        for j in range(i + 1):
            p[i, j] = p[j, i] = cells[place + j]
        place += i + 1
    work[-HABITS:] = cells[-HABITS:]
    return work


@compiled
def _compacted(work: Vector, n: int) -> Vector:
    """The way back."""
    length = _padded(n)
    cells = np.empty(n + n * (n + 1) // 2 + HABITS)
    place = n
    for i in range(n):
        cells[i] = work[i]
        row = work[length * (i + 1) :]
        for j in range(i + 1):
            cells[place + j] = row[j]
        place += i + 1
    cells[-HABITS:] = work[-HABITS:]
    return cells


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Probit(GaussianLearner):
    """q = xᵀPx + α, z = y x·m/√q;  m + (y g/√q) Px,  P − (g(g + z)/q) (Px)(Px)ᵀ.

    A state keeps the lower triangle of P, the kernels work on the whole, which stays symmetric to the bit. g(g + z) < 1 keeps
    it positive; after a surprise g(g + z) < 0 and P grows, which is meant (clipping it costs accuracy).
    """

    slug: ClassVar[str] = "probit"
    kernels: ClassVar[Kernels] = Kernels(swipe, forget=forget, foretell=foretell)

    def step(self, m: Vector, p: Matrix, habits: Vector, x: Vector, label: Label) -> tuple[Vector, Matrix, Vector]:
        y, px = sign(label), p @ x
        q = float(x @ px) + self.alpha
        z = y * float(x @ m) / math.sqrt(q)
        g = self.slope(z, habits[0])
        return m + (y * g / math.sqrt(q)) * px, p - (g * (g + z) / q) * np.outer(px, px), after(habits, y, float(ndtr(z)))

    def swiped(self, cells: Vector, seen: Seen, label: Label) -> Vector:
        n = self.size(len(seen.features))
        x = self.coordinates(seen.features, seen.appeal)
        m, p, habits = self.step(cells[:n], _covariance(cells, n), cells[-HABITS:], x, label)
        return np.concatenate([m, _lower(p), habits])

    def fits(self, cells: Vector, dimensions: int) -> bool:
        n = self.size(dimensions)
        return len(cells) == n + n * (n + 1) // 2 + HABITS

    def expand(self, cells: Vector, dimensions: int) -> Vector:
        return _expanded(cells, self.size(dimensions))

    def compact(self, work: Vector, dimensions: int) -> Vector:
        return _compacted(work, self.size(dimensions))

    def room(self, dimensions: int, swipes: int) -> int:
        n = self.size(dimensions)
        return _padded(n) * (n + 1) + HABITS

    def packed(self, covariance: Matrix, prior: Prior) -> Vector:
        return _lower(covariance)

    def entries(self, packed: Matrix) -> Matrix:
        return packed

    def covariance(self, state: State) -> Matrix:
        n = self.size(state.dimensions)
        return _covariance(self._own(state).cells, n)

    def spread(self, state: State, x: Matrix) -> Vector:
        return np.asarray(np.einsum("ij,ij->i", x @ self.covariance(state), x))

    def quadratic(self, x: Matrix) -> Matrix:
        i, j = np.tril_indices(x.shape[1])
        return np.where(i == j, 1.0, 2.0) * x[:, i] * x[:, j]

    def draws(self, state: State, count: int, rng: np.random.Generator) -> Matrix:
        root = np.linalg.cholesky(self.covariance(state))
        return np.asarray(self.mean(state) + rng.standard_normal((count, len(root))) @ root.T)


def _lower(covariance: Matrix) -> Vector:
    lower: Vector = covariance[np.tril_indices(len(covariance))]
    return lower


def _covariance(cells: Vector, n: int) -> Matrix:
    return _expanded(cells, n)[_padded(n) : -HABITS].reshape(n, -1)[:, :n]
