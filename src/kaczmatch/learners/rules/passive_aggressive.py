"""PA-II: the smallest step that brings a swipe to the right side of its margin, damped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from kaczmatch.core.compiled import add_scaled, products, usable_norm
from kaczmatch.core.errors import check_number
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.swipes import ShownCandidate
from kaczmatch.core.vectors import Vector
from kaczmatch.learners.kernels import BAD_FEATURES, DONE, Kernels, swipe_kernel
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.rules.vector import ImmediateLearner


@swipe_kernel
def swipe(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    va, _, aa = products(cells, features)
    if not usable_norm(aa):
        return BAD_FEATURES
    loss = max(0.0, 1.0 - label * va)
    if aa > 0.0 and loss > 0.0:
        add_scaled(cells, label * loss / (aa + 0.5 / parameters[0]), features)
    return DONE


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PassiveAggressive(ImmediateLearner):
    """v + y ℓ/(‖a‖² + 1/(2C)) a with ℓ = max(0, 1 − y v·a) (Crammer et al. 2006, PA-II)."""

    slug: ClassVar[str] = "pa-ii"
    kernels: ClassVar[Kernels] = Kernels(swipe)

    c: float = 1.0

    @property
    def scalars(self) -> int:
        return 0

    def initial_cells(self, prior: Prior) -> Vector:
        return prior.weights.copy()

    def reference_swipe(self, cells: Vector, candidate: ShownCandidate, label: Label) -> Vector:
        v, a, y = cells, candidate.features, sign(label)
        return v + y * max(0.0, 1.0 - y * float(v @ a)) / (a @ a + 0.5 / self.c) * a

    def kernel_parameters(self) -> tuple[float, ...]:
        return (check_number("c", self.c, low=1e-9, high=1e9),)
