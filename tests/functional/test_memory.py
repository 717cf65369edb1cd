"""Replay's own memory grows with users, not with swipes."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import kaczmatch
from kaczmatch.learners.logs import replay
from kaczmatch.runner.local import LocalRunner


def peak(swipes: int, users: int, monkeypatch: pytest.MonkeyPatch, slug: str = "block-nk") -> int:
    """Bytes that replay takes at most, the log itself apart; half of the users swipe only in the beginning.

    The least of three runs: threads that other tests have left running take memory at the same time.
    """
    rng = np.random.default_rng(0)
    user = rng.integers(0, users, swipes)
    user[10 * users :] //= 2
    log = kaczmatch.SwipeLog(
        user=user,
        candidate=rng.integers(0, 50, swipes),
        candidates=rng.integers(0, 2, (50, 60)),
        label=rng.choice([-1, 1], swipes),
        session=np.arange(swipes) // 10,
    )
    monkeypatch.setattr(replay, "_ROWS_AT_ONCE", 12_500)
    found = []
    for _ in range(3):
        tracemalloc.start()
        states = kaczmatch.replay(kaczmatch.learner(slug), log, runner=LocalRunner(1))  # what two have at once is chance
        found.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(states) == users
    return min(found)


@pytest.mark.parametrize("slug", kaczmatch.LEARNERS)
def test_eight_times_the_swipes_need_no_more_memory(slug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    peak(25_000, 50, monkeypatch, slug)  # what is loaded once
    few, many = peak(25_000, 50, monkeypatch, slug), peak(200_000, 50, monkeypatch, slug)
    assert many < 1.2 * few


def test_ten_times_the_users_need_more(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = peak(25_000, 125, monkeypatch), peak(25_000, 1_250, monkeypatch)
    assert many > few
