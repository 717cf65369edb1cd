"""OGD: online gradient descent on the hinge, with a fixed rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.compiled import add_scaled
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.kernels import BAD_FEATURES, DONE, Kernels, swipe_kernel
from kaczmatch.learners.rules.fixed_rate import FixedRateLearner, step_coefficient


@swipe_kernel
def swipe(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    c = step_coefficient(cells, features, label, parameters)
    if c != c:
        return BAD_FEATURES
    if c != 0.0:
        add_scaled(cells[: features.shape[0]], c, features)
    return DONE


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineGradient(FixedRateLearner):
    """v + η r a (paper, section 7.2)."""

    slug: ClassVar[str] = "ogd"
    kernels: ClassVar[Kernels] = Kernels(swipe)

    eta: float = 0.1

    def step(self, v: Vector, a: Vector, r: float) -> Vector:
        return v + self.move(a, r)

    def norm_bound(self, norm: float, rows: Matrix, r: Vector) -> float:
        lengths = 1.0 if self.along == "unit" else np.linalg.norm(rows, axis=1)
        return norm + self.eta * float(np.sum(np.abs(r) * lengths))
