"""`mutual`: the best by a tempered draw of the viewer's taste times the other's probability."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from scipy.special import ndtr

from kaczmatch.core.errors import checked, whole
from kaczmatch.recommend.samplers.contract import BeliefSampler, Draw, Pool, Reach
from kaczmatch.recommend.samplers.ranking import one_of_many
from kaczmatch.recommend.samplers.tastes import drawn_scores


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Mutual(BeliefSampler):
    """Rank by P(like | w) · P(liked back) with w drawn from the belief, its spread scaled by `temper`.

    Where both sides choose, the other's probability matters more than exploring one's own taste: hence the tempering.
    """

    slug: ClassVar[str] = "mutual"
    reach: ClassVar[Reach] = Reach.BEST
    shortlist: ClassVar[int] = 500  # a tempered draw strays no further down than that
    why: ClassVar[str] = "likely to be liked both ways"

    temper: float = 0.25
    draws: int = 64  # tastes to estimate the probabilities from

    def __post_init__(self) -> None:
        checked("temper", self.temper, low=0.0, high=10.0)
        whole("draws", self.draws, low=1, high=10_000)

    def draw(self, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
        learner = self.belief(pool.viewer.learner)
        z = drawn_scores(learner, pool, self.draws, self.temper, rng) / np.float32(math.sqrt(learner.alpha))
        epsilon = learner.carelessness(pool.viewer.state)
        likes = np.float32(epsilon) + np.float32(1.0 - 2.0 * epsilon) * ndtr(z)
        return one_of_many(np.where(pool.capped, np.float32(-1.0), likes * pool.backward.astype(np.float32)), size, rng)
