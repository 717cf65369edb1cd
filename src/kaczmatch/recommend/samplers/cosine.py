"""`cosine`: two stages, some candidates uniformly, then of those by how well they fit (paper, section 6.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.vectors import unit_rows
from kaczmatch.recommend.samplers.contract import Draw, Pool, TwoStageSampler
from kaczmatch.recommend.samplers.weighted_draw import race


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Cosine(TwoStageSampler):
    """C = 2k uniformly, then k of them with P(j) ∝ max(0, v̂·â_j)."""

    slug: ClassVar[str] = "cosine"
    why: ClassVar[str] = "drawn by how well the tags fit yours"

    def some(self, size: int) -> int:
        return 2 * size

    def draw(self, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
        fits = unit_rows(pool.features) @ pool.viewer.learner.direction(pool.viewer.state)
        return race(np.where(pool.capped, 0.0, np.maximum(fits, 0.0)), size, rng)
