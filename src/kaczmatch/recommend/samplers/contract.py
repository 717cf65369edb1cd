"""The contract every sampler keeps: who is shown, with which probability, and why."""

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
from kaczmatch.learners.belief.gaussian import GaussianLearner
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.state import State
from kaczmatch.recommend.scoring import Fusion
from kaczmatch.recommend.viewer import Viewer

Rows = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]
Chances = Callable[[int], Vector]

NO_ROWS: Rows = np.empty(0, np.int64)


class Reach(Enum):
    """Which of the eligible a sampler needs to see."""

    EVERYBODY = "everybody"
    BEST = "the best by the both-way score"
    LIKED = "the best by the viewer's own score"


@final
class Pool:
    """Candidates to choose from, a row each; what a sampler does not ask for is never computed.

    `capped` marks who has had their share of exposure: they come after everybody else.
    """

    def __init__(
        self,
        viewer: Viewer,
        fuse: Fusion,
        *,
        squared_norms: Vector,
        features: Callable[[], tuple[Matrix, Vector]],
        states: Callable[[], Sequence[State]],
        capped: NDArray[np.bool_] | None = None,
    ) -> None:
        self.viewer, self.squared_norms = viewer, squared_norms
        self.capped = np.zeros(len(squared_norms), np.bool_) if capped is None else capped
        self._fuse, self._features, self._states = fuse, features, states

    def __len__(self) -> int:
        return len(self.squared_norms)

    @cached_property
    def _described(self) -> tuple[Matrix, Vector]:
        return self._features()

    @property
    def features(self) -> Matrix:
        return self._described[0]

    @property
    def appeal(self) -> Vector:
        return self._described[1]

    @cached_property
    def forward(self) -> Vector:
        """How the viewer takes to each."""
        return self.viewer.forward(self.features, self.appeal)

    @cached_property
    def backward(self) -> Vector:
        """How each takes to the viewer."""
        return self.viewer.backward(self._states())

    @cached_property
    def score(self) -> Vector:
        """Both ways."""
        return self._fuse(self.forward, self.backward)

    def sides(self, rows: Rows) -> tuple[Vector, Vector]:
        """Both-way scores and the viewer's side of them, of some rows; a sampler need not have asked about all of them."""
        known = "forward" in self.__dict__
        forward = self.forward[rows] if known else self.viewer.forward(self.features[rows], self.appeal[rows])
        return self._fuse(forward, self.backward[rows]), forward


@final
@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """Rows of a pool in the order they were drawn, as many as were asked for or as there are.

    ``beside(taken)(n)`` are the probabilities with which each row of the pool is among the first n who are not `taken`, which
    have a place already; of a taken row, as if it had none.
    """

    rows: Rows
    beside: Callable[[Rows], Chances]

    def chances(self, n: int) -> Vector:
        """The probability of each row of the pool to be among the first n."""
        return self.beside(NO_ROWS)(n)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampler(ABC):
    """A way to choose."""

    slug: ClassVar[str]
    reach: ClassVar[Reach]
    shortlist: ClassVar[int] = 1000  # how many of the best it looks at, where it does not look at everybody
    why: ClassVar[str]  # one is shown somebody, in words

    @abstractmethod
    def draw(self, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
        """Up to `size` different rows of the pool."""


class TwoStageSampler(Sampler):
    """One that chooses among a few, drawn uniformly from everybody."""

    __slots__ = ()
    reach: ClassVar[Reach] = Reach.EVERYBODY

    @abstractmethod
    def some(self, size: int) -> int:
        """How many it chooses `size` from."""


class BeliefSampler(Sampler):
    """One that asks how sure the viewer's learner is."""

    __slots__ = ()

    @final
    def belief(self, learner: Learner) -> GaussianLearner:
        """The learner, if it knows."""
        if not isinstance(learner, GaussianLearner):
            raise InvalidInput(
                "sampler", f"{self.slug!r} needs a learner that knows how sure it is, such as 'probit-diag', not {learner.slug!r}"
            )
        return learner


def in_order(scores: Floats, rng: np.random.Generator) -> Rows:
    """Highest first, equal ones in random order."""
    shuffled = rng.permutation(len(scores))
    return np.asarray(shuffled[np.argsort(-scores[shuffled], kind="stable")], np.int64)
