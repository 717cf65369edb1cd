"""`probit-diag`: the belief with independent coordinates, O(d) a swipe and a kilobyte a user."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from scipy.special import ndtr

from kaczmatch.core.labels import Label, sign
from kaczmatch.core.swipes import Seen
from kaczmatch.core.vectors import Matrix, Vector, times
from kaczmatch.learners.contract import FixedCells
from kaczmatch.learners.gaussian import GaussianLearner, coordinates, gains, likelihood, towards
from kaczmatch.learners.habits import HABITS, after
from kaczmatch.learners.kernels import BAD_FEATURES, DONE, Kernels, foretell_kernel, forget_kernel, swipe_kernel
from kaczmatch.learners.state import State


@swipe_kernel
def swipe(cells: Vector, features: Vector, appeal: float, label: float, parameters: Vector) -> int:
    x = coordinates(features, appeal, parameters)
    n = x.shape[0]
    if n == 0:
        return BAD_FEATURES
    mean, variance = cells[:n], cells[n : 2 * n]
    score = spread = 0.0
    for i in range(n):
        score += x[i] * mean[i]
        spread += x[i] * x[i] * variance[i]
    step, shrink, answer = gains(score, spread, label, parameters, cells[2 * n :])
    for i in range(n):
        px = variance[i] * x[i]
        mean[i] += step * px
        variance[i] -= shrink * px * px
    return answer


@foretell_kernel
def foretell(cells: Vector, features: Vector, appeal: float, parameters: Vector) -> float:
    x = coordinates(features, appeal, parameters)
    n = x.shape[0]
    if n == 0:
        return math.nan
    score = spread = 0.0
    for i in range(n):
        score += x[i] * cells[i]
        spread += x[i] * x[i] * cells[n + i]
    return likelihood(score, spread, parameters, cells[-HABITS:])


@forget_kernel
def forget(cells: Vector, start: Vector, keep: float) -> int:
    towards(start, cells, keep, (cells.shape[0] - HABITS) // 2)
    return DONE


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ProbitDiagonal(GaussianLearner, FixedCells):
    """`probit` that keeps only the diagonal p of P: m + (y g/√q) p∘x,  p − (g(g + z)/q) (p∘x)²."""

    slug: ClassVar[str] = "probit-diag"
    kernels: ClassVar[Kernels] = Kernels(swipe, forget=forget, foretell=foretell)

    def step(self, m: Vector, p: Vector, habits: Vector, x: Vector, label: Label) -> tuple[Vector, Vector, Vector]:
        y, px = sign(label), p * x
        q = float(x @ px) + self.alpha
        z = y * float(x @ m) / math.sqrt(q)
        g = self.slope(z, habits[0])
        return m + (y * g / math.sqrt(q)) * px, p - (g * (g + z) / q) * px**2, after(habits, y, float(ndtr(z)))

    def swiped(self, cells: Vector, seen: Seen, label: Label) -> Vector:
        n = self.size(len(seen.features))
        m, p, habits = np.split(cells, [n, 2 * n])
        return np.concatenate(self.step(m, p, habits, self.coordinates(seen.features, seen.appeal), label))

    def width(self, dimensions: int) -> int:
        return 2 * self.size(dimensions) + HABITS

    def packed(self, covariance: Matrix) -> Vector:
        return np.diag(covariance).copy()

    def covariance(self, state: State) -> Matrix:
        return np.diag(self._variances(state))

    def spread(self, state: State, x: Matrix) -> Vector:
        return times(self.quadratic(x), self._variances(state))

    def quadratic(self, x: Matrix) -> Matrix:
        return x**2

    def draws(self, state: State, count: int, rng: np.random.Generator) -> Matrix:
        mean = self.mean(state)
        return mean + np.sqrt(self._variances(state)) * rng.standard_normal((count, len(mean)))

    def _variances(self, state: State) -> Vector:
        return self._own(state).cells[self.size(state.dimensions) : -HABITS]
