"""all-ones: learns nothing, likes every tag. What any learner has to beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.compiled import dot, usable
from kaczmatch.core.labels import Label
from kaczmatch.core.swipes import Seen
from kaczmatch.core.vectors import Vector
from kaczmatch.learners.kernels import BAD_FEATURES, DONE, Kernels, swipe_kernel
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.rules.vector import ImmediateLearner


@swipe_kernel
def swipe(cells: Vector, features: Vector, appeal: float, label: float, parameters: Vector) -> int:
    return DONE if usable(dot(features, features)) else BAD_FEATURES


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AllOnes(ImmediateLearner):
    """v = (1, …, 1), whatever the prior and the swipes; a new tag does not count."""

    slug: ClassVar[str] = "all-ones"
    kernels: ClassVar[Kernels] = Kernels(swipe)

    @property
    def scalars(self) -> int:
        return 0

    def initial(self, prior: Prior) -> Vector:
        return np.ones(prior.dimensions)

    def swiped(self, cells: Vector, seen: Seen, label: Label) -> Vector:
        return cells

    def checked_parameters(self) -> tuple[float, ...]:
        return ()
