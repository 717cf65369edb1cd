"""The hinge residual of the paper (eq. 6): how far a score is on the wrong side of its margin.

The threshold θ between likes and passes is the paper's 0.52, or any other, for everybody; or a user's own, which starts there
and moves at every swipe that comes out on the wrong side of it, so that as many candidates score above θ as the user likes.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.compiled import compiled
from kaczmatch.core.errors import InvalidInput, checked
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.swipes import Seen
from kaczmatch.core.vectors import Matrix, Vector, cosine
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.rules.vector import ImmediateLearner, VectorLearner


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Hinge:
    """A liked candidate should score at least theta + delta, a passed one at most theta - delta."""

    theta: float = 0.52
    delta: float = 0.05
    step: float = (
        0.0  # how far a user's own theta moves when a swipe comes out on its wrong side; 0: theta stays, as in the paper
    )

    def residual(self, v: Vector, a: Vector, label: Label, theta: float | None = None) -> float:
        """The residual of a swipe, at a user's own theta where one is given."""
        score, theta = cosine(v, a), self.theta if theta is None else theta
        if sign(label) > 0:
            return max(0.0, (theta + self.delta) - score)
        return -max(0.0, score - (theta - self.delta))

    def moved(self, v: Vector, a: Vector, label: Label, theta: float) -> float:
        """A user's own theta after a swipe: up where a pass scored above it, down where a like scored below."""
        return float(np.clip(theta + self.step * ((cosine(v, a) >= theta) - (sign(label) > 0)), -1.0, 1.0))

    def __post_init__(self) -> None:
        checked("theta", self.theta, low=-1.0, high=1.0)
        checked("delta", self.delta, low=0.0, high=1.0)
        checked("step", self.step, low=0.0, high=1.0)


@compiled
def residual(score: float, label: float, theta: float, delta: float) -> float:
    """`Hinge.residual` for kernels."""
    if label > 0.0:
        return max(0.0, (theta + delta) - score)
    return -max(0.0, score - (theta - delta))


@compiled
def excess(score: float, label: float, theta: float) -> float:
    """1 for a pass that scored above θ, -1 for a like that scored below, otherwise 0."""
    return (1.0 if score >= theta else 0.0) - (1.0 if label > 0.0 else 0.0)


@compiled
def within_cosines(theta: float) -> float:
    return min(1.0, max(-1.0, theta))


@compiled
def own_residual(cells: Vector, d: int, score: float, label: float, hinge: Vector) -> float:
    """The residual of a sequential rule from the cosine; moves the user's own θ where there is one. `hinge` is (θ, δ, step)."""
    if hinge[2] == 0.0:
        return residual(score, label, hinge[0], hinge[1])
    theta = cells[d]
    cells[d] = within_cosines(theta + hinge[2] * excess(score, label, theta))
    return residual(score, label, theta, hinge[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class HingeLearner(VectorLearner):
    """One of the paper's six rules: the preference moves by hinge residuals. A user's own threshold is the last scalar."""

    counts: ClassVar[int] = 0  # scalars before it

    hinge: Hinge = Hinge()

    @property
    @final
    def scalars(self) -> int:
        return self.counts + (self.hinge.step > 0.0)

    @final
    def theta(self, cells: Vector, dimensions: int) -> float:
        """The threshold of the user with these cells."""
        return float(cells[dimensions + self.counts]) if self.hinge.step > 0.0 else self.hinge.theta

    @final
    def initial(self, prior: Prior) -> Vector:
        own = [self.hinge.theta] if self.hinge.step > 0.0 else []
        return np.concatenate([prior.weights, np.zeros(self.counts), own])

    @final
    def hinge_parameters(self) -> tuple[float, float, float]:
        if not isinstance(self.hinge, Hinge):
            raise InvalidInput("hinge", f"must be a Hinge, such as Hinge(theta=0.52, delta=0.05), got {self.hinge!r}")
        return self.hinge.theta, self.hinge.delta, self.hinge.step

    @abstractmethod
    def norm_bound(self, norm: float, rows: Matrix, r: Vector) -> float:
        """What ‖v‖ cannot exceed after learning from these rows and residuals at once, if it was `norm` before."""


class SequentialHingeLearner(ImmediateLearner, HingeLearner):
    """One of the four that step along each candidate as it comes."""

    __slots__ = ()

    @abstractmethod
    def step(self, v: Vector, a: Vector, r: float) -> Vector:
        """The rule: the next preference vector, from the candidate's tags and the residual."""

    @final
    def swiped(self, cells: Vector, seen: Seen, label: Label) -> Vector:
        v, a = cells[: len(seen.features)], seen.features
        if not a.any():
            return cells
        theta = self.theta(cells, len(a))
        own = [self.hinge.moved(v, a, label, theta)] if self.hinge.step > 0.0 else []
        return np.append(self.step(v, a, self.hinge.residual(v, a, label, theta)), own)
