"""`row-norm`: in proportion to the squared row norm, for 0/1 tags the number of tags (paper, section 6)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.errors import check_number
from kaczmatch.recommend.samplers.contract import Draw, Pool, Retrieval, Sampler
from kaczmatch.recommend.samplers.weighted_draw import draw_weighted


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RowNorm(Sampler):
    """P(j) ∝ ‖a_j‖², clipped to [least, most] times the pool's median.

    As published (the default) nothing is clipped. A profile with sixty tags then gets twice the median exposure, and a profile
    without tags gets none.
    """

    slug: ClassVar[str] = "row-norm"
    retrieval: ClassVar[Retrieval] = Retrieval.EVERYBODY
    why: ClassVar[str] = "drawn by the number of tags"

    least: float = 0.0
    most: float = math.inf

    def __post_init__(self) -> None:
        check_number("least", self.least, low=0.0, high=1.0)
        check_number("most", self.most, low=1.0)

    def draw(self, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
        weights = pool.squared_norms
        if len(pool):
            median = float(np.median(weights)) or 1.0
            weights = np.clip(weights, self.least * median, self.most * median)
        return draw_weighted(np.where(pool.capped, 0.0, weights), size, rng)
