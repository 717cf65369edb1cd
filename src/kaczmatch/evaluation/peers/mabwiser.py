"""MABWiser: a contextual bandit with one arm, showing the candidate, whose reward is a like."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, final

import numpy as np
from mabwiser.mab import MAB, LearningPolicy

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.peers.individual import IndividualPeer

_SHOW = "show"
_EXPLORATION, _RIDGE = 0.1, 5.0  # what is ranked is ranked once: at the default of 1 the draws of LinTS drown what it knows


@final
class BanditModel:
    """Candidates are ranked by what the policy expects of showing them, its exploration included."""

    predicts_probabilities = False

    def __init__(self, policy: Any, seed: int) -> None:
        self._bandit = MAB([_SHOW], policy, seed=seed)
        self._empty = True

    def encode(self, features: Vector) -> Matrix:
        return _with_constant(features[None])

    def learn(self, candidate: Matrix, like: bool) -> None:
        learn = self._bandit.fit if self._empty else self._bandit.partial_fit
        learn([_SHOW], [float(like)], candidate)
        self._empty = False

    def scores(self, features: Matrix) -> Vector:
        if self._empty:
            return np.zeros(len(features))
        said = deepcopy(self._bandit).predict_expectations(_with_constant(features))  # its draws are not to move the next ones
        return np.array([one[_SHOW] for one in (said if isinstance(said, list) else [said])])


def _with_constant(features: Matrix) -> Matrix:
    return np.column_stack([features, np.ones(len(features))])


def peers() -> Sequence[IndividualPeer]:
    ucb = LearningPolicy.LinUCB(alpha=_EXPLORATION, l2_lambda=_RIDGE)
    thompson = LearningPolicy.LinTS(alpha=_EXPLORATION, l2_lambda=_RIDGE)
    return [
        IndividualPeer("MABWiser LinUCB", lambda seed: BanditModel(ucb, seed)),
        IndividualPeer("MABWiser LinTS", lambda seed: BanditModel(thompson, seed)),
    ]
