"""Learners that keep one weight per tag: the preference vector v, the first d cells of a state."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.errors import check_integer, check_number
from kaczmatch.core.tags import Features
from kaczmatch.core.vectors import Vector, matvec, unit_rows
from kaczmatch.learners.contract import FixedSizeLearner, Learner
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.state import Scores, State, feature_rows, in_shape_of

# Checks the setting of a name. Returns what kernels get of it.
Check = Callable[[str, Any], tuple[float, ...]]


def setting(default: object, check: Check, **more: object) -> Any:
    """A field that is a hyper-parameter. Kernels get all of them in the order in which they are declared."""
    return field(default=default, metadata={"check": check, **more})


def number(low: float, high: float = math.inf, *, open_low: bool = False) -> Check:
    return lambda name, value: (check_number(name, value, low=low, high=high, open_low=open_low),)


def whole(low: int, high: int) -> Check:
    return lambda name, value: (float(check_integer(name, value, low=low, high=high)),)


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorLearner(Learner):
    """Cells: vectors over the tags, v first, then scalars. Scores are cosines with v (paper, eq. 2)."""

    vectors: ClassVar[int] = 1

    @property
    @abstractmethod
    def scalars(self) -> int:
        """The number of scalars after the vectors."""

    @final
    def kernel_parameters(self) -> tuple[float, ...]:
        checked = [(each.name, each.metadata["check"]) for each in fields(self) if "check" in each.metadata]
        return tuple(value for name, check in checked for value in check(name, getattr(self, name)))

    @final
    def width(self, dimensions: int) -> int:
        return self.vectors * dimensions + self.scalars

    @final
    def grown_cells(self, state: State, prior: Prior) -> Vector:
        # Nothing is known about a new tag. A weight of 0 leaves every score over the old tags unchanged.
        old, new = state.dimensions, prior.dimensions
        split = self.vectors * old
        vectors = np.zeros((self.vectors, new))
        vectors[:, :old] = state.cells[:split].reshape(self.vectors, old)
        scalars = state.cells[split : self.width(old)]
        pending = state.cells[self.width(old) :].reshape(-1, old + 1)
        wider = np.zeros((len(pending), new + 1))
        wider[:, :old], wider[:, new] = pending[:, :old], pending[:, old]
        return np.concatenate([vectors.ravel(), scalars, wider.ravel()])

    @final
    def weights(self, cells: Vector, dimensions: int) -> Vector:
        return cells[:dimensions]

    @final
    def score(self, state: State, features: Features, others: ArrayLike = ()) -> Scores:
        return in_shape_of(matvec(unit_rows(feature_rows(features, state)), self.direction(state)), features)

    @property
    @final
    def half_life(self) -> float:
        return math.inf


class ImmediateLearner(VectorLearner, FixedSizeLearner):
    """Learns at every swipe. Sessions make no difference."""

    __slots__ = ()

    @property
    @final
    def session_timeout(self) -> float:
        return math.inf
