"""`uniform`: everybody with the same probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.recommend.samplers.contract import Draw, Pool, Retrieval, Sampler
from kaczmatch.recommend.samplers.weighted_draw import draw_weighted


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Uniform(Sampler):
    """P(j) = k/n."""

    slug: ClassVar[str] = "uniform"
    retrieval: ClassVar[Retrieval] = Retrieval.EVERYBODY
    why: ClassVar[str] = "drawn at random"

    def draw(self, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
        return draw_weighted(np.where(pool.capped, 0.0, 1.0), size, rng)
