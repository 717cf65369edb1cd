"""Online logistic regression by gradient steps of a fixed rate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from kaczmatch.core.compiled import add_scaled, dot, usable_norm
from kaczmatch.core.errors import check_number
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.swipes import ShownCandidate
from kaczmatch.core.tags import Features
from kaczmatch.core.vectors import Vector, unit, unit_rows
from kaczmatch.learners.contract import ProbabilisticLearner
from kaczmatch.learners.kernels import BAD_FEATURES, DONE, Kernels, predict_kernel, swipe_kernel
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.rules.vector import ImmediateLearner
from kaczmatch.learners.state import Scores, State, feature_rows, in_shape_of


@swipe_kernel
def swipe(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    squared = dot(features, features)
    if not usable_norm(squared):
        return BAD_FEATURES
    d = features.shape[0]
    w = cells[:d]
    scale = 1.0 / math.sqrt(squared) if squared > 0.0 else 0.0
    logit = scale * dot(w, features) + cells[d]
    step = parameters[0] * label / (1.0 + math.exp(min(700.0, float(label * logit))))
    add_scaled(w, step * scale, features)
    cells[d] += step
    return DONE


@predict_kernel
def predict(cells: Vector, features: Vector, said: Vector, parameters: Vector) -> float:
    d = features.shape[0]
    squared = dot(features, features)
    scale = 1.0 / math.sqrt(squared) if squared > 0.0 else 0.0
    return 1.0 / (1.0 + math.exp(min(700.0, -float(scale * dot(cells[:d], features) + cells[d]))))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Logistic(ImmediateLearner, ProbabilisticLearner):
    """w + η y σ(−y(w·â + b)) â with â = a/‖a‖, and the same step for the intercept b, which starts at the prior's threshold."""

    slug: ClassVar[str] = "logistic"
    kernels: ClassVar[Kernels] = Kernels(swipe, predict=predict)

    eta: float = 0.5

    @property
    def scalars(self) -> int:
        return 1  # the intercept

    def initial_cells(self, prior: Prior) -> Vector:
        return np.append(prior.weights, prior.effective_threshold)

    def reference_swipe(self, cells: Vector, candidate: ShownCandidate, label: Label) -> Vector:
        x, y = np.append(unit(candidate.features), 1.0), sign(label)
        return cells + self.eta * y * float(expit(-y * (cells @ x))) * x

    def probability(self, state: State, features: Features, others: ArrayLike = ()) -> Scores:
        w, b = self._checked_state(state).cells[:-1], state.cells[-1]
        likely = expit(unit_rows(feature_rows(features, state)) @ w + b)
        return in_shape_of(likely, features)

    def kernel_parameters(self) -> tuple[float, ...]:
        return (check_number("eta", self.eta, low=0.0, high=1e6, open_low=True),)
