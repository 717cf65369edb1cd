"""Block-NK: Block-TK, then back to unit length, once per session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from kaczmatch.core.vectors import Matrix, Vector, unit
from kaczmatch.learners.kernels import DONE, Kernels, end_session_kernel, swipe_kernel
from kaczmatch.learners.rules.block import BlockLearner, K, enqueue_swipe, solve_pending


@swipe_kernel
def swipe(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    pending = enqueue_swipe(cells, features, label, parameters)
    if pending >= parameters[K]:
        solve_pending(cells, features.shape[0], True, parameters)
    return DONE if pending >= 0 else -pending


@end_session_kernel
def end_session(cells: Vector, dimensions: int, parameters: Vector) -> int:
    solve_pending(cells, dimensions, True, parameters)
    return DONE


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BlockNormalisedKaczmarz(BlockLearner):
    """unit(v + Aᵀ(AAᵀ + αI)⁻¹ r) (paper, section 4.4)."""

    slug: ClassVar[str] = "block-nk"
    kernels: ClassVar[Kernels] = Kernels(swipe, end_session)

    def step(self, v: Vector, rows: Matrix, r: Vector) -> Vector:
        return unit(v + self.projection(rows, r))

    def norm_bound(self, norm: float, rows: Matrix, r: Vector) -> float:
        return 1.0
