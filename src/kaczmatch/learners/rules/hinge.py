"""The hinge residual of the paper (eq. 6): how far a score is on the wrong side of its margin.

The threshold θ between likes and passes is one number for everybody (0.52 in the paper), or one per user. A user's own θ starts
from the common one and moves at every swipe that scored on its wrong side, so that the share of candidates above θ approaches the
user's share of likes.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.compiled import compiled
from kaczmatch.core.errors import InvalidInput, check_number
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.swipes import ShownCandidate
from kaczmatch.core.vectors import Matrix, Vector, cosine
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.rules.vector import ImmediateLearner, VectorLearner


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Hinge:
    """A liked candidate should score at least theta + delta, a passed one at most theta - delta."""

    theta: float = 0.52
    delta: float = 0.05
    theta_step: float = (
        0.0  # how far a user's own theta moves per swipe on its wrong side; 0: one theta for everybody, as in the paper
    )

    def residual(self, v: Vector, a: Vector, label: Label, theta: float | None = None) -> float:
        """The residual of a swipe, at a user's own theta where one is given."""
        score, theta = cosine(v, a), self.theta if theta is None else theta
        if sign(label) > 0:
            return max(0.0, (theta + self.delta) - score)
        return -max(0.0, score - (theta - self.delta))

    def updated_theta(self, v: Vector, a: Vector, label: Label, theta: float) -> float:
        """A user's own theta after a swipe: up where a pass scored above it, down where a like scored below."""
        return float(np.clip(theta + self.theta_step * ((cosine(v, a) >= theta) - (sign(label) > 0)), -1.0, 1.0))

    def __post_init__(self) -> None:
        check_number("theta", self.theta, low=-1.0, high=1.0)
        check_number("delta", self.delta, low=0.0, high=1.0)
        check_number("theta_step", self.theta_step, low=0.0, high=1.0)


@compiled
def hinge_residual(score: float, label: float, theta: float, delta: float) -> float:
    """`Hinge.residual` for kernels."""
    if label > 0.0:
        return max(0.0, (theta + delta) - score)
    return -max(0.0, score - (theta - delta))


@compiled
def threshold_error(score: float, label: float, theta: float) -> float:
    """1 for a pass that scored above θ, -1 for a like that scored below, otherwise 0."""
    return (1.0 if score >= theta else 0.0) - (1.0 if label > 0.0 else 0.0)


@compiled
def clip_to_cosine(theta: float) -> float:
    return min(1.0, max(-1.0, theta))


@compiled
def residual_with_own_theta(cells: Vector, d: int, score: float, label: float, hinge: Vector) -> float:
    """The residual of a sequential rule from the cosine. Moves the user's own θ where there is one. `hinge` is (θ, δ, θ step)."""
    if hinge[2] == 0.0:
        return hinge_residual(score, label, hinge[0], hinge[1])
    theta = cells[d]
    cells[d] = clip_to_cosine(theta + hinge[2] * threshold_error(score, label, theta))
    return hinge_residual(score, label, theta, hinge[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class HingeLearner(VectorLearner):
    """One of the paper's six rules: v moves by hinge residuals. A user's own threshold is the last scalar."""

    counter_cells: ClassVar[int] = 0  # scalars before the threshold

    hinge: Hinge = Hinge()

    @property
    @final
    def scalars(self) -> int:
        return self.counter_cells + (self.hinge.theta_step > 0.0)

    @final
    def theta(self, cells: Vector, dimensions: int) -> float:
        """The threshold of the user with these cells."""
        return float(cells[dimensions + self.counter_cells]) if self.hinge.theta_step > 0.0 else self.hinge.theta

    @final
    def initial_cells(self, prior: Prior) -> Vector:
        own = [self.hinge.theta] if self.hinge.theta_step > 0.0 else []
        return np.concatenate([prior.weights, np.zeros(self.counter_cells), own])

    @final
    def hinge_parameters(self) -> tuple[float, float, float]:
        if not isinstance(self.hinge, Hinge):
            raise InvalidInput("hinge", f"must be a Hinge, such as Hinge(theta=0.52, delta=0.05), got {self.hinge!r}")
        return self.hinge.theta, self.hinge.delta, self.hinge.theta_step

    @abstractmethod
    def norm_bound(self, norm: float, rows: Matrix, r: Vector) -> float:
        """An upper bound of ‖v‖ after learning from these rows and residuals at once, if it was `norm` before."""


class SequentialHingeLearner(ImmediateLearner, HingeLearner):
    """One of the four rules that take a step at each swipe."""

    __slots__ = ()

    @abstractmethod
    def step(self, v: Vector, a: Vector, r: float) -> Vector:
        """The rule: the next preference vector, from the candidate's tags and the residual."""

    @final
    def reference_swipe(self, cells: Vector, candidate: ShownCandidate, label: Label) -> Vector:
        v, a = cells[: len(candidate.features)], candidate.features
        if not a.any():
            return cells
        theta = self.theta(cells, len(a))
        own = [self.hinge.updated_theta(v, a, label, theta)] if self.hinge.theta_step > 0.0 else []
        return np.append(self.step(v, a, self.hinge.residual(v, a, label, theta)), own)
