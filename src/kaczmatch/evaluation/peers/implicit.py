"""implicit: matrix factors by Bayesian personalised ranking (of likes) and by alternating least squares (of likes and passes)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, final

import numpy as np
from implicit.cpu.als import AlternatingLeastSquares
from implicit.cpu.bpr import BayesianPersonalizedRanking
from scipy.sparse import csr_array, csr_matrix
from threadpoolctl import threadpool_limits

from kaczmatch.core.vectors import Vector
from kaczmatch.evaluation.peers.population import BPR, PopulationPeer

# On the fit users of the two logs in docs/peers.md: ALS far better than by the defaults (100 factors) on both, BPR on one and no worse on the other.
_RANKING: dict[str, Any] = {"factors": 8, "learning_rate": 0.03, "regularization": 0.05}
_SQUARES: dict[str, Any] = {"factors": 8, "regularization": 1.0, "alpha": 10.0}


@final
class Factors:
    """Factors of users and candidates. A user of whom the model has heard nothing gets the average of those it knows."""

    def __init__(self, make: Callable[[], Any], swipes: csr_matrix, *, folds_in: bool) -> None:
        with threadpool_limits(1, "blas"):  # more threads give other numbers, and implicit asks for it
            self._model = make()
            self._model.fit(swipes, show_progress=False)
        self._folds_in = folds_in
        self._known = np.asarray(swipes.maximum(0.0).sum(axis=1)).ravel() > 0.0
        factors = self._model.user_factors
        self._average = factors[self._known].mean(axis=0) if self._known.any() else np.zeros(factors.shape[1])

    def scores(self, user: int, own: csr_array) -> Vector:
        if self._folds_in and own.maximum(0.0).sum() > 0.0:
            factors = self._model.recalculate_user(0, csr_matrix(own))
        else:
            factors = self._model.user_factors[user] if self._known[user] and not self._folds_in else self._average
        return np.asarray(self._model.item_factors @ np.asarray(factors).ravel())


def ranked(swipes: csr_array, seed: int) -> Factors:
    """What is liked goes before what is not known to be liked; a pass is as good as not seen."""
    likes = csr_matrix(swipes.maximum(0.0))
    likes.eliminate_zeros()
    return Factors(lambda: BayesianPersonalizedRanking(**_RANKING, random_state=seed, num_threads=1), likes, folds_in=False)


def least_squares(swipes: csr_array, seed: int) -> Factors:
    """A pass is a 0 that is as sure as the 1 of a like. Users are folded in by their own decisions."""
    make = partial(AlternatingLeastSquares, **_SQUARES, random_state=seed, num_threads=1)
    return Factors(make, csr_matrix(swipes), folds_in=True)


def peers() -> Sequence[PopulationPeer]:
    return [PopulationPeer(BPR, ranked), PopulationPeer("implicit ALS", least_squares)]
