"""Vowpal Wabbit: logistic regression by its adaptive, normalised and invariant updates, which are its defaults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
import vowpalwabbit

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.peers.individual import IndividualPeer

_BITS = 14  # of its table of weights: room for thousands of tags


@final
class VowpalWabbitModel:
    """Lines of text, as Vowpal Wabbit reads them."""

    predicts_probabilities = True

    def __init__(self) -> None:
        self._workspace = vowpalwabbit.Workspace(f"--loss_function logistic --quiet -b {_BITS}")

    def encode(self, features: Vector) -> str:
        return "| " + " ".join(f"{place}:{features[place]:.9g}" for place in np.flatnonzero(features))

    def learn(self, candidate: str, like: bool) -> None:
        self._workspace.learn(f"{1 if like else -1} {candidate}")

    def scores(self, features: Matrix) -> Vector:
        return np.array([self._workspace.predict(self.encode(row)) for row in features], np.float64)


def peers() -> Sequence[IndividualPeer]:
    return [IndividualPeer("Vowpal Wabbit logistic", lambda _: VowpalWabbitModel())]
