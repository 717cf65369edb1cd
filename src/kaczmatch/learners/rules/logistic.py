"""Online logistic regression by gradient steps of a fixed rate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from kaczmatch.core.compiled import add, dot, usable
from kaczmatch.core.errors import checked
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.swipes import Seen
from kaczmatch.core.vectors import Vector, unit, unit_rows
from kaczmatch.learners.contract import ProbabilisticLearner, Scores, rows_of, shaped
from kaczmatch.learners.kernels import BAD_FEATURES, DONE, Kernels, foretell_kernel, swipe_kernel
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.rules.vector import ImmediateLearner
from kaczmatch.learners.state import State


@swipe_kernel
def swipe(cells: Vector, features: Vector, appeal: float, label: float, parameters: Vector) -> int:
    squared = dot(features, features)
    if not usable(squared):
        return BAD_FEATURES
    d = features.shape[0]
    w = cells[:d]
    scale = 1.0 / math.sqrt(squared) if squared > 0.0 else 0.0
    logit = scale * dot(w, features) + cells[d]
    step = parameters[0] * label / (1.0 + math.exp(min(700.0, float(label * logit))))
    add(w, step * scale, features)
    cells[d] += step
    return DONE


@foretell_kernel
def foretell(cells: Vector, features: Vector, appeal: float, parameters: Vector) -> float:
    d = features.shape[0]
    squared = dot(features, features)
    scale = 1.0 / math.sqrt(squared) if squared > 0.0 else 0.0
    return 1.0 / (1.0 + math.exp(min(700.0, -float(scale * dot(cells[:d], features) + cells[d]))))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Logistic(ImmediateLearner, ProbabilisticLearner):
    """w + η y σ(−y(w·â + b)) â with â = a/‖a‖, and the same step for the intercept b, which starts at the prior's threshold."""

    slug: ClassVar[str] = "logistic"
    kernels: ClassVar[Kernels] = Kernels(swipe, foretell=foretell)

    eta: float = 0.5

    @property
    def scalars(self) -> int:
        return 1  # the intercept

    def initial(self, prior: Prior) -> Vector:
        return np.append(prior.weights, prior.usual_threshold)

    def swiped(self, cells: Vector, seen: Seen, label: Label) -> Vector:
        x, y = np.append(unit(seen.features), 1.0), sign(label)
        return cells + self.eta * y * float(expit(-y * (cells @ x))) * x

    def probability(self, state: State, features: ArrayLike, appeal: ArrayLike = 0.0) -> Scores:
        w, b = self._own(state).cells[:-1], state.cells[-1]
        likely = expit(unit_rows(rows_of(features, state.dimensions)) @ w + b)
        return shaped(likely, features)

    def checked_parameters(self) -> tuple[float, ...]:
        return (checked("eta", self.eta, low=0.0, high=1e6, open_low=True),)
