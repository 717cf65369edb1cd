"""River: passive-aggressive, logistic regression, ALMA, AdPredictor; one swipe at a time on the tags that are present.

Where settings differ from River's defaults, these were better on the fit users of the MovieLens log in docs/peers.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from river import linear_model, optim
from scipy.special import logit

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.peers.individual import IndividualPeer

Candidate = dict[Any, float]

_SUREST = 1e-12


def present(features: Vector) -> Candidate:
    """Features that are not 0, by their number."""
    return {int(place): float(features[place]) for place in np.flatnonzero(features)}


def with_constant(features: Vector) -> Candidate:
    """ALMA has no intercept of its own."""
    return present(features) | {"always": 1.0}


def in_steps(features: Vector) -> Candidate:
    """AdPredictor takes a feature as there or not, so a number that is neither 0 nor 1 is one of many halves."""
    return {place if value == 1.0 else (place, round(2.0 * value)): 1.0 for place, value in present(features).items()}


@final
class RiverModel:
    """Any of River's classifiers."""

    predicts_probabilities = True

    def __init__(self, classifier: Any, encode: Callable[[Vector], Candidate]) -> None:
        self._classifier = classifier
        self.encode = encode

    def learn(self, candidate: Candidate, like: bool) -> None:
        self._classifier.learn_one(candidate, like)

    def scores(self, features: Matrix) -> Vector:
        said = [self._classifier.predict_proba_one(self.encode(row)).get(True, 0.5) for row in features]
        return np.asarray(logit(np.clip(said, _SUREST, 1.0 - _SUREST)))


def peers() -> Sequence[IndividualPeer]:
    def passive_aggressive() -> Any:
        return linear_model.PAClassifier(C=0.1, mode=2)  # type: ignore[no-untyped-call]

    def logistic() -> Any:
        return linear_model.LogisticRegression(optimizer=optim.SGD(0.1), intercept_lr=0.1)

    def alma() -> Any:
        return linear_model.ALMAClassifier()  # type: ignore[no-untyped-call]

    def ad_predictor() -> Any:
        return linear_model.AdPredictor(beta=3.0, epsilon=0.0)

    return [
        IndividualPeer("River PA", lambda _: RiverModel(passive_aggressive(), present)),
        IndividualPeer("River logistic", lambda _: RiverModel(logistic(), present)),
        IndividualPeer("River ALMA", lambda _: RiverModel(alma(), with_constant)),
        IndividualPeer("River AdPredictor", lambda _: RiverModel(ad_predictor(), in_steps)),
    ]
