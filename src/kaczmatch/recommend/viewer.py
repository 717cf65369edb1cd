"""What a viewer makes of candidates and they of the viewer, exactly, from the states.

Learners with a belief answer with probabilities, all others with the paper's cosines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from kaczmatch.core.compiled import compiled, cosine_of, products, usable
from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Matrix, Vector, as_matrix
from kaczmatch.learners.contract import BeliefLearner, Learner
from kaczmatch.learners.state import State
from kaczmatch.recommend.profile import Profile


@final
@dataclass(frozen=True, slots=True, eq=False)
class Viewer:
    """Who looks: a profile, what was learned from this person's swipes, and how others take to them."""

    profile: Profile
    learner: Learner = field(repr=False)
    state: State = field(repr=False)
    appeal: float = 0.0

    def __post_init__(self) -> None:
        if len(self.profile.features) != self.state.dimensions:
            problem = f"the profile has {len(self.profile.features)} values, the state {self.state.dimensions} tags"
            raise InvalidInput("state", f"{problem}; grow it with learner.grow(state, vocabulary.dimensions)")
        self.learner.direction(self.state)  # refuses a state of another rule

    def forward(self, features: Matrix, appeal: Vector) -> Vector:
        """How the viewer takes to each row."""
        if isinstance(self.learner, BeliefLearner):
            return np.asarray(self.learner.probability(self.state, features, appeal))
        cosines = _cosines(as_matrix(features, "features"), self.learner.direction(self.state))
        return np.asarray(self.learner.score(self.state, features)) if np.isnan(cosines).any() else cosines

    def backward(self, states: Sequence[State]) -> Vector:
        """How each of many takes to the viewer."""
        if isinstance(self.learner, BeliefLearner):
            return self.learner.probabilities_by(states, self.profile.features, self.appeal)
        if not states:
            return np.empty(0)
        d = self.state.dimensions
        learners, _, dimensions, cells, _ = zip(*states, strict=True)
        if set(learners) != {self.learner.slug} or set(dimensions) != {d}:
            problem = next(one for one in states if (one.learner, one.dimensions) != (self.learner.slug, d))
            raise InvalidInput(
                "states", f"one is of {problem.learner!r} over {problem.dimensions} tags, the viewer's is {self.state!r}"
            )
        if len(set(map(len, cells))) > 1:  # swipes that are pending
            cells = tuple(some[:d] for some in cells)
        # The preference comes first in a state.
        return _cosines(np.concatenate(cells).reshape(len(states), -1), self.profile.features)


@compiled
def _cosines(rows: Matrix, v: Vector) -> Vector:
    """The cosine of each row's first cells with v; NaN for rows that cannot be used."""
    cosines, d = np.empty(len(rows)), len(v)
    for i in range(len(rows)):
        va, vv, aa = products(v, rows[i, :d])
        cosines[i] = cosine_of(va, vv, aa) if usable(aa) else np.nan
    return cosines


def usual_fusion(learner: Learner) -> str:
    """The product of probabilities, and the paper's geometric mean where a learner has none."""
    return "product" if isinstance(learner, BeliefLearner) else "geometric"
