"""Block-TK: one damped projection onto all swipes of a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.kernels import DONE, Kernels, end_session_kernel, swipe_kernel
from kaczmatch.learners.rules.block import BlockLearner, K, enqueue_swipe, solve_pending


@swipe_kernel
def swipe(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    pending = enqueue_swipe(cells, features, label, parameters)
    if pending >= parameters[K]:
        solve_pending(cells, features.shape[0], False, parameters)
    return DONE if pending >= 0 else -pending


@end_session_kernel
def end_session(cells: Vector, dimensions: int, parameters: Vector) -> int:
    solve_pending(cells, dimensions, False, parameters)
    return DONE


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BlockTikhonovKaczmarz(BlockLearner):
    """v + Aᵀ(AAᵀ + αI)⁻¹ r, r taken at the session's first v (paper, eq. 7); TK where k = 1."""

    slug: ClassVar[str] = "block-tk"
    kernels: ClassVar[Kernels] = Kernels(swipe, end_session)

    def step(self, v: Vector, rows: Matrix, r: Vector) -> Vector:
        return v + self.projection(rows, r)

    def norm_bound(self, norm: float, rows: Matrix, r: Vector) -> float:
        sigma = np.linalg.svd(rows, compute_uv=False)
        sigma = sigma[sigma > 1e-12 * sigma.max()]
        return norm + float(np.linalg.norm(r) * np.max(sigma / (sigma**2 + self.alpha)))
