"""`probit`: the belief with its full covariance, O(d²) a swipe."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.compiled import add, compiled, dot
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.swipes import Seen
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.gaussian import GaussianLearner, coordinates, gains, towards
from kaczmatch.learners.kernels import BAD_FEATURES, DONE, Kernels, forget_kernel, swipe_kernel
from kaczmatch.learners.state import State


@swipe_kernel
def swipe(work: Vector, features: Vector, appeal: float, label: float, parameters: Vector) -> int:
    """On the mean and the whole of P: half of it twice, for rows that vectorise."""
    x = coordinates(features, appeal, parameters)
    n = x.shape[0]
    if n == 0:
        return BAD_FEATURES
    mean, p = work[:n], work[n:].reshape(n, n)
    present = np.empty(n, np.int64)  # found without branching: which tags a candidate has cannot be predicted
    count = 0
    for i in range(n):
        present[count] = i
        count += x[i] != 0.0
    px = np.zeros(n)
    for c in range(count):
        i = present[c]
        for j in range(n):
            px[j] += x[i] * p[i, j]
    step, shrink = gains(dot(x, mean), dot(x, px), label, parameters)
    add(mean, step, px)
    for i in range(n):
        for j in range(n):
            p[i, j] -= (px[i] * px[j]) * shrink  # px first: the same bits on both sides of the diagonal
    return DONE


@forget_kernel
def forget(work: Vector, start: Vector, keep: float) -> int:
    towards(start, work, keep, round((math.sqrt(1.0 + 4.0 * work.shape[0]) - 1.0) / 2.0))  # of n + n² cells
    return DONE


@compiled
def _expanded(cells: Vector, n: int) -> Vector:
    """Mean and whole covariance from mean and lower triangle."""
    work = np.empty(n + n * n)
    p = work[n:].reshape(n, n)
    place = n
    for i in range(n):
        work[i] = cells[i]
        for j in range(i + 1):
            p[i, j] = p[j, i] = cells[place + j]
        place += i + 1
    return work


@compiled
def _compacted(work: Vector, n: int) -> Vector:
    """The way back."""
    cells = np.empty(n + n * (n + 1) // 2)
    place = n
    for i in range(n):
        cells[i] = work[i]
        row = work[n * (i + 1) :]
        for j in range(i + 1):
            cells[place + j] = row[j]
        place += i + 1
    return cells


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Probit(GaussianLearner):
    """q = xᵀPx + α, z = y x·m/√q;  m + (y g/√q) Px,  P − (g(g + z)/q) (Px)(Px)ᵀ.

    A state keeps the lower triangle of P, the kernels work on the whole, which stays symmetric to the bit. g(g + z) < 1 keeps
    it positive; after a surprise g(g + z) < 0 and P grows, which is meant (clipping it costs accuracy).
    """

    slug: ClassVar[str] = "probit"
    kernels: ClassVar[Kernels] = Kernels(swipe, forget=forget)

    def step(self, m: Vector, p: Matrix, x: Vector, label: Label) -> tuple[Vector, Matrix]:
        y, px = sign(label), p @ x
        q = float(x @ px) + self.alpha
        z = y * float(x @ m) / math.sqrt(q)
        g = self.slope(z)
        return m + (y * g / math.sqrt(q)) * px, p - (g * (g + z) / q) * np.outer(px, px)

    def swiped(self, cells: Vector, seen: Seen, label: Label) -> Vector:
        n = self.size(len(seen.features))
        m, p = self.step(cells[:n], _covariance(cells, n), self.coordinates(seen.features, seen.appeal), label)
        return np.concatenate([m, self.packed(p)])

    def fits(self, cells: Vector, dimensions: int) -> bool:
        n = self.size(dimensions)
        return len(cells) == n + n * (n + 1) // 2

    def expand(self, cells: Vector, dimensions: int) -> Vector:
        return _expanded(cells, self.size(dimensions))

    def compact(self, work: Vector, dimensions: int) -> Vector:
        return _compacted(work, self.size(dimensions))

    def room(self, dimensions: int, swipes: int) -> int:
        n = self.size(dimensions)
        return n * (n + 1)

    def packed(self, covariance: Matrix) -> Vector:
        lower: Vector = covariance[np.tril_indices(len(covariance))]
        return lower

    def covariance(self, state: State) -> Matrix:
        n = self.size(state.dimensions)
        return _covariance(self._own(state).cells, n)

    def spread(self, state: State, x: Matrix) -> Vector:
        return np.asarray(np.einsum("ij,ij->i", x @ self.covariance(state), x))

    def draw(self, state: State, rng: np.random.Generator) -> Vector:
        root = np.linalg.cholesky(self.covariance(state))
        return self.mean(state) + root @ rng.standard_normal(len(root))


def _covariance(cells: Vector, n: int) -> Matrix:
    return _expanded(cells, n)[n:].reshape(n, n)
