"""`cosine`: two stages, a uniform sample, then a draw by cosine from it (paper, section 6.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.vectors import unit_rows
from kaczmatch.recommend.samplers.contract import Draw, Pool, TwoStageSampler
from kaczmatch.recommend.samplers.weighted_draw import draw_weighted


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Cosine(TwoStageSampler):
    """C = 2k uniformly, then k of them with P(j) ∝ max(0, v̂·â_j)."""

    slug: ClassVar[str] = "cosine"
    why: ClassVar[str] = "drawn by how well the tags fit yours"

    def first_stage_size(self, size: int) -> int:
        return 2 * size

    def draw(self, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
        fits = unit_rows(pool.features) @ pool.viewer.learner.direction(pool.viewer.state)
        return draw_weighted(np.where(pool.capped, 0.0, np.maximum(fits, 0.0)), size, rng)
