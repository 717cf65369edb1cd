"""`popularity`: whom others liked most so far, the same for everybody; what a market without learning would show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.recommend.samplers.contract import Draw, Pool, TwoStageSampler, descending
from kaczmatch.recommend.samplers.ranked_draw import draw_ranked


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Popularity(TwoStageSampler):
    """The highest appeal, as the service counts it. A yardstick, not a sampler of the library."""

    slug: ClassVar[str] = "popularity"
    why: ClassVar[str] = "liked by many"

    def first_stage_size(self, size: int) -> int:  # noqa: ARG002
        return 2**31 - 1  # everybody

    def draw(self, pool: Pool, size: int, rng: np.random.Generator) -> Draw:
        return draw_ranked(descending(np.where(pool.capped, -np.inf, pool.others[:, 0]), rng), size)
