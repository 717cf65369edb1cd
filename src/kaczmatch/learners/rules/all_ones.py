"""all-ones: learns nothing and likes every tag. The baseline that any learner has to beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.compiled import dot, usable_norm
from kaczmatch.core.labels import Label
from kaczmatch.core.swipes import ShownCandidate
from kaczmatch.core.vectors import Vector
from kaczmatch.learners.kernels import BAD_FEATURES, DONE, Kernels, swipe_kernel
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.rules.vector import ImmediateLearner


@swipe_kernel
def swipe(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    return DONE if usable_norm(dot(features, features)) else BAD_FEATURES


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AllOnes(ImmediateLearner):
    """v = (1, …, 1), whatever the prior and the swipes. New tags weigh 0."""

    slug: ClassVar[str] = "all-ones"
    kernels: ClassVar[Kernels] = Kernels(swipe)

    @property
    def scalars(self) -> int:
        return 0

    def initial_cells(self, prior: Prior) -> Vector:
        return np.ones(prior.dimensions)

    def reference_swipe(self, cells: Vector, candidate: ShownCandidate, label: Label) -> Vector:
        return cells

    def kernel_parameters(self) -> tuple[float, ...]:
        return ()
