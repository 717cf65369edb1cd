"""`mutual`: the best by a tempered draw of the viewer's taste times the probability of a like back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.errors import check_integer, check_number
from kaczmatch.recommend.samplers.contract import BeliefSampler, Draw, Pool, Retrieval
from kaczmatch.recommend.samplers.ranked_draw import draw_by_samples
from kaczmatch.recommend.samplers.sampled_scores import sample_scores, to_match_probabilities


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Mutual(BeliefSampler):
    """Rank by P(like | w) · P(liked back) with w drawn from the belief, its spread scaled by `temper`.

    Where both sides choose, the backward score matters more than exploring the viewer's taste. Hence the tempering. A draw with a
    spread scaled by t explains t² of the belief's variance. The probability is averaged over the rest,

        P(like | w) = ε + (1 − 2ε) Φ(w·x / √((1 − t²) xᵀPx + α)),

    so that over all draws it is what the belief says: `greedy` at t = 0, a Thompson draw at t = 1.
    """

    slug: ClassVar[str] = "mutual"
    retrieval: ClassVar[Retrieval] = Retrieval.BEST_MUTUAL
    shortlist: ClassVar[int] = 500  # a tempered draw reaches no further down than that
    why: ClassVar[str] = "likely to be liked both ways"

    temper: float = 0.25
    draws: int = 64  # tastes to estimate the probabilities from

    def __post_init__(self) -> None:
        check_number("temper", self.temper, low=0.0, high=10.0)
        check_integer("draws", self.draws, low=1, high=10_000)

    def draw(self, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
        learner, state = self.require_belief(pool.viewer.learner), pool.viewer.state
        x = learner.coordinates(pool.features, pool.others)
        scores = sample_scores(learner, state, x, self.draws, self.temper, rng)
        left = max(1.0 - self.temper**2, 0.0) * learner.score_variance(state, x)
        left = left + learner.decision_noise(state, pool.others)
        label_noise = np.float32(learner.estimated_label_noise(state))
        to_match_probabilities(scores, (1.0 / np.sqrt(left)).astype(np.float32), label_noise, pool.backward.astype(np.float32))
        if pool.capped.any():
            scores[:, pool.capped] = -1.0
        return draw_by_samples(scores, size, rng)
