"""`mutual`: the best by a tempered draw of the viewer's taste times the other's probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.errors import checked, whole
from kaczmatch.recommend.samplers.contract import BeliefSampler, Draw, Pool, Reach
from kaczmatch.recommend.samplers.ranked_draw import one_of_many
from kaczmatch.recommend.samplers.sampled_scores import drawn_scores, likely


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Mutual(BeliefSampler):
    """Rank by P(like | w) · P(liked back) with w drawn from the belief, its spread scaled by `temper`.

    Where both sides choose, the other's probability matters more than exploring one's own taste: hence the tempering. A draw
    that strays a share t as far as the belief explains t² of its variance; the probability is averaged over the rest,

        P(like | w) = ε + (1 − 2ε) Φ(w·x / √((1 − t²) xᵀPx + α)),

    so that over all draws it is what the belief says: `greedy` at t = 0, a Thompson draw at t = 1.
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
        learner, state = self.belief(pool.viewer.learner), pool.viewer.state
        x = learner.coordinates(pool.features, pool.appeal)
        scores = drawn_scores(learner, state, x, self.draws, self.temper, rng)
        left = max(1.0 - self.temper**2, 0.0) * learner.spread(state, x) + learner.alpha
        epsilon = np.float32(learner.carelessness(state))
        likely(scores, (1.0 / np.sqrt(left)).astype(np.float32), epsilon, pool.backward.astype(np.float32))
        scores[:, pool.capped] = -1.0
        return one_of_many(scores, size, rng)
