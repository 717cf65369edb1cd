"""`row-norm`: in proportion to the squared row norm, for 0/1 tags the number of tags (paper, section 6)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.errors import checked
from kaczmatch.recommend.samplers.contract import Draw, Pool, Reach, Sampler
from kaczmatch.recommend.samplers.weighted_draw import race


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RowNorm(Sampler):
    """P(j) ∝ ‖a_j‖², clipped to [least, most] times the pool's median.

    As published (the default) nothing is clipped, and then tags can be stuffed: sixty of them get twice the median exposure, and
    a profile without tags gets none.
    """

    slug: ClassVar[str] = "row-norm"
    reach: ClassVar[Reach] = Reach.EVERYBODY
    why: ClassVar[str] = "drawn by the number of tags"

    least: float = 0.0
    most: float = math.inf

    def __post_init__(self) -> None:
        checked("least", self.least, low=0.0, high=1.0)
        checked("most", self.most, low=1.0)

    def draw(self, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
        weights = pool.squared_norms
        if len(pool):
            median = float(np.median(weights)) or 1.0
            weights = np.clip(weights, self.least * median, self.most * median)
        return race(np.where(pool.capped, 0.0, weights), size, rng)
