"""Scores of a pool under tastes drawn from a belief."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.learners.contract import BeliefLearner
from kaczmatch.learners.gaussian import GaussianLearner
from kaczmatch.recommend.samplers.contract import Pool


def belief_of(pool: Pool, sampler: str) -> GaussianLearner:
    """The viewer's learner, if it has a belief."""
    if not isinstance(pool.viewer.learner, GaussianLearner):
        raise InvalidInput(
            "sampler",
            f"{sampler!r} needs a learner that knows how sure it is, such as 'probit-diag', not {pool.viewer.learner.slug!r}",
        )
    return pool.viewer.learner


def drawn_scores(pool: Pool, draws: int, temper: float, rng: np.random.Generator, sampler: str) -> NDArray[np.float32]:
    """A row a drawn taste, a column a candidate; `temper` scales how far the tastes stray from the mean.

    float32 is enough to rank by, and twice as quick.
    """
    learner: BeliefLearner = belief_of(pool, sampler)
    mean = learner.mean(pool.viewer.state)
    tastes = mean + temper * (learner.draws(pool.viewer.state, draws, rng) - mean)
    return tastes.astype(np.float32) @ learner.coordinates(pool.features, pool.appeal).astype(np.float32).T
