from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kaczmatch
from kaczmatch import InvalidInput
from kaczmatch.learners.logs.influence import _angles

D = 10


def log(n: int = 25, users: int = 1) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {
        "user": np.tile(np.arange(users), n),
        "features": (rng.random((n * users, D)) < 0.5).astype(float),
        "label": rng.choice([-1, 1], n * users),
        "session": np.repeat(np.arange(n * users // 5), 5),
        "at": np.cumsum(rng.integers(0, 200_000, n * users)),
    }


@pytest.mark.parametrize("slug", kaczmatch.LEARNERS)
def test_influence_is_what_replay_without_the_swipe_shows(slug: str) -> None:
    """Sessions and time stay where they were: only the swipe is gone."""
    settings = {"half_life_days": 2.0} if "probit" in slug else {}
    learner = kaczmatch.learner(slug, **settings)
    columns = log()
    found = kaczmatch.influence(learner, columns)
    whole = kaczmatch.replay(learner, columns, end_last_session=True).directions()[0]
    assert found.rows.tolist() == list(range(25))
    for row in (0, 4, 5, 24):
        kept = {name: np.delete(column, row, axis=0) for name, column in columns.items()}
        without = kaczmatch.replay(learner, kept, end_last_session=True).directions()[0]
        degrees = np.degrees(np.arccos(np.clip(whole @ without, -1, 1)))
        assert found.angles[row] == pytest.approx(degrees, abs=1e-5)


def test_a_silent_swipe_has_no_influence_and_a_wrong_one_has() -> None:
    learner = kaczmatch.learner("tk")
    columns = {"user": [1, 1], "features": [np.ones(D), np.eye(D)[0]], "label": [1, 1]}
    turns = kaczmatch.influence(learner, columns).angles
    assert turns[0] == 0.0
    assert turns[1] > 0.0


def test_each_user_has_their_own() -> None:
    learner = kaczmatch.learner("nk")
    columns = log(users=3)
    alone = {name: column[1::3] for name, column in columns.items()}
    together = kaczmatch.influence(learner, columns, user=1)
    assert np.array_equal(together.angles, kaczmatch.influence(learner, alone).angles)
    assert together.rows.tolist() == list(range(1, 75, 3))
    for user, message in ((None, "3 users"), (9, "9 does not occur")):
        with pytest.raises(InvalidInput, match=message) as caught:
            kaczmatch.influence(learner, columns, user=user)
        assert caught.value.field == "user"


def test_an_open_block_has_influence_as_if_it_had_ended() -> None:
    learner = kaczmatch.learner("block-nk")
    columns = {name: column for name, column in log().items() if name not in ("session", "at")}
    assert kaczmatch.influence(learner, columns).angles.any()


def test_the_prior_matters_less_and_less() -> None:
    learner = kaczmatch.learner("probit")
    early, late = (kaczmatch.influence(learner, log(n), prior=np.ones(D)).prior_angle for n in (5, 400))
    assert late < early


def test_the_priors_turn_is_against_a_start_from_zero() -> None:
    for slug in ("tk", "probit"):
        learner = kaczmatch.learner(slug)
        ends = [kaczmatch.replay(learner, log(), prior=prior).directions()[0] for prior in (np.ones(D), np.zeros(D))]
        degrees = np.degrees(np.arccos(ends[0] @ ends[1]))
        assert kaczmatch.influence(learner, log(), prior=np.ones(D)).prior_angle == pytest.approx(degrees, abs=1e-5)


def test_a_long_history_is_folded_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = kaczmatch.learner("tk")
    whole = kaczmatch.influence(learner, log()).angles
    monkeypatch.setattr("kaczmatch.learners.logs.influence._WORK_BYTES", 1000)
    assert np.array_equal(kaczmatch.influence(learner, log()).angles, whole)


def test_angles_are_exact_when_tiny_and_defined_for_zero() -> None:
    today = np.array([1.0, 0.0])
    tiny = np.array([[np.cos(1e-9), np.sin(1e-9)], [-1.0, 0.0], [0.0, 0.0]])
    assert _angles(today, tiny) == pytest.approx([np.degrees(1e-9), 180.0, 90.0], rel=1e-6)
    assert _angles(np.zeros(2), np.array([[0.0, 0.0], [1.0, 0.0]])).tolist() == [0.0, 90.0]
