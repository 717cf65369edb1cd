"""Learners that keep one weight per tag: the preference vector v, the first d cells of a state."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.tags import Features
from kaczmatch.core.vectors import Vector, matvec, unit_rows
from kaczmatch.learners.contract import FixedSizeLearner, Learner
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.state import Scores, State, feature_rows, in_shape_of


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorLearner(Learner):
    """Cells: vectors over the tags, v first, then scalars. Scores are cosines with v (paper, eq. 2)."""

    vectors: ClassVar[int] = 1

    @property
    @abstractmethod
    def scalars(self) -> int:
        """The number of scalars after the vectors."""

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
