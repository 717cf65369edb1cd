"""Scores of a pool under tastes that are sampled from a belief."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled, compiled_short
from kaczmatch.core.vectors import Matrix
from kaczmatch.learners.contract import BeliefLearner
from kaczmatch.learners.state import State


def sample_scores(
    learner: BeliefLearner, state: State, x: Matrix, draws: int, temper: float, rng: np.random.Generator
) -> NDArray[np.float32]:
    """One row per sampled taste, one column per candidate (a row of `x`). `temper` scales the spread of tastes around the mean.

    float32 is precise enough for ranking, and twice as fast.
    """
    mean = learner.mean(state)
    tastes = mean + temper * (learner.draws(state, draws, rng) - mean)
    return _products(tastes.astype(np.float32), x)


@compiled_short
def to_match_probabilities(
    scores: NDArray[np.float32], scales: NDArray[np.float32], label_noise: np.float32, backward: NDArray[np.float32]
) -> None:
    """Scores, in place, become ε + (1 − 2ε)Φ(scale · score), times the probability of each candidate to like back.

    Φ to 3e-7, the precision of float32: Abramowitz and Stegun 7.1.28. It needs no exponential and therefore vectorises.
    """
    half, one = np.float32(0.5), np.float32(1.0)
    for i in range(scores.shape[0]):
        row = scores[i]
        for j in range(row.shape[0]):
            z = row[j] * scales[j]
            x = abs(z) * np.float32(0.70710678)
            t = np.float32(0.0000430638)
            t = t * x + np.float32(0.0002765672)
            t = t * x + np.float32(0.0001520143)
            t = t * x + np.float32(0.0092705272)
            t = t * x + np.float32(0.0422820123)
            t = t * x + np.float32(0.0705230784)
            t = t * x + one
            t = t * t
            t = t * t
            t = t * t
            beyond = half / (t * t)
            mass = one - beyond if z > np.float32(0.0) else beyond
            row[j] = (label_noise + (one - np.float32(2.0) * label_noise) * mass) * backward[j]


@compiled
def _products(tastes: NDArray[np.float32], x: Matrix) -> NDArray[np.float32]:
    """A matrix product on this thread alone: waking the threads of BLAS costs more than it saves on so few numbers.

    Most people have few of the tags. What they have is added in its order, so that what they have not changes no bit.
    """
    n, terms = x.shape
    by_term, scores = np.ascontiguousarray(tastes.T), np.empty((tastes.shape[0], n), np.float32)
    present, total = np.empty(terms, np.int64), np.empty(tastes.shape[0], np.float32)
    for j in range(n):
        count = 0  # without branches: the processor cannot predict which tags somebody has
        for k in range(terms):
            present[count] = k
            count += x[j, k] != 0.0
        total[:] = np.float32(0.0)
        for c in range(count):
            value, weights = np.float32(x[j, present[c]]), by_term[present[c]]
            for i in range(len(total)):
                total[i] += value * weights[i]
        for i in range(len(total)):
            scores[i, j] = total[i]
    return scores
