"""`thompson`: Thompson sampling, the best by one taste drawn from the belief about the viewer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.errors import check_integer
from kaczmatch.recommend.samplers.contract import BeliefSampler, Draw, Pool, Retrieval
from kaczmatch.recommend.samplers.ranked_draw import draw_by_samples
from kaczmatch.recommend.samplers.sampled_scores import sample_scores


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Thompson(BeliefSampler):
    """Rank by w·x with w ~ N(m, P): explores where the viewer's taste is uncertain, and ignores backward scores."""

    slug: ClassVar[str] = "thompson"
    retrieval: ClassVar[Retrieval] = Retrieval.BEST_FORWARD
    why: ClassVar[str] = "a good fit to what your taste may be"

    draws: int = 64  # tastes to estimate the probabilities from

    def __post_init__(self) -> None:
        check_integer("draws", self.draws, low=1, high=10_000)

    def draw(self, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
        learner = self.require_belief(pool.viewer.learner)
        x = learner.coordinates(pool.features, pool.others)
        scores = sample_scores(learner, pool.viewer.state, x, self.draws, 1.0, rng)
        return draw_by_samples(np.where(pool.capped, np.float32(-np.inf), scores), size, rng)
