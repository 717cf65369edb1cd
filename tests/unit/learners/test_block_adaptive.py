from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

import kaczmatch
from kaczmatch import InvalidInput
from kaczmatch.core.compiled import adapted_damping
from kaczmatch.learners.rules.kaczmarz import gram_condition
from kaczmatch.simulation.trace import trace
from kaczmatch.simulation.world import HONEST, world


def rows_of(seed: int, k: int, d: int = 20) -> np.ndarray:
    return (np.random.default_rng(seed).random((k, d)) < 0.5).astype(float)


@pytest.mark.parametrize("condition", [2.0, 10.0, 100.0])
@pytest.mark.parametrize("k", [1, 3, 12, 20])
def test_damping_is_the_smallest_that_keeps_the_condition_number(k: int, condition: float) -> None:
    rows = rows_of(k, k)
    alpha = adapted_damping(rows, 0.001, condition)
    assert gram_condition(rows, alpha) <= condition * (1 + 1e-6)
    if alpha > 0.001:
        assert gram_condition(rows, alpha * 0.99) > condition


def test_without_a_limit_and_above_it_the_setting_stays() -> None:
    rows = rows_of(0, 8)
    assert adapted_damping(rows, 0.7, np.inf) == 0.7
    assert adapted_damping(rows, 1e6, 10.0) == 1e6
    assert adapted_damping(rows_of(1, 30), 1.0, 10.0) > 1.0  # more rows than tags: the Gram matrix is singular


@pytest.mark.parametrize("deck", [2, 5, 32])
def test_short_sessions_are_no_worse_than_tk_and_full_ones_no_worse_than_block_nk(deck: int) -> None:
    """On the same swipes, honest labels; TK is the bar up to five a session, Block-NK at 32."""
    bar = kaczmatch.learner("tk" if deck <= 5 else "block-nk")
    finals = {}
    for name, learner in (("adaptive", kaczmatch.learner("block-adaptive")), ("bar", bar)):
        found = [
            trace(learner, world(replace(HONEST, users=40, deck=deck, sessions=3_200 // deck), seed)).alignment.mean(axis=0)
            for seed in range(2)
        ]
        finals[name] = np.mean(found, axis=0)
    for t in (20, 200, 1_000, 3_200):
        assert finals["adaptive"][t - 1] >= finals["bar"][t - 1] - 0.003, t
    assert finals["adaptive"][-1] > finals["bar"][-1] + 0.01


@pytest.mark.parametrize("bad", [{"condition": 1.0}, {"condition": float("nan")}])
def test_settings_that_make_no_sense_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidInput) as caught:
        kaczmatch.learner("block-nk", **bad)
    assert caught.value.field in bad


def test_a_session_that_goes_quiet_has_ended() -> None:
    """Half an hour without a swipe: what is pending is learned from, live and in replay alike; a minute less, and it waits."""
    rng = np.random.default_rng(3)
    rows, labels = (rng.random((6, 5)) < 0.5).astype(float) + np.eye(6, 5), rng.choice([-1, 1], 6)
    rule = kaczmatch.learner("block-adaptive")
    for minutes, pending in ((29.9, 6), (30.0, 3)):
        at = np.array([0.0, 1.0, 2.0, 2.0 + 60 * minutes, 3.0 + 60 * minutes, 4.0 + 60 * minutes])
        state, before = rule.start(kaczmatch.Prior.ones(5)), 0.0
        for features, label, moment in zip(rows, labels, at, strict=True):
            state = rule.advance(state, timedelta(seconds=moment - before))
            state, before = rule.swipe(state, features, int(label)), moment
        assert state.cells[5] == pending
        log = {"user": np.zeros(6, int), "features": rows, "label": labels, "at": at}
        assert kaczmatch.replay(rule, log)[0] == state
    paper = kaczmatch.learner("block-nk")
    assert kaczmatch.replay(paper, log)[0].cells[5] == 6


def test_condition_number_of_a_gram_matrix() -> None:
    rows = np.diag([1.0, 2.0, 3.0])[:, :3]
    assert gram_condition(rows) == pytest.approx(9.0)
    assert gram_condition(rows, alpha=1.0) == pytest.approx(5.0)
    assert gram_condition([[1, 1], [1, 1]]) == np.inf
    assert gram_condition([[1, 1], [1, 1]], alpha=1.0) == pytest.approx(5.0)
    assert gram_condition(np.ones((3, 2)), alpha=2.0) == pytest.approx(4.0)
    assert gram_condition(np.zeros((2, 2))) == np.inf
