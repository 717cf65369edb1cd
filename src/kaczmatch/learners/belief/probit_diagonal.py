"""`probit-diag`: the belief with independent coordinates, O(d) per swipe and about a kilobyte per user.

Tags and threshold do not stay independent: either can explain why a user likes more than expected, and swipes determine their
sum long before they determine each. A diagonal covariance would forget that after every swipe and chase the share of likes.
What is kept as independent is therefore each tag's weight w and, in place of the threshold b,

    b + c Σ w    over the first t tags,    c = 0.52/√(2t),

which is how `Prior.ones` starts: the threshold of a user who likes candidates with a cosine of at least 0.52 to the taste rises
with the number of liked tags. With p for the variances and x' = x, but c less at those tags, xᵀPx = Σ p x'². P itself is an
arrow: off the diagonal it has only −c p, between those tags and the threshold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from kaczmatch.core.compiled import compiled, compiled_short
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.swipes import ShownCandidate
from kaczmatch.core.vectors import Integers, Matrix, Vector
from kaczmatch.learners.belief.behaviour import BEHAVIOUR_CELLS, updated_behaviour
from kaczmatch.learners.belief.gaussian import GaussianLearner
from kaczmatch.learners.belief.gaussian_kernels import forget_towards, kernel_coordinates, like_probability, update_gains
from kaczmatch.learners.contract import FixedSizeLearner
from kaczmatch.learners.kernels import (
    BAD_FEATURES,
    DONE,
    Kernels,
    forget_kernel,
    predict_kernel,
    predict_rows_kernel,
    swipe_kernel,
)
from kaczmatch.learners.prior import PAPER_COSINE, Prior
from kaczmatch.learners.state import State, StateRows, row_of


@compiled
def _slope(first: float) -> float:
    """c: how far the threshold moves per unit of a tag's weight."""
    return PAPER_COSINE / math.sqrt(2.0 * first) if first > 0.0 else 0.0


