from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import kaczmatch
from kaczmatch.core.vectors import cosine
from kaczmatch.learners.logs.monitors import direction_stability, gram_condition
from kaczmatch.learners.rules.hinge import HingeLearner

D = 10


def log(users: int = 2, sessions: int = 6, size: int = 8, *, real: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    n = users * sessions * size
    features = rng.normal(size=(n, D)) if real else (rng.random((n, D)) < 0.5).astype(float)
    features[3] = 0.0
    return {
        "user": np.repeat(np.arange(users), sessions * size),
        "features": features,
        "label": rng.choice([-1, 1], n),
        "session": np.repeat(np.arange(users * sessions), size),
    }


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("slug", [slug for slug, rule in kaczmatch.LEARNERS.items() if issubclass(rule, HingeLearner)])
def test_the_norm_never_exceeds_its_true_bound(slug: str, real: bool) -> None:
    for settings in ({}, {"k": 3}) if slug.startswith("block") else ({},):
        for prior in (np.ones(D), np.zeros(D), np.full(D, 0.1)):
            for reading in kaczmatch.monitor_sessions(kaczmatch.learner(slug, **settings), log(real=real), prior=prior):
                assert reading.norm_bound is not None
                assert reading.norm <= reading.norm_bound * (1 + 1e-9)


def test_the_bound_is_reached_when_every_step_goes_the_same_way() -> None:
    tk = kaczmatch.learner("tk", alpha=9.0, hinge=kaczmatch.Hinge(theta=1.0, delta=1.0))
    columns = {"user": [0] * 4, "features": np.ones((4, 9)), "label": [1] * 4}
    (reading,) = kaczmatch.monitor_sessions(tk, columns, prior=np.zeros(9))
    assert reading.norm == pytest.approx(reading.norm_bound)


@pytest.mark.parametrize("slug", kaczmatch.LEARNERS)
def test_every_session_of_every_user_is_read(slug: str) -> None:
    learner = kaczmatch.learner(slug)
    readings = list(kaczmatch.monitor_sessions(learner, log()))
    assert [(reading.user, reading.session) for reading in readings] == [(n // 6, n) for n in range(12)]
    assert [reading.stability is None for reading in readings] == [n % 6 == 0 for n in range(12)]
    assert all(reading.swipes == 8 for reading in readings)
    assert all(0 <= reading.silent <= 8 for reading in readings)
    final = kaczmatch.replay(learner, log(), end_last_session=True)[1]
    assert readings[-1].norm == np.linalg.norm(learner.weights(final.cells, D))


def test_stability_is_the_cosine_of_session_ends() -> None:
    learner = kaczmatch.learner("block-nk")
    columns = log(users=1)
    readings = list(kaczmatch.monitor_sessions(learner, columns))
    ends = [
        kaczmatch.replay(learner, {k: c[: 8 * n] for k, c in columns.items()}, end_last_session=True).directions()[0]
        for n in (5, 6)
    ]
    assert readings[5].stability == pytest.approx(cosine(*ends)) == pytest.approx(direction_stability(*ends))


def test_readings_are_of_the_state_that_forgets() -> None:
    learner = kaczmatch.learner("probit", half_life_days=10.0)
    columns = log(users=1) | {"at": np.arange(48) * 86_400.0 * 30}
    final = kaczmatch.replay(learner, columns)[0]
    assert list(kaczmatch.monitor_sessions(learner, columns))[-1].norm == np.linalg.norm(learner.weights(final.cells, D))


def test_the_condition_is_that_of_the_sessions_candidates() -> None:
    columns = log(users=1)
    readings = list(kaczmatch.monitor_sessions(kaczmatch.learner("tk"), columns))
    rows = columns["features"][8:16]
    assert readings[1].condition == pytest.approx(np.linalg.cond(rows @ rows.T), rel=1e-6)


def test_a_prior_of_another_length_is_refused_at_once() -> None:
    with pytest.raises(kaczmatch.InvalidInput, match="prior: has 3 tags, the log has 10"):
        kaczmatch.monitor_sessions(kaczmatch.learner("tk"), log(), prior=np.ones(3))


def test_silent_swipes_are_those_without_a_residual() -> None:
    columns = {"user": [0, 0, 0], "features": [np.ones(D), np.eye(D)[0], np.zeros(D)], "label": [1, 1, 1]}
    for slug in ("tk", "block-nk"):
        (reading,) = kaczmatch.monitor_sessions(kaczmatch.learner(slug), columns)
        assert reading.silent == 2  # inside its margin; and without tags
    (reading,) = kaczmatch.monitor_sessions(kaczmatch.learner("all-ones"), columns)
    assert reading.silent == 3
    assert reading.norm_bound is None


def test_condition_number_of_a_gram_matrix() -> None:
    rows = np.diag([1.0, 2.0, 3.0])[:, :3]
    assert gram_condition(rows) == pytest.approx(9.0)
    assert gram_condition(rows, alpha=1.0) == pytest.approx(5.0)
    assert gram_condition([[1, 1], [1, 1]]) == math.inf
    assert gram_condition([[1, 1], [1, 1]], alpha=1.0) == pytest.approx(5.0)
    assert gram_condition(np.ones((3, 2)), alpha=2.0) == pytest.approx(4.0)
    assert gram_condition(np.zeros((2, 2))) == math.inf
