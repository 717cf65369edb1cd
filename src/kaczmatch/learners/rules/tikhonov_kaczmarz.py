"""TK: a projection onto the swipe's hyperplane with a damped denominator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.compiled import add_scaled, cosine_from_products, products, usable_norm
from kaczmatch.core.errors import check_number
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.kernels import BAD_FEATURES, DONE, Kernels, swipe_kernel
from kaczmatch.learners.rules.hinge import SequentialHingeLearner, residual_with_own_theta


@swipe_kernel
def swipe(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    d = features.shape[0]
    v = cells[:d]
    va, vv, aa = products(v, features)
    if not usable_norm(aa):
        return BAD_FEATURES
    if aa > 0.0:
        r = residual_with_own_theta(cells, d, cosine_from_products(va, vv, aa), label, parameters[1:])
        if r != 0.0:
            add_scaled(v, r / (aa + parameters[0]), features)
    return DONE


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TikhonovKaczmarz(SequentialHingeLearner):
    """v + r/(‖a‖² + α) a (paper, eq. 5 and alg. 1).

    The step is that of Passive-Aggressive-II with α = 1/(2C) (Crammer et al. 2006), taken on a cosine margin instead of a dot
    product. It is at most |r|/(2√α) long, not the |r|/(1 + α) of the paper's Proposition 2.
    """

    slug: ClassVar[str] = "tk"
    kernels: ClassVar[Kernels] = Kernels(swipe)

    alpha: float = 1.0

    def step(self, v: Vector, a: Vector, r: float) -> Vector:
        return v + r / (a @ a + self.alpha) * a

    def norm_bound(self, norm: float, rows: Matrix, r: Vector) -> float:
        lengths = np.linalg.norm(rows, axis=1)
        return norm + float(np.abs(r) @ (lengths / (lengths**2 + self.alpha)))

    def kernel_parameters(self) -> tuple[float, ...]:
        return check_number("alpha", self.alpha, low=0.0, high=1e100), *self.hinge_parameters()
