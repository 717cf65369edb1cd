"""One swipe of a normal belief in plain numpy, over its whole covariance: what the kernels are checked against."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from kaczmatch import State
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.belief.gaussian import GaussianLearner
from kaczmatch.learners.belief.kernels import BEHAVIOUR


def updated_behaviour(behaviour: Vector, y: float, mass: float) -> Vector:
    """After an answer to which the belief gave the probability `mass`."""
    random_share, weight, rate, surprise = behaviour
    p = 0.5 * random_share + (1.0 - random_share) * mass
    surprise = max(0.0, surprise + math.log((rate if y > 0 else 1.0 - rate) / p))
    rate += 0.02 * ((y > 0) - rate)
    if math.isinf(weight):
        return np.array([random_share, weight, rate, surprise])
    random = 0.5 * random_share / p  # probability that this answer was a coin toss
    a = random_share * weight
    mean = (a + random) / (weight + 1.0)
    square = (a + 1.0) * (a + 2.0 * random) / ((weight + 1.0) * (weight + 2.0))
    return np.array([mean, mean * (1.0 - mean) / (square - mean**2) - 1.0, rate, surprise])


def step(
    learner: GaussianLearner, m: Vector, p: Matrix, behaviour: Vector, x: Vector, doubts: Vector, y: float
) -> tuple[Vector, Matrix, Vector]:
    """Mean, covariance and behaviour of a belief over coordinates x, the last of which are known up to `doubts`."""
    k, px = len(doubts), p @ x
    q = float(x @ px + doubts @ (m[len(m) - k :] ** 2 + np.diag(p)[len(m) - k :])) + learner.alpha
    z = y * float(x @ m) / math.sqrt(q)
    density, mass = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi), float(ndtr(z))
    g = (1.0 - behaviour[0]) * density / (0.5 * behaviour[0] + (1.0 - behaviour[0]) * mass)
    p = p - (g * (g + z) / q) * np.outer(px, px)
    return m + (y * g / math.sqrt(q)) * px, p, updated_behaviour(behaviour, y, mass)


def after_swipe(
    learner: GaussianLearner, state: State, features: Vector, others: ArrayLike, y: float
) -> tuple[Vector, Matrix, Vector]:
    """Mean, covariance and behaviour; what is no variance and not kept is 0 in the coordinates in which it is not kept."""
    d, n = state.dimensions, len(learner.mean(state))
    x, behaviour = learner.coordinates(features, others), state.cells[-BEHAVIOUR:]
    doubts = learner.others_rows(others, 1)[0][n - d - 1 :]
    m, p, behaviour = step(learner, learner.mean(state), learner.covariance(state), behaviour, x, doubts, y)
    if learner.kept_alone:
        alone, apart = n if learner.kept_alone == 2 else d, np.eye(n)
        before = learner.covariance(state)
        apart[d, :d] = -before[d, :d] / np.diag(before)[:d]  # by which the threshold was independent of each tag
        kept = apart @ p @ apart.T
        block = np.zeros((n, n), np.bool_)
        block[alone:, alone:] = True
        inverse = np.linalg.inv(apart)
        p = inverse @ np.where(block | np.eye(n, dtype=np.bool_), kept, 0.0) @ inverse.T
    return m, p, behaviour
