"""`thompson`: the best by one taste drawn from what is believed of the viewer's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.errors import whole
from kaczmatch.recommend.samplers.contract import BeliefSampler, Draw, Pool, Reach
from kaczmatch.recommend.samplers.ranked_draw import one_of_many
from kaczmatch.recommend.samplers.sampled_scores import drawn_scores


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Thompson(BeliefSampler):
    """Rank by w·x with w ~ N(m, P): explores where the viewer's own taste is uncertain, and asks nobody else's."""

    slug: ClassVar[str] = "thompson"
    reach: ClassVar[Reach] = Reach.LIKED
    why: ClassVar[str] = "a good fit to what your taste may be"

    draws: int = 64  # tastes to estimate the probabilities from

    def __post_init__(self) -> None:
        whole("draws", self.draws, low=1, high=10_000)

    def draw(self, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
        learner = self.belief(pool.viewer.learner)
        x = learner.coordinates(pool.features, pool.appeal)
        scores = drawn_scores(learner, pool.viewer.state, x, self.draws, 1.0, rng)
        return one_of_many(np.where(pool.capped, np.float32(-np.inf), scores), size, rng)
