"""`information`: the cards whose answers are expected to tell most about the taste of a new user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from scipy.special import entr, ndtr

from kaczmatch.core.errors import check_integer
from kaczmatch.core.vectors import Vector
from kaczmatch.recommend.samplers.contract import BeliefSampler, Draw, Pool, RowIndices, TwoStageSampler, descending
from kaczmatch.recommend.samplers.ranked_draw import draw_ranked

_GRID = np.linspace(-8.0, 8.0, 641)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Information(TwoStageSampler, BeliefSampler):
    """Card after card, each with the largest expected information about the taste, given answers to the cards before.

    The information of an answer y is I(y; w) = H(y) − E_w[H(y | w)] (Houlsby et al. 2011). An answer shrinks the belief along
    Px, whatever it is, about as a measurement with the probit's noise does, so that the next card asks something else.
    """

    slug: ClassVar[str] = "information"
    why: ClassVar[str] = "your answer tells most about your taste"

    pool_size: int = 512  # candidates to choose from, drawn uniformly

    def __post_init__(self) -> None:
        check_integer("pool_size", self.pool_size, low=1, high=100_000)

    def first_stage_size(self, size: int) -> int:
        return max(size, self.pool_size)

    def draw(self, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
        learner = self.require_belief(pool.viewer.learner)
        x = learner.coordinates(pool.features, pool.others)
        mean, covariance = x @ learner.mean(pool.viewer.state), learner.covariance(pool.viewer.state)
        px = x @ covariance
        spread = np.einsum("ij,ij->i", px, x)
        noise = np.broadcast_to(learner.decision_noise(pool.viewer.state, pool.others), spread.shape)
        label_noise = learner.estimated_label_noise(pool.viewer.state)
        chosen: list[int] = []
        penalty = np.where(pool.capped, 1.0, 0.0)  # more than the information of any answer
        for _ in range(min(size, len(pool))):
            best = int(descending(expected_information(mean, spread, noise, label_noise) - penalty, rng)[0])
            chosen.append(best)
            penalty[best] = np.inf
            along = px[best] / np.sqrt(spread[best] + noise[best])
            across = x @ along  # xᵀPx_best/√q
            spread = np.maximum(spread - across**2, 0.0)
            px = px - np.outer(across, along)
        order: RowIndices = np.array(chosen, np.int64)
        rest = np.setdiff1d(np.arange(len(pool)), order)
        return draw_ranked(np.concatenate([order, rest]), size)


def expected_information(mean: Vector, spread: Vector, alpha: Vector | float, label_noise: float) -> Vector:
    """The expected information of an answer, in nats: its entropy minus the entropy that remains when the taste is known.

    What remains is the entropy of the label noise plus a bump where the taste is undecided. The bump is approximated by a normal
    curve of the same height and area, so that its expectation has a closed form.
    """
    noise_entropy = float(entropy(np.array(label_noise)))
    bump = entropy(_like_probability(label_noise, _GRID)) - noise_entropy
    height = np.log(2.0) - noise_entropy
    width = alpha * (np.trapezoid(bump, _GRID) / height) ** 2 / (2.0 * np.pi)  # squared
    left = noise_entropy + height * np.sqrt(width / (width + spread)) * np.exp(-0.5 * mean**2 / (width + spread))
    likely = _like_probability(label_noise, mean / np.sqrt(spread + alpha))
    return np.asarray(np.maximum(entropy(likely) - left, 0.0))


def entropy(p: Vector) -> Vector:
    """Of an answer with probability p."""
    return np.asarray(entr(p) + entr(1.0 - p))


def _like_probability(label_noise: float, z: Vector) -> Vector:
    return np.asarray(label_noise + (1.0 - 2.0 * label_noise) * ndtr(z))
