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
    """unit(v + Aᵀ(AAᵀ + αI)⁻¹ r) with α just large enough that κ ≤ κ*.

    A block ends before a candidate that adds little, or when the session times out. A short session has a small κ and is solved
    with the smallest α. A long one is nearly singular and is damped more, because its solution would amplify label noise.
    """

    slug: ClassVar[str] = "block-adaptive"
    kernels: ClassVar[Kernels] = Kernels(swipe, end_session)

    condition: float = 100.0
    session_timeout_minutes: float = 30.0
    novelty: float = 0.1

    def step(self, v: Vector, rows: Matrix, r: Vector) -> Vector:
        return unit(v + self.projection(rows, r))

    def norm_bound(self, norm: float, rows: Matrix, r: Vector) -> float:
        return 1.0
