"""The hinge residual of the paper (eq. 6): how far a score is on the wrong side of its margin."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import final

from kaczmatch.core.compiled import compiled
from kaczmatch.core.errors import InvalidInput, checked
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.vectors import Matrix, Vector, cosine
from kaczmatch.learners.vector import SequentialLearner, VectorLearner


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Hinge:
    """A liked candidate should score at least theta + delta, a passed one at most theta - delta."""

    theta: float = 0.52
    delta: float = 0.05

    def residual(self, v: Vector, a: Vector, label: Label) -> float:
        score = cosine(v, a)
        if sign(label) > 0:
            return max(0.0, (self.theta + self.delta) - score)
        return -max(0.0, score - (self.theta - self.delta))

    def __post_init__(self) -> None:
        checked("theta", self.theta, low=-1.0, high=1.0)
        checked("delta", self.delta, low=0.0, high=1.0)


@compiled
def residual(score: float, label: float, theta: float, delta: float) -> float:
    """`Hinge.residual` for kernels, from the cosine."""
    if label > 0.0:
        return max(0.0, (theta + delta) - score)
    return -max(0.0, score - (theta - delta))


@dataclass(frozen=True, slots=True, kw_only=True)
class HingeLearner(VectorLearner):
    """One of the paper's six rules: the preference moves by hinge residuals."""

    hinge: Hinge = Hinge()

    @final
    def hinge_parameters(self) -> tuple[float, float]:
        if not isinstance(self.hinge, Hinge):
            raise InvalidInput("hinge", f"must be a Hinge, such as Hinge(theta=0.52, delta=0.05), got {self.hinge!r}")
        return self.hinge.theta, self.hinge.delta

    @abstractmethod
    def norm_bound(self, norm: float, rows: Matrix, r: Vector) -> float:
        """What ‖v‖ cannot exceed after learning from these rows and residuals at once, if it was `norm` before."""


class SequentialHingeLearner(SequentialLearner, HingeLearner):
    """One of the four that step along each candidate as it comes."""

    __slots__ = ()
