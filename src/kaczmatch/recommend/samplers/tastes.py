"""Scores of a pool under tastes drawn from a belief."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled
from kaczmatch.learners.contract import BeliefLearner
from kaczmatch.recommend.samplers.contract import Pool


def drawn_scores(learner: BeliefLearner, pool: Pool, draws: int, temper: float, rng: np.random.Generator) -> NDArray[np.float32]:
    """A row a drawn taste, a column a candidate; `temper` scales how far the tastes stray from the mean.

    float32 is enough to rank by, and twice as quick.
    """
    mean = learner.mean(pool.viewer.state)
    tastes = mean + temper * (learner.draws(pool.viewer.state, draws, rng) - mean)
    x = learner.coordinates(pool.features, pool.appeal)
    return _products(tastes.astype(np.float32), np.ascontiguousarray(x.T, np.float32))


@compiled
def _products(tastes: NDArray[np.float32], columns: NDArray[np.float32]) -> NDArray[np.float32]:
    """A matrix product on this thread alone: BLAS would wake others, which costs more than it saves on so little."""
    scores = np.zeros((tastes.shape[0], columns.shape[1]), np.float32)
    for i in range(tastes.shape[0]):
        row = scores[i]
        for k in range(columns.shape[0]):
            weight, column = tastes[i, k], columns[k]
            for j in range(row.shape[0]):
                row[j] += weight * column[j]
    return scores
