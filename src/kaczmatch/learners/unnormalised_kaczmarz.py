"""K-NoNorm: Kaczmarz' projection as it is, without damping and without normalisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.compiled import add, cosine_of, products, usable
from kaczmatch.core.labels import Label
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.hinge import SequentialHingeLearner, residual
from kaczmatch.learners.kernels import BAD_FEATURES, DONE, Kernels, swipe_kernel


@swipe_kernel
def swipe(cells: Vector, features: Vector, appeal: float, label: float, parameters: Vector) -> int:
    va, vv, aa = products(cells, features)
    if not usable(aa):
        return BAD_FEATURES
    r = residual(cosine_of(va, vv, aa), label, parameters[0], parameters[1])
    if aa > 0.0 and r != 0.0:
        add(cells, r / aa, features)
    return DONE


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class UnnormalisedKaczmarz(SequentialHingeLearner):
    """v + r/‖a‖² a (paper, section 7.2)."""

    slug: ClassVar[str] = "k-nonorm"
    kernels: ClassVar[Kernels] = Kernels(swipe)

    def step(self, v: Vector, a: Vector, label: Label) -> Vector:
        r = self.hinge.residual(v, a, label)
        return v + r / (a @ a) * a if a.any() else v

    def norm_bound(self, norm: float, rows: Matrix, r: Vector) -> float:
        return norm + float(np.abs(r) @ (1.0 / np.linalg.norm(rows, axis=1)))

    def checked_parameters(self) -> tuple[float, ...]:
        return self.hinge_parameters()
