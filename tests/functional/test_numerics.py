"""Belief learners stay sound for as long as anybody swipes, and however surprising it gets."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

import kaczmatch
from kaczmatch import BeliefLearner

D, MANY = 60, 300_000
BELIEFS = [slug for slug, rule in kaczmatch.LEARNERS.items() if issubclass(rule, BeliefLearner)]


def belief(slug: str, **settings: float) -> BeliefLearner:
    learner = kaczmatch.learner(slug, **settings)
    assert isinstance(learner, BeliefLearner)
    return learner


@functools.cache
def streams() -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Very many swipes each, as (candidates, which of them, labels): an honest user and three adversaries.

    Theirs are one candidate, and candidates that differ in the seventh digit.
    """
    rng = np.random.default_rng(0)
    tags = (rng.random((2000, D)) < 0.5).astype(float)
    rows = rng.integers(0, 2000, MANY)
    taste = (rng.random(D) < 0.5).astype(float)
    cosines = tags @ taste / np.linalg.norm(tags, axis=1) / np.linalg.norm(taste)
    likes = np.where((cosines >= 0.52)[rows] ^ (rng.random(MANY) < 0.2), 1, -1)
    one = np.zeros(MANY, int)
    nearly_equal = np.ones((2000, D)) + 1e-7 * rng.normal(size=(2000, D))
    return {
        "honest": (tags, rows, likes),
        "one, always liked": (tags, one, np.ones(MANY, int)),
        "one, liked and passed in turn": (tags, one, np.where(np.arange(MANY) % 2, 1, -1)),
        "nearly equal, at random": (nearly_equal, rows, rng.choice([-1, 1], MANY)),
    }


@pytest.mark.parametrize("slug", BELIEFS)
@pytest.mark.parametrize("stream", ["honest", "one, always liked", "one, liked and passed in turn", "nearly equal, at random"])
def test_covariance_stays_symmetric_positive_after_very_many_swipes(slug: str, stream: str) -> None:
    learner = belief(slug)
    candidates, rows, labels = streams()[stream]
    log = {"user": np.zeros(MANY, int), "candidate": rows, "candidates": candidates, "label": labels}
    state = kaczmatch.replay(learner, log)[0]
    covariance = learner.covariance(state)
    assert np.array_equal(covariance, covariance.T)
    assert np.linalg.eigvalsh(covariance)[0] > 0.0
    assert np.isfinite(learner.mean(state)).all()
    assert np.isfinite(learner.draw(state, np.random.default_rng(1))).all()


@pytest.mark.parametrize("slug", BELIEFS)
@pytest.mark.parametrize("label", ["like", "pass"])
@pytest.mark.parametrize("label_noise", [0.2, 1e-9])
@pytest.mark.parametrize("score", [-40.0, -9.0, 9.0, 40.0, 1e5])
def test_nothing_overflows_far_from_the_threshold(slug: str, label: Any, label_noise: float, score: float) -> None:
    learner = belief(slug, label_noise=label_noise)
    a = np.eye(D)[0]
    prior = kaczmatch.Prior(a * 0.0, version="far", threshold=score * math.sqrt(1.0 + 1.0 + 0.05))  # z = ±score
    state = learner.swipe(learner.start(prior), a, label)
    assert np.isfinite(state.cells).all()
    assert np.linalg.eigvalsh(learner.covariance(state))[0] > 0.0
    own = learner.estimated_label_noise(state)
    assert 0.0 < own < 0.5
    assert own * (1 - 1e-12) <= learner.probability(state, a) <= 1 - own * (1 - 1e-6)


@pytest.mark.parametrize("slug", BELIEFS)
def test_a_surprise_widens_the_belief(slug: str) -> None:
    """g(g + z) < 0 after a surprise: clipping it would cost accuracy."""
    learner = belief(slug)
    a = np.eye(D)[0]
    state = learner.start(kaczmatch.Prior(np.zeros(D), version="sure", threshold=4.0))
    surprised, confirmed = learner.swipe(state, a, "pass"), learner.swipe(state, a, "like")
    before = np.trace(learner.covariance(state))
    assert np.trace(learner.covariance(confirmed)) < before < np.trace(learner.covariance(surprised))
