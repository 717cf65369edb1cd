"""Our own learners under the peers' protocol, one live swipe at a time: so their time is measured in the same way."""

from __future__ import annotations

from typing import final

import numpy as np

from kaczmatch.core.swipes import ShownCandidate, appeal_rows
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.peers.individual import IndividualPeer
from kaczmatch.evaluation.protocol.contenders import Contender
from kaczmatch.learners.belief.gaussian import Probit, ProbitDiagonal


@final
class OwnModel:
    """Live calls of one contender, for one user."""

    predicts_probabilities = False  # its scores are not log-odds

    def __init__(self, contender: Contender, said: int) -> None:
        self._learner = contender.learner
        self._state = contender.learner.start(contender.prior)
        self._said = said  # columns after the tags: none, one of appeal, or traits and their doubts

    def encode(self, features: Vector) -> ShownCandidate:
        tags, said = features[: len(features) - self._said], features[len(features) - self._said :]
        return ShownCandidate(tags, said if self._said > 1 else appeal_rows(said)[0] if self._said else ())

    def learn(self, candidate: ShownCandidate, like: bool) -> None:
        self._state = self._learner.swipe(self._state, candidate, 1 if like else -1)

    def scores(self, features: Matrix) -> Vector:
        tags, said = features[:, : features.shape[1] - self._said], features[:, features.shape[1] - self._said :]
        return np.asarray(
            self._learner.score(self._state, tags, said if self._said > 1 else appeal_rows(said[:, 0]) if self._said else ())
        )


def as_peer(contender: Contender) -> IndividualPeer:
    appeal = isinstance(contender.learner, Probit | ProbitDiagonal) and contender.learner.appeal
    said = int(appeal) if contender.traits is None else contender.traits.model.learner.said_width
    return IndividualPeer(contender.name, lambda _: OwnModel(contender, said), appeal=appeal, traits=contender.traits)
