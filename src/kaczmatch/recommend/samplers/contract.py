"""The contract of every sampler: it draws rows of a pool and knows the inclusion probability of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.contract import BeliefLearner, Learner
from kaczmatch.learners.state import State
from kaczmatch.recommend.scoring import Fusion, Viewer

RowIndices = NDArray[np.int64]
FloatArray = NDArray[np.floating[Any]]
InclusionProbabilities = Callable[[int], Vector]

NO_ROWS: RowIndices = np.empty(0, np.int64)


class Retrieval(Enum):
    """Which eligible people the pool of a sampler holds."""

    EVERYBODY = "everybody"
    BEST_MUTUAL = "the best by the mutual score"
    BEST_FORWARD = "the best by the forward score"


@final
class Pool:
    """The candidates from which a sampler draws, one row each. What a sampler does not ask for is never computed.

    `capped` marks people over the exposure cap: they come after everybody else.
    """

    def __init__(
        self,
        viewer: Viewer,
        fuse: Fusion,
        *,
        squared_norms: Vector,
        features: Callable[[], tuple[Matrix, Matrix]],
        states: Callable[[], Sequence[State]],
        capped: NDArray[np.bool_] | None = None,
    ) -> None:
        self.viewer, self.squared_norms = viewer, squared_norms
        self.capped = np.zeros(len(squared_norms), np.bool_) if capped is None else capped
        self._fuse, self._features = fuse, features
        self._backward: Callable[[], Vector] = lambda: viewer.backward(states())

    def __len__(self) -> int:
        return len(self.squared_norms)

    def part(self, rows: slice, *, admirers: bool = False) -> Pool:
        """Some neighbouring rows as a pool. Backward scores are computed once for all rows.

        Admirers have liked the viewer. So it is certain that they do, and the cap is not for them: no card of theirs brings them
        a like that they have no time to answer.
        """
        part = Pool(
            self.viewer,
            self._fuse,
            squared_norms=self.squared_norms[rows],
            features=lambda: (self.features[rows], self.others[rows]),
            states=tuple,
            capped=None if admirers else self.capped[rows],
        )
        certain = np.ones(len(part))
        part._backward = (lambda: certain) if admirers else (lambda: self.backward[rows])
        return part

    @cached_property
    def _described(self) -> tuple[Matrix, Matrix]:
        return self._features()

    @property
    def features(self) -> Matrix:
        return self._described[0]

    @property
    def others(self) -> Matrix:
        """What others said of each, a row per person."""
        return self._described[1]

    @cached_property
    def forward(self) -> Vector:
        """Forward scores."""
        return self.viewer.forward(self.features, self.others)

    @cached_property
    def backward(self) -> Vector:
        """Backward scores."""
        return self._backward()

    @cached_property
    def mutual(self) -> Vector:
        """Mutual scores."""
        return self._fuse(self.forward, self.backward)

    def mutual_and_forward(self, rows: RowIndices) -> tuple[Vector, Vector]:
        """Mutual and forward scores of some rows, without computing those of all rows."""
        known = "forward" in self.__dict__
        forward = self.forward[rows] if known else self.viewer.forward(self.features[rows], self.others[rows])
        return self._fuse(forward, self.backward[rows]), forward


@final
@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """Rows of a pool in the order they were drawn, as many as were asked for or as there are.

    ``conditional(taken)(n)`` gives, for each row of the pool, the probability to be among the first n rows that are not `taken`.
    Taken rows are in the deck already; for a taken row it is the probability as if it were not taken.
    """

    rows: RowIndices
    conditional: Callable[[RowIndices], InclusionProbabilities]

    def inclusion_probabilities(self, n: int) -> Vector:
        """The probability of each row of the pool to be among the first n drawn."""
        return self.conditional(NO_ROWS)(n)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampler(ABC):
    """Draws the cards of a deck from a pool."""

    slug: ClassVar[str]
    retrieval: ClassVar[Retrieval]
    shortlist: ClassVar[int] = 1000  # size of its pool, where the pool holds the best people only
    why: ClassVar[str]  # a candidate is shown, in words

    @abstractmethod
    def draw(self, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
        """Up to `size` different rows of the pool."""


class TwoStageSampler(Sampler):
    """A sampler whose pool is a uniform sample of all eligible people."""

    __slots__ = ()
    retrieval: ClassVar[Retrieval] = Retrieval.EVERYBODY

    @abstractmethod
    def first_stage_size(self, size: int) -> int:
        """The size of the uniform sample from which it draws `size` rows."""


class BeliefSampler(Sampler):
    """A sampler that needs the uncertainty of the viewer's state."""

    __slots__ = ()

    @final
    def require_belief(self, learner: Learner) -> BeliefLearner:
        """The learner, if it is a belief learner."""
        if not isinstance(learner, BeliefLearner):
            raise InvalidInput(
                "sampler", f"{self.slug!r} needs a learner that knows how sure it is, such as 'probit-diag', not {learner.slug!r}"
            )
        return learner


def descending(scores: FloatArray, rng: np.random.Generator) -> RowIndices:
    """The rows by descending score, ties in random order."""
    shuffled = rng.permutation(len(scores))
    return np.asarray(shuffled[np.argsort(-scores[shuffled], kind="stable")], np.int64)
