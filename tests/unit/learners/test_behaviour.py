"""What is learned about how somebody swipes, against the mathematics it approximates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

import kaczmatch
from kaczmatch import BeliefLearner
from kaczmatch.learners.belief.gaussian import GaussianLearner
from kaczmatch.learners.belief.kernels import ALARM, BEHAVIOUR, update_behaviour
from worlds.gaussian import after_swipe, updated_behaviour

D = 10


def initial_behaviour(label_noise: float, swipes: float) -> np.ndarray:
    start = kaczmatch.learner("probit-diag", label_noise=label_noise, label_noise_swipes=swipes).start(np.ones(2))
    return start.cells[-BEHAVIOUR:].copy()


def belief(slug: str, **settings: float) -> BeliefLearner:
    learner = kaczmatch.learner(slug, **settings)
    assert isinstance(learner, BeliefLearner)
    return learner


@given(st.floats(0.01, 0.49), st.floats(1.0, 1e4), st.floats(0.0, 1.0))
def test_one_answer_matches_the_moments_of_the_exact_posterior(label_noise: float, swipes: float, mass: float) -> None:
    """The likelihood is (c/2) + (1 − c)Φ, so that moments of the beta distribution up to the third give the posterior's."""
    random_share, weight, _, _ = updated_behaviour(initial_behaviour(label_noise, swipes), 1.0, mass)
    a, b = 2 * label_noise * swipes, (1 - 2 * label_noise) * swipes
    raw = [1.0, *(float(beta(a, b).moment(order)) for order in (1, 2, 3))]
    evidence, mean, square = (mass * raw[order] + (0.5 - mass) * raw[order + 1] for order in range(3))
    mean, square = mean / evidence, square / evidence
    assert random_share == pytest.approx(mean, rel=1e-9)
    variance = random_share * (1 - random_share) / (weight + 1)
    assert variance == pytest.approx(square - mean**2, rel=1e-5)


def test_an_answer_of_even_odds_says_nothing_about_label_noise() -> None:
    assert updated_behaviour(initial_behaviour(0.2, 10.0), 1.0, 0.5)[:2] == pytest.approx([0.4, 10.0])
    assert updated_behaviour(initial_behaviour(0.2, math.inf), 1.0, 0.01)[:2].tolist() == [0.4, math.inf]


@given(st.floats(0.01, 0.49), st.floats(1.0, 1e6), st.floats(0.0, 1.0), st.sampled_from([1.0, -1.0]))
def test_the_kernel_does_the_same(label_noise: float, swipes: float, mass: float, y: float) -> None:
    behaviour = initial_behaviour(label_noise, swipes)
    expected = updated_behaviour(behaviour, y, mass)
    update_behaviour(behaviour, y, mass)
    assert behaviour == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("slug", ["probit", "probit-diag"])
@pytest.mark.parametrize("flip", [0.02, 0.2, 0.4])
def test_a_users_own_share_of_flips_is_found(slug: str, flip: float) -> None:
    rng = np.random.default_rng(3)
    learner = belief(slug)
    taste = 3.0 * rng.normal(size=D)
    features = (rng.random((3_000, D)) < 0.5).astype(float)
    likes = (features @ taste > 0) ^ (rng.random(3_000) < flip)
    state = kaczmatch.replay(
        learner, {"user": np.zeros(3_000, int), "features": features, "label": np.where(likes, 1, -1)}, prior=np.zeros(D)
    )[0]
    assert learner.estimated_label_noise(learner.start(np.zeros(D))) == 0.2
    assert learner.estimated_label_noise(state) == pytest.approx(flip, abs=0.04)


def swiping(learner: GaussianLearner, rng: np.random.Generator, swipes: int) -> int:
    """Alarms while somebody drawn from the prior swipes by the model."""
    taste = np.append(rng.normal(size=D), rng.normal())
    state, alarms = learner.start(np.zeros(D)), 0
    for _ in range(swipes):
        a = (rng.random(D) < 0.5).astype(float)
        felt = taste @ learner.coordinates(a) + math.sqrt(learner.alpha) * rng.normal() > 0
        label = 1 if felt ^ (rng.random() < 0.2) else -1
        alarms += after_swipe(learner, state, a, 0.0, label)[2][-1] >= learner.parameters[ALARM]
        state = learner.swipe(state, a, label)
    return alarms


def test_false_alarms_are_at_most_as_many_as_stated() -> None:
    learner = belief("probit-diag", false_alarms=0.02)
    assert isinstance(learner, GaussianLearner)
    rng = np.random.default_rng(4)
    alarms = sum(swiping(learner, rng, 100) for _ in range(60))
    assert alarms <= 0.02 * 6_000


@pytest.mark.parametrize("slug", ["probit", "probit-diag"])
def test_a_replaced_taste_is_begun_anew_from_the_prior(slug: str) -> None:
    learner = belief(slug)
    rng = np.random.default_rng(5)
    taste = 3.0 * rng.normal(size=D)
    prior = kaczmatch.Prior(np.full(D, 0.1), version="start")
    state = start = learner.start(prior)
    restarts = []
    for t in range(1_200):
        a = (rng.random(D) < 0.5).astype(float)
        felt = (taste if t < 800 else -taste) @ a > 0
        state = learner.swipe(state, a, 1 if felt ^ (rng.random() < 0.1) else -1)
        if state == start:
            restarts.append(t)
    assert len(restarts) == 1
    assert 800 < restarts[0] < 900
    assert learner.direction(state) @ (-taste / np.linalg.norm(taste)) > 0.9
