"""The kernels of `probit-traits` (`probit_traits.py` has the formulas)."""

from __future__ import annotations

import math

import numpy as np

from kaczmatch.core.compiled import compiled, dot, usable_norm
from kaczmatch.core.vectors import Vector
from kaczmatch.learners.belief.behaviour import BEHAVIOUR_CELLS
from kaczmatch.learners.belief.gaussian_kernels import forget_towards, like_probability, update_gains
from kaczmatch.learners.kernels import BAD_FEATURES, DONE, forget_kernel, predict_kernel, swipe_kernel


@compiled
def trait_coordinates(features: Vector, said: Vector, traits: int) -> Vector:
    """φ = (x̃, 1, z̄); empty where the features cannot be used. Traits of which nothing is known are 0."""
    d = features.shape[0]
    squared = dot(features, features)
    if not usable_norm(squared):
        return np.empty(0)
    x = np.zeros(d + 1 + traits)
    scale = 1.0 / math.sqrt(squared) if squared > 0.0 else 0.0
    for i in range(d):
        x[i] = features[i] * scale
    x[d] = 1.0
    if said.shape[0] == 2 * traits:
        for k in range(traits):
            x[d + 1 + k] = said[k]
    return x


# The cells between P and the behaviour: length of m, slope c, and of how many tags the threshold is kept apart.
SHAPE_CELLS = 3


@compiled
def score_moments(cells: Vector, x: Vector, said: Vector, traits: int, alone: int) -> tuple[float, float, Vector]:
    """φ·m, its variance with the doubts, and Pφ' as P is kept. The first `alone` coordinates have only variances."""
    n = x.shape[0]
    px = np.empty(n)
    slope, first = cells[-BEHAVIOUR_CELLS - 2], int(cells[-BEHAVIOUR_CELLS - 1])
    spread = 0.0
    for i in range(alone):
        apart = x[i] - slope if i < first else x[i]
        px[i] = cells[n + i] * apart
        spread += apart * px[i]
    place = n + alone
    for i in range(alone, n):
        s = 0.0
        for j in range(alone, i):
            entry = cells[place + j - alone]
            s += entry * x[j]
            px[j] += entry * x[i]
        px[i] = s + cells[place + i - alone] * x[i]
        place += i - alone + 1
    spread += dot(x[alone:], px[alone:])
    known = said.shape[0] == 2 * traits
    for k in range(traits):
        i = n - traits + k
        row = i - alone
        variance = cells[n + alone + row * (row + 3) // 2]
        spread += (said[traits + k] if known else 1.0) * (cells[i] * cells[i] + variance)
    return dot(x, cells[:n]), spread, px


@swipe_kernel
def swipe(cells: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    traits = int(parameters[2])
    x = trait_coordinates(features, said, traits)
    n = x.shape[0]
    if n == 0:
        return BAD_FEATURES
    alone = 0 if parameters[3] > 0.0 else features.shape[0]
    score, spread, px = score_moments(cells, x, said, traits, alone)
    step, shrink, answer = update_gains(score, spread, label, parameters, cells[-BEHAVIOUR_CELLS:])
    for i in range(n):
        cells[i] += step * px[i]
    moved = 0.0
    for i in range(alone):
        cells[n + i] -= shrink * px[i] * px[i]
        moved += px[i] if i < int(cells[-BEHAVIOUR_CELLS - 1]) else 0.0
    cells[features.shape[0]] -= step * cells[-BEHAVIOUR_CELLS - 2] * moved
    place = n + alone
    for i in range(alone, n):
        for j in range(alone, i + 1):
            cells[place + j - alone] -= shrink * px[i] * px[j]
        place += i - alone + 1
    return answer


@predict_kernel
def predict(cells: Vector, features: Vector, said: Vector, parameters: Vector) -> float:
    traits = int(parameters[2])
    x = trait_coordinates(features, said, traits)
    if x.shape[0] == 0:
        return math.nan
    score, spread, _ = score_moments(cells, x, said, traits, 0 if parameters[3] > 0.0 else features.shape[0])
    return like_probability(score, spread, parameters, cells[-BEHAVIOUR_CELLS:])


@forget_kernel
def forget(cells: Vector, start: Vector, keep: float) -> int:
    forget_towards(start, cells, keep, int(cells[-BEHAVIOUR_CELLS - SHAPE_CELLS]))
    return DONE
