"""Forward, backward and mutual scores: how a viewer scores candidates, how they score the viewer, and how both become one.

Scores are computed exactly, from the states. Belief learners answer with probabilities, all others with the paper's cosines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.compiled import compiled, cosine_from_products, products, usable_norm
from kaczmatch.core.errors import InvalidInput, did_you_mean
from kaczmatch.core.vectors import Matrix, Vector, as_matrix
from kaczmatch.learners.contract import BeliefLearner, Learner
from kaczmatch.learners.state import State, StateRows
from kaczmatch.recommend.people.profile import Profile

Fusion = Callable[[ArrayLike, ArrayLike], Vector]


def geometric(forward: ArrayLike, backward: ArrayLike) -> Vector:
    """√(forward · backward), the paper's, with each side clamped at 0, so that a dislike on either side gives 0."""
    return np.asarray(np.sqrt(_clamped(forward) * _clamped(backward)))


def harmonic(forward: ArrayLike, backward: ArrayLike) -> Vector:
    """2/(1/forward + 1/backward): nearer to the weaker side than the geometric mean."""
    a, b = _clamped(forward), _clamped(backward)
    total = a + b
    return np.divide(2.0 * a * b, total, out=np.zeros_like(total), where=total > 0.0)


def minimum(forward: ArrayLike, backward: ArrayLike) -> Vector:
    """The weaker side alone."""
    return np.minimum(_clamped(forward), _clamped(backward))


def product(forward: ArrayLike, backward: ArrayLike) -> Vector:
    """forward · backward: for probabilities of a like, the probability of a match."""
    return _clamped(forward) * _clamped(backward)


FUSIONS: Mapping[str, Fusion] = MappingProxyType(
    {"geometric": geometric, "harmonic": harmonic, "minimum": minimum, "product": product}
)


def fusion(name: str) -> Fusion:
    """The fusion called `name`."""
    if name not in FUSIONS:
        raise InvalidInput("fusion", f"there is no fusion {name!r}; {did_you_mean(str(name), FUSIONS)}")
    return FUSIONS[name]


def _clamped(scores: ArrayLike) -> Vector:
    values = np.asarray(scores, np.float64)
    if np.isnan(values).any():
        raise InvalidInput("scores", "must be numbers, got NaN")
    return np.maximum(values, 0.0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Viewer:
    """The user for whom scores are computed: profile, learner, state, and what others said of the user."""

    profile: Profile
    learner: Learner = field(repr=False)
    state: State = field(repr=False)
    others: ArrayLike = ()

    def __post_init__(self) -> None:
        if len(self.profile.features) != self.state.dimensions:
            problem = f"the profile has {len(self.profile.features)} values, the state {self.state.dimensions} tags"
            raise InvalidInput("state", f"{problem}; grow it with learner.grow(state, vocabulary.dimensions)")
        self.learner.direction(self.state)  # raises for a state of another learner

    def forward(self, features: Matrix, others: Matrix) -> Vector:
        """The forward score of each row: how much the viewer likes the candidate."""
        if isinstance(self.learner, BeliefLearner):
            return np.asarray(self.learner.probability(self.state, features, others))
        cosines = _cosines(as_matrix(features, "features"), self.learner.direction(self.state))
        return np.asarray(self.learner.score(self.state, features)) if np.isnan(cosines).any() else cosines

    def backward(self, states: Sequence[State]) -> Vector:
        """The backward score of each state: how much its user likes the viewer."""
        if isinstance(self.learner, BeliefLearner):
            return self.learner.probabilities_by_user(states, self.profile.features, self.others)
        if not states:
            return np.empty(0)
        d = self.state.dimensions
        if isinstance(states, StateRows) and states.start.learner == self.learner.slug and states.start.dimensions == d:
            return _cosines(states.cells, self.profile.features)
        learners, _, dimensions, cells, *_ = zip(*states, strict=True)
        if set(learners) != {self.learner.slug} or set(dimensions) != {d}:
            problem = next(one for one in states if (one.learner, one.dimensions) != (self.learner.slug, d))
            raise InvalidInput(
                "states", f"one is of {problem.learner!r} over {problem.dimensions} tags, the viewer's is {self.state!r}"
            )
        if len(set(map(len, cells))) > 1:  # some have pending swipes
            cells = tuple(some[:d] for some in cells)
        # The weights are the first cells of a state.
        return _cosines(np.concatenate(cells).reshape(len(states), -1), self.profile.features)


@compiled
def _cosines(rows: Matrix, v: Vector) -> Vector:
    """The cosine of each row's first cells with v; NaN for rows that cannot be used."""
    cosines, d = np.empty(len(rows)), len(v)
    for i in range(len(rows)):
        va, vv, aa = products(v, rows[i, :d])
        cosines[i] = cosine_from_products(va, vv, aa) if usable_norm(aa) else np.nan
    return cosines


def default_fusion(learner: Learner) -> str:
    """The product for learners with probabilities, the paper's geometric mean for the others."""
    return "product" if isinstance(learner, BeliefLearner) else "geometric"
