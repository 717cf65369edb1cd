"""Learners whose knowledge is a preference vector, the first d cells of a state."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.vectors import Vector, times, unit_rows
from kaczmatch.learners.contract import FixedCells, Learner, Scores, rows_of, shaped
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorLearner(Learner):
    """Some vectors over the tags, the preference first, then some scalars; scores by the cosine (paper, eq. 2)."""

    vectors: ClassVar[int] = 1

    @property
    @abstractmethod
    def scalars(self) -> int:
        """How many scalars follow the vectors."""

    @final
    def width(self, dimensions: int) -> int:
        return self.vectors * dimensions + self.scalars

    @final
    def grown(self, state: State, prior: Prior) -> Vector:
        # Nothing is known of a new tag, and a weight of 0 leaves every score over the old tags as it was.
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
    def score(self, state: State, features: ArrayLike, appeal: ArrayLike = 0.0) -> Scores:
        return shaped(times(unit_rows(rows_of(features, state.dimensions)), self.direction(state)), features)

    @property
    @final
    def half_life(self) -> float:
        return math.inf


class ImmediateLearner(VectorLearner, FixedCells):
    """Learns at every swipe, so that sessions do not matter."""

    __slots__ = ()

    @property
    @final
    def quiet(self) -> float:
        return math.inf
