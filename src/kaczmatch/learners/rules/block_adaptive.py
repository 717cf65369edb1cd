"""Block-Adaptive: Block-NK whose damping and block size follow the session's candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from kaczmatch.core.vectors import Matrix, Vector, unit
from kaczmatch.learners.kernels import Kernels
from kaczmatch.learners.rules.block import BlockLearner
from kaczmatch.learners.rules.block_normalised_kaczmarz import end_session, swipe


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BlockAdaptive(BlockLearner):
    """unit(v + Aᵀ(AAᵀ + αI)⁻¹ r), α just large enough that κ ≤ κ*, a block ended before a candidate that adds little
    or when the session goes quiet.

    A short session has a small κ and is solved at the smallest α; a long one, near-singular under label noise, is damped more.
    """

    slug: ClassVar[str] = "block-adaptive"
    kernels: ClassVar[Kernels] = Kernels(swipe, end_session)

    condition: float = 100.0
    quiet_minutes: float = 30.0
    novelty: float = 0.1

    def step(self, v: Vector, rows: Matrix, r: Vector) -> Vector:
        return unit(v + self.projection(rows, r))

    def norm_bound(self, norm: float, rows: Matrix, r: Vector) -> float:
        return 1.0
