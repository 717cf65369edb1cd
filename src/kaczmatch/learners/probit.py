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


@compiled
def times(lower: Vector, x: Vector) -> Vector:
    """Px, from the rows of P's lower triangle one after the other; each entry is read once."""
    n = x.shape[0]
    px = np.zeros(n)
    begin = 0
    for i in range(n):
        row = lower[begin : begin + i]
        px[i] += dot(row, x[:i]) + lower[begin + i] * x[i]
        if x[i] != 0.0:
            add(px[:i], x[i], row)
        begin += i + 1
    return px


@swipe_kernel
def swipe(cells: Vector, features: Vector, appeal: float, label: float, parameters: Vector) -> int:
    x = coordinates(features, appeal, parameters)
    n = x.shape[0]
    if n == 0:
        return BAD_FEATURES
    mean, lower = cells[:n], cells[n:]
    px = times(lower, x)
    step, shrink = gains(dot(x, mean), dot(x, px), label, parameters)
    add(mean, step, px)
    begin = 0
    for i in range(n):
        add(lower[begin : begin + i + 1], -shrink * px[i], px[: i + 1])
        begin += i + 1
    return DONE


@forget_kernel
def forget(cells: Vector, start: Vector, keep: float) -> int:
    n = round((math.sqrt(9.0 + 8.0 * cells.shape[0]) - 3.0) / 2.0)  # n + n(n + 1)/2 cells
    towards(start, cells, keep, n)
    return DONE


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Probit(GaussianLearner):
    """q = xᵀPx + α, z = y x·m/√q;  m + (y g/√q) Px,  P − (g(g + z)/q) (Px)(Px)ᵀ.

    P is kept as its lower triangle, so it is symmetric by construction. g(g + z) < 1 keeps it positive; after a surprise
    g(g + z) < 0 and P grows, which is meant (clipping it costs accuracy).
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
        m, p = self.step(cells[:n], _full(cells[n:], n), self.coordinates(seen.features, seen.appeal), label)
        return np.concatenate([m, self.packed(p)])

    def width(self, dimensions: int) -> int:
        n = self.size(dimensions)
        return n + n * (n + 1) // 2

    def packed(self, covariance: Matrix) -> Vector:
        lower: Vector = covariance[np.tril_indices(len(covariance))]
        return lower

    def covariance(self, state: State) -> Matrix:
        n = self.size(state.dimensions)
        return _full(self._own(state).cells[n:], n)

    def spread(self, state: State, x: Matrix) -> Vector:
        return np.asarray(np.einsum("ij,ij->i", x @ self.covariance(state), x))

    def draw(self, state: State, rng: np.random.Generator) -> Vector:
        root = np.linalg.cholesky(self.covariance(state))
        return self.mean(state) + root @ rng.standard_normal(len(root))


def _full(lower: Vector, n: int) -> Matrix:
    matrix = np.empty((n, n))
    rows, columns = np.tril_indices(n)
    matrix[rows, columns] = lower
    matrix[columns, rows] = lower
    return matrix
