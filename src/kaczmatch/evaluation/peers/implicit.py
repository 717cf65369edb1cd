"""implicit: matrix factors by Bayesian personalised ranking (of likes) and by alternating least squares (of likes and passes)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from implicit.cpu.als import AlternatingLeastSquares
from implicit.cpu.bpr import BayesianPersonalizedRanking
from scipy.sparse import csr_array, csr_matrix
from threadpoolctl import threadpool_limits

from kaczmatch.evaluation.peers.population import BPR, Factors, PopulationPeer

# On the fit users of the two logs in docs/peers.md: ALS far better than by the defaults (100 factors) on both, BPR on one and no worse on the other.
_RANKING: dict[str, Any] = {"factors": 8, "learning_rate": 0.03, "regularization": 0.05}
_SQUARES: dict[str, Any] = {"factors": 8, "regularization": 1.0, "alpha": 10.0}


def ranked(swipes: csr_array, seed: int) -> Factors:
    """What is liked goes before what is not known to be liked; a pass is as good as not seen."""
    likes = csr_matrix(swipes.maximum(0.0))
    likes.eliminate_zeros()
    return _fitted(lambda: BayesianPersonalizedRanking(**_RANKING, random_state=seed, num_threads=1), likes)


def least_squares(swipes: csr_array, seed: int) -> Factors:
    """A pass is a 0 that is as sure as the 1 of a like."""
    return _fitted(lambda: AlternatingLeastSquares(**_SQUARES, random_state=seed, num_threads=1), csr_matrix(swipes))


def _fitted(make: Callable[[], Any], swipes: csr_matrix) -> Factors:
    with threadpool_limits(1, "blas"):  # more threads give other numbers, and implicit asks for it
        model = make()
        model.fit(swipes, show_progress=False)
    return model.user_factors, model.item_factors


def peers() -> Sequence[PopulationPeer]:
    return [PopulationPeer(BPR, ranked), PopulationPeer("implicit ALS", least_squares)]
