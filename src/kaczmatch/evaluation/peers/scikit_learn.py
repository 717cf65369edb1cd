"""scikit-learn: one step of stochastic gradient descent per swipe, and a logistic regression fitted anew to all swipes so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from sklearn.linear_model import LogisticRegression, SGDClassifier

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.peers.individual import IndividualPeer


@final
class GradientModel:
    """`SGDClassifier.partial_fit` with the logistic loss."""

    predicts_probabilities = True

    def __init__(self, seed: int) -> None:
        self._classifier = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.1, random_state=seed)
        self._empty = True

    def encode(self, features: Vector) -> Matrix:
        return features[None]

    def learn(self, candidate: Matrix, like: bool) -> None:
        self._classifier.partial_fit(candidate, [like], classes=[False, True])
        self._empty = False

    def scores(self, features: Matrix) -> Vector:
        return np.zeros(len(features)) if self._empty else np.asarray(self._classifier.decision_function(features))


@final
class RefittedModel:
    """`LogisticRegression.fit` after every swipe; before it has seen a like and a pass it knows the rate alone."""

    predicts_probabilities = True

    def __init__(self) -> None:
        self._seen: list[Vector] = []
        self._likes: list[bool] = []
        self._classifier = LogisticRegression(C=0.3, solver="liblinear")

    def encode(self, features: Vector) -> Vector:
        return features

    def learn(self, candidate: Vector, like: bool) -> None:
        self._seen.append(candidate)
        self._likes.append(like)
        if self._ready:
            self._classifier.fit(np.array(self._seen), self._likes)

    def scores(self, features: Matrix) -> Vector:
        if self._ready:
            return np.asarray(self._classifier.decision_function(features))
        likes = sum(self._likes)
        return np.full(len(features), np.log((likes + 1.0) / (len(self._likes) - likes + 1.0)))

    @property
    def _ready(self) -> bool:
        return len(set(self._likes)) > 1


def peers() -> Sequence[IndividualPeer]:
    return [
        IndividualPeer("scikit-learn SGD", GradientModel),
        IndividualPeer("scikit-learn logistic, refitted", lambda _: RefittedModel()),
    ]
