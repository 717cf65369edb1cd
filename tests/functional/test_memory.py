"""Replay's own memory grows with users, not with swipes."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import kaczmatch
from kaczmatch.learners import replay


def peak(swipes: int, users: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Bytes that replay takes at most, the log itself apart."""
    rng = np.random.default_rng(0)
    log = kaczmatch.SwipeLog(
        user=rng.integers(0, users, swipes),
        candidate=rng.integers(0, 50, swipes),
        candidates=rng.integers(0, 2, (50, 60)),
        label=rng.choice([-1, 1], swipes),
        session=np.arange(swipes) // 10,
    )
    monkeypatch.setattr(replay, "_ROWS_AT_ONCE", 50_000)
    tracemalloc.start()
    states = kaczmatch.replay(kaczmatch.learner("block-nk"), log)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(states) == users
    return most


def test_ten_times_the_swipes_need_no_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    peak(50_000, 100, monkeypatch)  # what is loaded once
    few, many = peak(50_000, 100, monkeypatch), peak(500_000, 100, monkeypatch)
    assert many < 1.2 * few


def test_ten_times_the_users_need_more(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = peak(100_000, 500, monkeypatch), peak(100_000, 5_000, monkeypatch)
    assert many > few
