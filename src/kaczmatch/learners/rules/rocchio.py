"""Rocchio: the prior, plus the mean of what was liked, minus the mean of what was passed."""

from __future__ import annotations

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
    v, start, likes, passes = cells[:d], cells[d : 2 * d], cells[2 * d : 3 * d], cells[3 * d : 4 * d]
    counts = cells[4 * d :]
    side = 0 if label > 0.0 else 1
    counts[side] += 1.0
    add_scaled(likes if side == 0 else passes, 1.0, features)
    for i in range(d):
        liked = likes[i] / counts[0] if counts[0] > 0.0 else 0.0
        passed = passes[i] / counts[1] if counts[1] > 0.0 else 0.0
        v[i] = parameters[0] * start[i] + parameters[1] * liked - parameters[2] * passed
    return DONE


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Rocchio(ImmediateLearner):
    """v = prior_weight v⁰ + like_weight mean(liked) − pass_weight mean(passed) (Rocchio 1971)."""

    slug: ClassVar[str] = "rocchio"
    kernels: ClassVar[Kernels] = Kernels(swipe)
    vectors: ClassVar[int] = 4  # v, v⁰, the sums of liked and of passed candidates

    prior_weight: float = 1.0
    like_weight: float = 1.0
    pass_weight: float = 1.0

    @property
    def scalars(self) -> int:
        return 2  # how many were liked, how many passed

    def initial_cells(self, prior: Prior) -> Vector:
        d = prior.dimensions
        return np.concatenate([self.prior_weight * prior.weights, prior.weights, np.zeros(2 * d + 2)])

    def reference_swipe(self, cells: Vector, candidate: ShownCandidate, label: Label) -> Vector:
        a = candidate.features
        if not a.any():
            return cells
        _, start, likes, passes = cells[:-2].reshape(4, -1)
        liked, passed = cells[-2:]
        if sign(label) > 0:
            likes, liked = likes + a, liked + 1
        else:
            passes, passed = passes + a, passed + 1
        v = self.prior_weight * start
        v = v + self.like_weight * likes / max(liked, 1) - self.pass_weight * passes / max(passed, 1)
        return np.concatenate([v, start, likes, passes, [liked, passed]])

    def kernel_parameters(self) -> tuple[float, ...]:
        names = ("prior_weight", "like_weight", "pass_weight")
        return tuple(check_number(name, getattr(self, name), low=0.0, high=1e6) for name in names)
