from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import kaczmatch
from kaczmatch import InvalidInput

COLUMNS = {"user": ["bo", "al", "bo"], "features": np.eye(3), "label": ["like", "pass", "pass"]}


def test_states_are_found_by_user() -> None:
    states = kaczmatch.replay(kaczmatch.learner("tk"), COLUMNS)
    assert sorted(states) == ["al", "bo"]
    assert len(states) == 2
    assert "cy" not in states
    with pytest.raises(KeyError):
        states["cy"]


def test_time_that_runs_backwards_is_refused_with_its_row() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    at = np.array([start, start, start - timedelta(seconds=1)], object)
    learner = kaczmatch.learner("probit", half_life_days=1.0)
    with pytest.raises(InvalidInput, match="row 2: is before the same user's swipe before it") as caught:
        kaczmatch.replay(learner, COLUMNS | {"at": at})
    assert caught.value.field == "at"
    earlier = kaczmatch.replay(learner, COLUMNS | {"at": np.array([start] * 3, object)})
    with pytest.raises(InvalidInput, match=r"row [01]: is before"):
        kaczmatch.replay(learner, COLUMNS | {"at": at - timedelta(days=1)}, states=earlier)


def test_going_on_takes_the_same_learner_and_prior() -> None:
    tk, nk = kaczmatch.learner("tk"), kaczmatch.learner("nk")
    states = kaczmatch.replay(tk, COLUMNS)
    for learner, prior in ((nk, None), (tk, np.ones(3))):
        with pytest.raises(InvalidInput) as caught:
            kaczmatch.replay(learner, COLUMNS, states=states, prior=prior)
        assert caught.value.field == "states"


def test_replay_leaves_the_states_it_goes_on_from() -> None:
    tk = kaczmatch.learner("tk")
    states = kaczmatch.replay(tk, COLUMNS)
    before = states["bo"]
    later = kaczmatch.replay(tk, COLUMNS, states=states)
    assert states["bo"] == before != later["bo"]
