"""Kernels of beliefs: coordinates, probabilities, and the steps of mean, covariance and behaviour (`gaussian.py`)."""

from __future__ import annotations

import math

import numpy as np

from kaczmatch.core.compiled import compiled, dot, usable_norm
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.belief.behaviour import BEHAVIOUR_CELLS, update_behaviour
from kaczmatch.learners.kernels import DONE, TASTE_CHANGED


@compiled
def coordinate_rows(features: Matrix, said: Matrix, parameters: Vector) -> tuple[Matrix, bool]:
    """And whether all rows can be used."""
    x, usable = unit_rows_and_one(features, 1 if parameters[2] > 0.0 else 0)
    if parameters[2] > 0.0:
        x[:, -1] = said[:, 0]
    return x, usable


@compiled
def unit_rows_and_one(features: Matrix, beyond: int) -> tuple[Matrix, bool]:
    """Of each row a/‖a‖, a one for the threshold, and room for so many coordinates; and whether all rows can be used."""
    d, usable = features.shape[1], True
    x = np.empty((len(features), d + 1 + beyond))
    for j in range(len(features)):
        squared = dot(features[j], features[j])
        usable &= usable_norm(squared)
        scale = 1.0 / math.sqrt(squared) if squared > 0.0 else 0.0
        for i in range(d):
            x[j, i] = features[j, i] * scale
        x[j, d] = 1.0
    return x, usable


@compiled
def kernel_coordinates(features: Vector, said: Vector, parameters: Vector) -> Vector:
    """`GaussianLearner.coordinates` for kernels; empty where the features cannot be used."""
    d = features.shape[0]
    squared = dot(features, features)
    if not usable_norm(squared):
        return np.empty(0)
    with_appeal = parameters[2] > 0.0
    x = np.empty(d + 2 if with_appeal else d + 1)
    scale = 1.0 / math.sqrt(squared) if squared > 0.0 else 0.0
    for i in range(d):
        x[i] = features[i] * scale
    x[d] = 1.0
    if with_appeal:
        x[d + 1] = said[0] if said.shape[0] == 1 else 0.0
    return x


@compiled
def like_probability(score: float, spread: float, parameters: Vector, behaviour: Vector) -> float:
    """`GaussianLearner.probability` for kernels, from x·m and xᵀPx."""
    mass = 0.5 * math.erfc(-score / math.sqrt(2.0 * (spread + parameters[0])))
    return float(0.5 * behaviour[0] + (1.0 - behaviour[0]) * mass)


@compiled
def update_gains(score: float, spread: float, label: float, parameters: Vector, behaviour: Vector) -> tuple[float, float, int]:
    """The factors of Px in the mean's step and of (Px)(Px)ᵀ in the covariance's, and what the kernel returns.

    Updates the behaviour.
    """
    random_share = behaviour[0]
    q = spread + parameters[0]
    z = label * score / math.sqrt(q)
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    mass = 0.5 * math.erfc(-z / math.sqrt(2.0))
    g = (1.0 - random_share) * density / (0.5 * random_share + (1.0 - random_share) * mass)
    update_behaviour(behaviour, label, mass)
    return label * g / math.sqrt(q), g * (g + z) / q, TASTE_CHANGED if behaviour[3] >= parameters[1] else DONE


@compiled
def forget_towards(start: Vector, cells: Vector, keep: float, n: int) -> None:
    """m ← m₀ + λ(m − m₀) for the first n cells and the behaviour, P ← λ²P + (1 − λ²)P₀ between; λ = 1 changes no bit."""
    if keep == 1.0:
        return
    behaviour = cells.shape[0] - BEHAVIOUR_CELLS
    for i in range(n):
        cells[i] = start[i] + keep * (cells[i] - start[i])
    for i in range(n, behaviour):
        if cells[i] != start[i]:  # what is no variance is the same in both
            cells[i] = keep * keep * cells[i] + (1.0 - keep * keep) * start[i]
    for i in range(behaviour, cells.shape[0]):
        if cells[i] != start[i]:  # an infinite weight stays
            cells[i] = start[i] + keep * (cells[i] - start[i])
