"""Pegasos: a support vector machine by sub-gradient steps of decreasing size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.compiled import add_scaled, dot, usable_norm
from kaczmatch.core.errors import check_number
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.swipes import ShownCandidate
from kaczmatch.core.vectors import Vector
from kaczmatch.learners.kernels import BAD_FEATURES, DONE, Kernels, swipe_kernel
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.rules.vector import ImmediateLearner


@swipe_kernel
def swipe(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    squared = dot(features, features)
    if not usable_norm(squared):
        return BAD_FEATURES
    if squared == 0.0:
        return DONE
    d = features.shape[0]
    v = cells[:d]
    regular = parameters[0]
    cells[d] += 1.0
    t = cells[d]
    wrong = label * dot(v, features) < 1.0
    for i in range(d):
        v[i] *= 1.0 - 1.0 / t
    if wrong:
        add_scaled(v, label / (regular * t), features)
    longest = 1.0 / math.sqrt(regular)
    length = math.sqrt(dot(v, v))
    if length > longest:
        for i in range(d):
            v[i] *= longest / length
    return DONE


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Pegasos(ImmediateLearner):
    """(1 − 1/t) v + 1[y v·a < 1] y/(λt) a, kept within 1/√λ (Shalev-Shwartz, Singer, Srebro 2007).

    As published its first step erases the prior (1 − 1/1 = 0).
    """

    slug: ClassVar[str] = "pegasos"
    kernels: ClassVar[Kernels] = Kernels(swipe)

    regularisation: float = 0.1

    @property
    def scalars(self) -> int:
        return 1  # t, the swipes so far

    def initial_cells(self, prior: Prior) -> Vector:
        return np.append(prior.weights, 0.0)

    def reference_swipe(self, cells: Vector, candidate: ShownCandidate, label: Label) -> Vector:
        v, t, a, y = cells[:-1], cells[-1] + 1, candidate.features, sign(label)
        if not a.any():
            return cells
        step = y / (self.regularisation * t) * a if y * (v @ a) < 1.0 else 0.0
        v = (1.0 - 1.0 / t) * v + step
        return np.append(v * min(1.0, 1.0 / math.sqrt(self.regularisation) / max(float(np.linalg.norm(v)), 1e-300)), t)

    def kernel_parameters(self) -> tuple[float, ...]:
        return (check_number("regularisation", self.regularisation, low=1e-9, high=1e9),)
