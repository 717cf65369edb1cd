"""Our own learners under the peers' protocol, one live swipe at a time: so their time is measured in the same way."""

from __future__ import annotations

from typing import final

import numpy as np

from kaczmatch.core.swipes import ShownCandidate
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.peers.individual import IndividualPeer
from kaczmatch.evaluation.protocol.contenders import Contender
from kaczmatch.learners.belief.gaussian import GaussianLearner


@final
class OwnModel:
    """Live calls of one contender, for one user."""

    predicts_probabilities = False  # its scores are not log-odds

    def __init__(self, contender: Contender, appeal: bool) -> None:
        self._learner = contender.learner
        self._state = contender.learner.start(contender.prior)
        self._appeal = appeal

    def encode(self, features: Vector) -> ShownCandidate:
        return ShownCandidate(features[:-1], float(features[-1])) if self._appeal else ShownCandidate(features)

    def learn(self, candidate: ShownCandidate, like: bool) -> None:
        self._state = self._learner.swipe(self._state, candidate, 1 if like else -1)

    def scores(self, features: Matrix) -> Vector:
        tags, appeal = (features[:, :-1], features[:, -1]) if self._appeal else (features, 0.0)
        return np.asarray(self._learner.score(self._state, tags, appeal))


def as_peer(contender: Contender) -> IndividualPeer:
    appeal = isinstance(contender.learner, GaussianLearner) and contender.learner.appeal
    return IndividualPeer(contender.name, lambda _: OwnModel(contender, appeal), appeal=appeal)
