"""EASE (Steck 2019): a linear model from decisions to decisions in closed form, B = I − P diag(1/P) with P = (XᵀX + λI)⁻¹.

Solved on the users' side, P = (I − Xᵀ(XXᵀ + λI)⁻¹X)/λ, so that it costs the cube of users, not of candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from scipy.sparse import csr_array

from kaczmatch.core.vectors import Vector
from kaczmatch.evaluation.peers.population import PopulationPeer

_RIDGE = 100.0


@final
class Ease:
    """A user is what they decided, beside the average of everybody, which is all that is known of a newcomer."""

    def __init__(self, swipes: csr_array, seed: int) -> None:  # noqa: ARG002
        self._x = swipes[np.flatnonzero(np.diff(swipes.indptr))].astype(np.float64)
        gram = (self._x @ self._x.T).toarray() + _RIDGE * np.eye(self._x.shape[0])
        self._solved = np.asarray(np.linalg.solve(gram, self._x.toarray()))
        self._diagonal = 1.0 - np.asarray(self._x.multiply(self._solved).sum(axis=0)).ravel()
        self._average = np.asarray(self._x.sum(axis=0)).ravel() / self._x.shape[0]

    def scores(self, user: int, own: csr_array) -> Vector:  # noqa: ARG002
        asked = np.asarray(own.toarray()).ravel() + self._average
        return np.asarray(asked - (asked - (self._x @ asked) @ self._solved) / self._diagonal)


def peers() -> Sequence[PopulationPeer]:
    return [PopulationPeer("EASE", Ease)]