@swipe_kernel
def swipe(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    x = kernel_coordinates(features, said, parameters)
    n = x.shape[0]
    if n == 0:
        return BAD_FEATURES
    mean, variance, first = cells[:n], cells[n : 2 * n], int(cells[2 * n])
    slope = _slope(first)
    score = spread = 0.0
    for i in range(n):
        score += x[i] * mean[i]
        x[i] -= slope if i < first else 0.0
        spread += x[i] * x[i] * variance[i]
    step, shrink, answer = update_gains(score, spread, label, parameters, cells[-BEHAVIOUR_CELLS:])
    moved = 0.0
    for i in range(n):
        px = variance[i] * x[i]
        mean[i] += step * px
        variance[i] -= shrink * px * px
        moved += px if i < first else 0.0
    mean[features.shape[0]] -= step * slope * moved
    return answer


@predict_kernel
def predict(cells: Vector, features: Vector, said: Vector, parameters: Vector) -> float:
    x = kernel_coordinates(features, said, parameters)
    n = x.shape[0]
    if n == 0:
        return math.nan
    first = int(cells[2 * n])
    slope = _slope(first)
    score = spread = 0.0
    for i in range(n):
        score += x[i] * cells[i]
        x[i] -= slope if i < first else 0.0
        spread += x[i] * x[i] * cells[n + i]
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
    x = kernel_coordinates(features, said, parameters)
    n, found, at_start = x.shape[0], np.full(len(rows), np.nan), np.nan
    if n == 0:
        return found
    for j in range(len(rows)):
        if rows[j] == 0 and not math.isnan(at_start):
            found[j] = at_start
            continue
        row = row_of(kept, changed, rows[j])
        first = int(row[2 * n])
        slope = _slope(first)
        score = spread = 0.0
        for i in range(n):
            score += x[i] * row[i]
            inner = x[i] - (slope if i < first else 0.0)
            spread += inner * inner * row[n + i]
        found[j] = like_probability(score, spread, parameters, row[-BEHAVIOUR_CELLS:])
        if rows[j] == 0:
            at_start = found[j]
    return found


@forget_kernel
def forget(cells: Vector, start: Vector, keep: float) -> int:
    forget_towards(start, cells, keep, (cells.shape[0] - BEHAVIOUR_CELLS) // 2)
    return DONE


@compiled
def _variances(x: Matrix, packed: Vector, threshold: int) -> Vector:
    """Σ p x'² of each row."""
    found, first = np.empty(len(x)), int(packed[-1])
    slope = _slope(first)
    for j in range(len(x)):
        total, apart = 0.0, slope * x[j, threshold]
        for i in range(x.shape[1]):
            inner = x[j, i] - apart if i < first else x[j, i]
            total += inner * inner * packed[i]
        found[j] = total
    return found


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ProbitDiagonal(GaussianLearner, FixedSizeLearner):
    """`probit` that keeps only variances: m + (y g/√q) Px,  p − (g(g + z)/q) (p∘x')².

    Px has p∘x' at the tags, and less by c Σ p∘x' over the first tags at the threshold. A state keeps m, p, and the number
    of those tags.
    """

    slug: ClassVar[str] = "probit-diag"
    state_version: ClassVar[int] = 3  # 2 had tags and threshold independent
    kernels: ClassVar[Kernels] = Kernels(swipe, forget=forget, predict=predict)

    def step(
        self, m: Vector, p: Vector, slopes: Vector, behaviour: Vector, x: Vector, label: Label
    ) -> tuple[Vector, Vector, Vector]:
        """`slopes` is c at the first tags and 0 elsewhere."""
        y, inner = sign(label), p * (x - slopes)
        q = float((x - slopes) @ inner) + self.alpha
        z = y * float(x @ m) / math.sqrt(q)
        g = self.log_likelihood_slope(z, behaviour[0])
        px = inner.copy()
        px[self._threshold(len(x))] -= slopes @ inner
        return m + (y * g / math.sqrt(q)) * px, p - (g * (g + z) / q) * inner**2, updated_behaviour(behaviour, y, float(ndtr(z)))

    def reference_swipe(self, cells: Vector, candidate: ShownCandidate, label: Label) -> Vector:
        n = self.belief_size(len(candidate.features))
        m, p, first, behaviour = np.split(cells, [n, 2 * n, 2 * n + 1])
        x = self.coordinates(candidate.features, candidate.appeal)
        m, p, behaviour = self.step(m, p, _slopes(first, n)[0], behaviour, x, label)
        return np.concatenate([m, p, first, behaviour])

    def width(self, dimensions: int) -> int:
        return 2 * self.belief_size(dimensions) + 1 + BEHAVIOUR_CELLS

    def predicted(self, work: Vector, features: Matrix, said: Matrix) -> Vector:
        return predict_rows(work, features, said, self.parameters)

    def pack_covariance(self, covariance: Matrix, prior: Prior) -> Vector:
        n = len(covariance)
        variances, along = np.diag(covariance).copy(), _slopes(np.array([prior.original_tags]), n)[0]
        threshold = self._threshold(n)
        along[threshold] = 1.0
        variances[threshold] = along @ covariance @ along
        return np.append(variances, prior.original_tags)

    def kept_covariance_cells(self, kept: Integers) -> Integers:
        return np.append(kept, kept[-1] + 1)

    def covariance_entries(self, packed: Matrix) -> Matrix:
        """The diagonal, and the covariances of tags with the threshold."""
        diagonal, slopes = packed[:, :-1].copy(), _slopes(packed[:, -1], packed.shape[1] - 1)
        beside = -slopes * diagonal
        threshold = self._threshold(diagonal.shape[1])
        diagonal[:, threshold] -= np.sum(slopes * beside, axis=1)
        return np.hstack([diagonal, beside[:, :threshold]])

    def quadratic_form(self, x: Matrix) -> Matrix:
        threshold = self._threshold(x.shape[1])
        return np.hstack([x**2, 2.0 * x[:, [threshold]] * x[:, :threshold]])

    def covariance(self, state: State) -> Matrix:
        n = self.belief_size(state.dimensions)
        entries = self.covariance_entries(self._packed(state)[None])[0]
        covariance, threshold = np.diag(entries[:n]), self._threshold(n)
        covariance[:threshold, threshold] = covariance[threshold, :threshold] = entries[n:]
        return covariance

    def standard_deviations(self, state: State) -> Vector:
        return np.sqrt(self._packed(state)[: state.dimensions])

    def score_variance(self, state: State, x: Matrix) -> Vector:
        return _variances(x, self._packed(state), self._threshold(x.shape[1]))

    def predicted_by_user(self, states: Sequence[State], features: Vector, said: Vector) -> Vector:
        users = StateRows.of(states)
        return predict_users(users.kept, users.changed, users.rows, features, said, self.parameters)

    def draws(self, state: State, count: int, rng: np.random.Generator) -> Matrix:
        packed, mean = self._packed(state), self.mean(state)
        noise = np.sqrt(packed[:-1]) * rng.standard_normal((count, len(mean)))
        noise[:, self._threshold(len(mean))] -= noise @ _slopes(packed[-1:], len(mean))[0]
        return mean + noise

    def _packed(self, state: State) -> Vector:
        return self._checked_state(state).cells[self.belief_size(state.dimensions) : -BEHAVIOUR_CELLS]

    def _threshold(self, n: int) -> int:
        """The position of the threshold among n coordinates."""
        return n - 1 - self.appeal


def _slopes(first: Vector, n: int) -> Matrix:
    """One row of length n per entry of `first`: c at the first tags, 0 elsewhere."""
    return np.where(np.arange(n) < first[:, None], PAPER_COSINE / np.sqrt(2.0 * np.maximum(first, 1.0))[:, None], 0.0)
