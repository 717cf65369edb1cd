"""What a viewer makes of candidates and they of the viewer, exactly, from the states.

Learners with a belief answer with probabilities, all others with the paper's cosines.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Matrix, Vector, times, unit
from kaczmatch.learners.contract import BeliefLearner, Learner
from kaczmatch.learners.state import State
from kaczmatch.recommend.profile import Profile

_RULE_AND_SIZE = operator.attrgetter("learner", "dimensions")


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

    def likes(self, features: Matrix, appeal: Vector) -> Vector:
        """How the viewer takes to each row."""
        if isinstance(self.learner, BeliefLearner):
            return np.asarray(self.learner.probability(self.state, features, appeal))
        return np.asarray(self.learner.score(self.state, features))

    def liked_by(self, states: Sequence[State]) -> Vector:
        """How each of many takes to the viewer."""
        if isinstance(self.learner, BeliefLearner):
            return self.learner.probabilities_by(states, self.profile.features, self.appeal)
        d = self.state.dimensions
        if not states:
            return np.empty(0)
        for learner, dimensions in set(map(_RULE_AND_SIZE, states)):
            if (learner, dimensions) != (self.learner.slug, d):
                raise InvalidInput("states", f"one is of {learner!r} over {dimensions} tags, the viewer's is {self.state!r}")
        cells = [state.cells for state in states]
        if len(set(map(len, cells))) > 1:  # swipes that are pending
            cells = [some[:d] for some in cells]
        weights = np.concatenate(cells).reshape(len(states), -1)[:, :d]  # the preference comes first in a state
        lengths = np.sqrt(np.einsum("ij,ij->i", weights, weights))
        likes, nothing = times(weights, unit(self.profile.features)), np.zeros(len(states))
        return np.asarray(np.divide(likes, lengths, out=nothing, where=lengths > 0.0))


def usual_fusion(learner: Learner) -> str:
    """The product of probabilities, and the paper's geometric mean where a learner has none."""
    return "product" if isinstance(learner, BeliefLearner) else "geometric"
