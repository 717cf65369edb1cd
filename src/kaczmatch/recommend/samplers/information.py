"""`information`: the cards whose answers are expected to teach most, for somebody new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from scipy.special import entr, ndtr

from kaczmatch.core.errors import whole
from kaczmatch.core.vectors import Vector
from kaczmatch.recommend.samplers.contract import BeliefSampler, Draw, Pool, Rows, TwoStageSampler, in_order
from kaczmatch.recommend.samplers.ranked_draw import ranked

_GRID = np.linspace(-8.0, 8.0, 641)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Information(TwoStageSampler, BeliefSampler):
    """One card after the other, each with the largest expected information about the taste once the ones before are answered.

    The information of an answer y is I(y; w) = H(y) − E_w[H(y | w)] (Houlsby et al. 2011). An answer shrinks the belief along
    Px, whatever it is, about as a measurement with the probit's noise does, so that the next card asks something else.
    """

    slug: ClassVar[str] = "information"
    why: ClassVar[str] = "your answer tells most about your taste"

    among: int = 512  # candidates to look at, drawn uniformly

    def __post_init__(self) -> None:
        whole("among", self.among, low=1, high=100_000)

    def some(self, size: int) -> int:
        return max(size, self.among)

    def draw(self, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
        learner = self.belief(pool.viewer.learner)
        x = learner.coordinates(pool.features, pool.appeal)
        mean, covariance = x @ learner.mean(pool.viewer.state), learner.covariance(pool.viewer.state)
        px = x @ covariance
        spread = np.einsum("ij,ij->i", px, x)
        epsilon = learner.carelessness(pool.viewer.state)
        chosen: list[int] = []
        penalty = np.where(pool.capped, 1.0, 0.0)  # more than any answer tells
        for _ in range(min(size, len(pool))):
            best = int(in_order(information(mean, spread, learner.alpha, epsilon) - penalty, rng)[0])
            chosen.append(best)
            penalty[best] = np.inf
            along = px[best] / np.sqrt(spread[best] + learner.alpha)
            across = x @ along  # xᵀPx_best/√q
            spread = np.maximum(spread - across**2, 0.0)
            px = px - np.outer(across, along)
        order: Rows = np.array(chosen, np.int64)
        rest = np.setdiff1d(np.arange(len(pool)), order)
        return ranked(np.concatenate([order, rest]), size)


def information(mean: Vector, spread: Vector, alpha: float, epsilon: float) -> Vector:
    """What an answer is expected to tell, in nats: its entropy less what carelessness and noise leave of it anyway.

    The entropy that a known taste leaves is that of carelessness plus a bump where the taste is undecided. The bump is taken
    for a normal curve of the same height and area, which makes its expectation a formula.
    """
    careless = float(entropy(np.array(epsilon)))
    bump = entropy(_like(epsilon, _GRID)) - careless
    height = np.log(2.0) - careless
    width = alpha * (np.trapezoid(bump, _GRID) / height) ** 2 / (2.0 * np.pi)  # squared
    left = careless + height * np.sqrt(width / (width + spread)) * np.exp(-0.5 * mean**2 / (width + spread))
    likely = _like(epsilon, mean / np.sqrt(spread + alpha))
    return np.asarray(np.maximum(entropy(likely) - left, 0.0))


def entropy(p: Vector) -> Vector:
    """Of an answer with probability p."""
    return np.asarray(entr(p) + entr(1.0 - p))


def _like(epsilon: float, z: Vector) -> Vector:
    return np.asarray(epsilon + (1.0 - 2.0 * epsilon) * ndtr(z))
