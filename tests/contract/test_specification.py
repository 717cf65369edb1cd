"""The compiled kernel does what the readable rule says, and replay does what live calls do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kaczmatch
from kaczmatch import InvalidInput, Learner
from kaczmatch.learners.belief.gaussian import GaussianLearner
from kaczmatch.learners.belief.kernels import ALARM, BEHAVIOUR
from kaczmatch.learners.rules.kaczmarz import BlockLearner
from worlds.gaussian import after_swipe
from worlds.readable_rules import session_ended, swiped


@pytest.mark.parametrize(("d", "real"), [(3, True), (13, False), (60, True)], ids=["3", "13-tags", "60"])
def test_kernel_equals_readable_rule(with_kernels: Learner, swipes: Any, d: int, real: bool) -> None:
    learner = with_kernels
    log = kaczmatch.SwipeLog(**swipes(d, d=d, real=real, swipes=90))
    state = learner.start(np.linspace(-0.3, 1.0, d))
    cells = state.cells
    for row in range(len(log)):
        seen, label = log.shown_candidate(row), int(log.label[row])
        if isinstance(learner, GaussianLearner):
            mean, covariance, behaviour = after_swipe(learner, state, seen.features, seen.others, label)
            state = learner.swipe(state, seen, label)
            if behaviour[-1] >= learner.parameters[ALARM]:
                assert state == learner.start(state.prior)
                continue
            np.testing.assert_allclose(learner.mean(state), mean, rtol=1e-7, atol=1e-7)
            np.testing.assert_allclose(learner.covariance(state), covariance, rtol=1e-7, atol=1e-7)
            np.testing.assert_allclose(state.cells[-BEHAVIOUR:], behaviour, rtol=1e-7, atol=1e-7)
            continue
        state = learner.swipe(state, seen, label)
        cells = swiped(learner, cells, seen, label)
        if isinstance(learner, BlockLearner) and row and log.session[row] != log.session[row - 1]:
            state = learner.end_session(state)
            cells = session_ended(learner, cells, d)
        np.testing.assert_allclose(state.cells, cells, rtol=1e-7, atol=1e-7)


def test_replay_equals_live_bit_for_bit(learner: Learner, swipes: Any, live: Any) -> None:
    log = kaczmatch.SwipeLog(**swipes(20, users=7, swipes=70, real=True))
    states = kaczmatch.replay(learner, log)
    assert list(states) == list(range(7))
    for user in range(7):
        rows = np.flatnonzero(log.user == user)
        assert states[user] == live(learner, log, states.prior, rows)
    directions = states.directions()
    assert directions[3] == pytest.approx(learner.direction(states[3]), abs=1e-15)


def test_replay_in_parts_equals_replay_at_once(learner: Learner, swipes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = swipes(21, users=5, swipes=60)
    whole = kaczmatch.replay(learner, columns)
    parts = None
    for cut in (slice(0, 100), slice(100, 101), slice(101, 300)):
        parts = kaczmatch.replay(learner, {name: column[cut] for name, column in columns.items()}, states=parts)
    assert dict(parts) == dict(whole)
    monkeypatch.setattr("kaczmatch.learners.logs.replay._ROWS_AT_ONCE", 37)
    assert dict(kaczmatch.replay(learner, columns)) == dict(whole)


def test_replay_by_candidate_equals_replay_by_features(learner: Learner, swipes: Any) -> None:
    columns = swipes(22, users=3)
    by_features = kaczmatch.replay(learner, columns)
    n = len(columns["label"])
    shuffle = np.random.default_rng(0).permutation(n)
    place = np.argsort(shuffle)
    rest = {name: column for name, column in columns.items() if name != "features"}
    by_row = kaczmatch.replay(learner, rest | {"candidate": place, "candidates": columns["features"][shuffle]})
    named = {f"c{i}": row for i, row in enumerate(columns["features"])}
    by_name = kaczmatch.replay(learner, rest | {"candidate": [f"c{i}" for i in range(n)], "candidates": named})
    assert dict(by_features) == dict(by_row) == dict(by_name)


def test_the_last_session_is_ended_on_request(learner: Learner, swipes: Any) -> None:
    columns = swipes(23, users=2)
    open_end, ended = (kaczmatch.replay(learner, columns, end_last_session=flag) for flag in (False, True))
    for user in open_end:
        assert ended[user] == learner.end_session(open_end[user])


def test_replay_of_nothing_is_nothing(learner: Learner) -> None:
    assert len(kaczmatch.replay(learner, {"user": [], "features": np.empty((0, 4)), "label": []})) == 0


def test_replay_starts_from_the_given_prior(learner: Learner, swipes: Any, live: Any) -> None:
    columns = swipes(24, swipes=1)
    prior = kaczmatch.Prior(np.linspace(0, 1, 13), version="p1")
    state = kaczmatch.replay(learner, columns, prior=prior)[0]
    assert state.prior.version == "p1"
    assert state == live(learner, columns, prior, [0])
    with pytest.raises(InvalidInput) as caught:
        kaczmatch.replay(learner, columns, prior=np.ones(12))
    assert caught.value.field == "prior"
