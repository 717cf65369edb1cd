"""`greedy`: the highest both-way scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.recommend.samplers.contract import Draw, Pool, Reach, Sampler, in_order
from kaczmatch.recommend.samplers.ranked_draw import ranked


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Greedy(Sampler):
    """The k best. It has no support: whoever is not among them is never shown, unless by a uniform floor."""

    slug: ClassVar[str] = "greedy"
    reach: ClassVar[Reach] = Reach.BEST
    shortlist: ClassVar[int] = 128  # the index rounds, but not that much
    why: ClassVar[str] = "among the best fits both ways"

    def draw(self, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
        scores = np.where(pool.capped, -1.0, pool.score)
        return ranked(in_order(scores, rng), size)
