"""K-NoNorm: Kaczmarz' projection as it is, without damping and without normalisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.compiled import add_scaled, cosine_from_products, products, usable_norm
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
        r = residual_with_own_theta(cells, d, cosine_from_products(va, vv, aa), label, parameters)
        if r != 0.0:
            add_scaled(v, r / aa, features)
    return DONE


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class UnnormalisedKaczmarz(SequentialHingeLearner):
    """v + r/‖a‖² a (paper, section 7.2)."""

    slug: ClassVar[str] = "k-nonorm"
    kernels: ClassVar[Kernels] = Kernels(swipe)

    def step(self, v: Vector, a: Vector, r: float) -> Vector:
        return v + r / (a @ a) * a

    def norm_bound(self, norm: float, rows: Matrix, r: Vector) -> float:
        return norm + float(np.abs(r) @ (1.0 / np.linalg.norm(rows, axis=1)))

    def kernel_parameters(self) -> tuple[float, ...]:
        return self.hinge_parameters()
