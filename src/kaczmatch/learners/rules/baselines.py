"""Baselines: what any learner has to beat, and other people's rules for a vector of weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from kaczmatch.core.compiled import add_scaled, dot, products, usable_norm
from kaczmatch.core.tags import Features
from kaczmatch.core.vectors import Vector, unit_rows
from kaczmatch.learners.contract import ProbabilisticLearner
from kaczmatch.learners.kernels import BAD_FEATURES, DONE, Kernels, predict_kernel, swipe_kernel
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.rules.vector import ImmediateLearner, number, setting
from kaczmatch.learners.state import Scores, State, feature_rows, in_shape_of


@swipe_kernel
def learn_nothing(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    return DONE if usable_norm(dot(features, features)) else BAD_FEATURES


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AllOnes(ImmediateLearner):
    """v = (1, …, 1), whatever the prior and the swipes. New tags weigh 0."""

    slug: ClassVar[str] = "all-ones"
    kernels: ClassVar[Kernels] = Kernels(learn_nothing)
    scalars: ClassVar[int] = 0

    def initial_cells(self, prior: Prior) -> Vector:
        return np.ones(prior.dimensions)


@swipe_kernel
def rocchio(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
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
    kernels: ClassVar[Kernels] = Kernels(rocchio)
    vectors: ClassVar[int] = 4  # v, v⁰, the sums of liked and of passed candidates
    scalars: ClassVar[int] = 2  # how many were liked, how many passed

    prior_weight: float = setting(1.0, number(0.0, 1e6))
    like_weight: float = setting(1.0, number(0.0, 1e6))
    pass_weight: float = setting(1.0, number(0.0, 1e6))

    def initial_cells(self, prior: Prior) -> Vector:
        d = prior.dimensions
        return np.concatenate([self.prior_weight * prior.weights, prior.weights, np.zeros(2 * d + 2)])


@swipe_kernel
def passive_aggressive(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
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
    """v + y ℓ/(‖a‖² + 1/(2C)) a with ℓ = max(0, 1 − y v·a) (Crammer et al. 2006, PA-II).

    The smallest step that brings a swipe to the right side of its margin, damped.
    """

    slug: ClassVar[str] = "pa-ii"
    kernels: ClassVar[Kernels] = Kernels(passive_aggressive)
    scalars: ClassVar[int] = 0

    c: float = setting(1.0, number(1e-9, 1e9))

    def initial_cells(self, prior: Prior) -> Vector:
        return prior.weights.copy()


@swipe_kernel
def pegasos(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
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
    kernels: ClassVar[Kernels] = Kernels(pegasos)
    scalars: ClassVar[int] = 1  # t, the swipes so far

    regularisation: float = setting(0.1, number(1e-9, 1e9))

    def initial_cells(self, prior: Prior) -> Vector:
        return np.append(prior.weights, 0.0)


@swipe_kernel
def logistic(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
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
    kernels: ClassVar[Kernels] = Kernels(logistic, predict=predict)
    scalars: ClassVar[int] = 1  # the intercept

    eta: float = setting(0.5, number(0.0, 1e6, open_low=True))

    def initial_cells(self, prior: Prior) -> Vector:
        return np.append(prior.weights, prior.effective_threshold)

    def probability(self, state: State, features: Features, others: ArrayLike = ()) -> Scores:
        w, b = self._checked_state(state).cells[:-1], state.cells[-1]
        likely = expit(unit_rows(feature_rows(features, state)) @ w + b)
        return in_shape_of(likely, features)
