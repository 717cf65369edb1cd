"""`uniform`: everybody alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.recommend.samplers.contract import Draw, Pool, Reach, Sampler
from kaczmatch.recommend.samplers.weighted_draw import race


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Uniform(Sampler):
    """P(j) = k/n."""

    slug: ClassVar[str] = "uniform"
    reach: ClassVar[Reach] = Reach.EVERYBODY
    why: ClassVar[str] = "drawn at random"

    def draw(self, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
        return race(np.where(pool.capped, 0.0, 1.0), size, rng)
