"""What is read off a trace. Every number is a vector over users; means and spreads are taken later."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled
from kaczmatch.core.ranking_metrics import auc as area
from kaczmatch.core.vectors import Matrix, Vector, unit_rows
from kaczmatch.learners.contract import ProbabilisticLearner
from kaczmatch.simulation.trace import Trace, priors_of
from kaczmatch.simulation.world import World


def alignment(weights: Matrix, tastes: Matrix) -> Vector:
    """Cosine of what was learned and the hidden taste."""
    return np.asarray(np.sum(unit_rows(weights) * unit_rows(tastes), axis=1))


def centred_alignment(weights: Matrix, tastes: Matrix) -> Vector:
    """The same with the all-ones direction removed from both: 0 for who likes every tag alike."""
    return alignment(*(rows - rows.mean(axis=1, keepdims=True) for rows in (weights, tastes)))


@compiled
def auc(scores: Matrix, likes: NDArray[np.bool_]) -> Vector:
    """Each row by itself."""
    return np.array([area(scores[row], likes[row]) for row in range(scores.shape[0])])


def unseen_auc(weights: Matrix, world: World, t: int) -> Vector:
    """AUC after t swipes on candidates nobody swiped on, against what the user would like by the cosine rule."""
    # Scores are compared up to rounding: candidates that tie in exact arithmetic tie here.
    return auc(np.round(unit_rows(weights) @ unit_rows(world.unseen).T, 12), world.unseen_likes[world.phase(t - 1)])


def log_loss(trace: Trace, world: World, checkpoint: int) -> Vector | None:
    """Nats a swipe on unseen candidates, label noise included; None where the learner says no probability."""
    learner = trace.learner
    if not isinstance(learner, ProbabilisticLearner):
        return None
    noise = world.condition.label_noise
    losses = []
    for user, state in enumerate(trace.states(checkpoint, priors_of(learner, world))):
        likely = np.clip(learner.probability(state, world.unseen), 1e-12, 1.0 - 1e-12)
        truth = np.where(world.unseen_likes[world.phase(checkpoint - 1), user], 1.0 - noise, noise)
        losses.append(-np.mean(truth * np.log(likely) + (1.0 - truth) * np.log(1.0 - likely)))
    return np.array(losses)


def stability(trace: Trace) -> Vector:
    """Δs: mean cosine between the preferences at the ends of consecutive sessions; NaN where there is only one."""
    if trace.ends.shape[1] < 2:
        return np.full(len(trace.ends), np.nan)
    directions = trace.ends / np.maximum(np.linalg.norm(trace.ends, axis=2, keepdims=True), 1e-300)
    return np.asarray(np.mean(np.sum(directions[:, 1:] * directions[:, :-1], axis=2), axis=1))


def like_rate(trace: Trace) -> Vector:
    return np.asarray(np.mean(trace.labels > 0, axis=1))
