"""NK: a fixed-rate step, then back to unit length, at every swipe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from kaczmatch.core.compiled import add_scaled, normalise
from kaczmatch.core.vectors import Matrix, Vector, unit
from kaczmatch.learners.kernels import BAD_FEATURES, DONE, Kernels, swipe_kernel
from kaczmatch.learners.rules.fixed_rate import FixedRateLearner, step_coefficient


@swipe_kernel
def swipe(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    c = step_coefficient(cells, features, label, parameters)
    if c != c:
        return BAD_FEATURES
    if c != 0.0:
        v = cells[: features.shape[0]]
        add_scaled(v, c, features)
        normalise(v)
    return DONE


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class NormalisedKaczmarz(FixedRateLearner):
    """unit(v + η r a) (paper, eqs. 3 and 4); a silent swipe leaves v as it is."""

    slug: ClassVar[str] = "nk"
    kernels: ClassVar[Kernels] = Kernels(swipe)

    eta: float = 0.5

    def step(self, v: Vector, a: Vector, r: float) -> Vector:
        return unit(v + self.move(a, r)) if r else v

    def norm_bound(self, norm: float, rows: Matrix, r: Vector) -> float:
        return 1.0 if r.any() else norm
