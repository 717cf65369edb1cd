"""`greedy`: the highest mutual scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.recommend.samplers.contract import Draw, Pool, Retrieval, Sampler, descending
from kaczmatch.recommend.samplers.ranked_draw import draw_ranked


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Greedy(Sampler):
    """The k best. It has no support: nobody else is ever shown, except by a uniform floor."""

    slug: ClassVar[str] = "greedy"
    retrieval: ClassVar[Retrieval] = Retrieval.BEST_MUTUAL
    shortlist: ClassVar[int] = 128  # more than k, because the index rounds scores
    why: ClassVar[str] = "among the best fits both ways"

    def draw(self, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
        scores = np.where(pool.capped, -1.0, pool.mutual)
        return draw_ranked(descending(scores, rng), size)
