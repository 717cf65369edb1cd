"""Replay's own memory grows with users, not with swipes.

Measured in a process of its own: threads that other tests have left running would take memory at the same time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import kaczmatch
from kaczmatch.learners.logs import replay
from kaczmatch.runner.local import LocalRunner

SIZES = {"few": (25_000, 50), "many swipes": (200_000, 50), "many users": (25_000, 500)}


def peak(slug: str, swipes: int, users: int) -> int:
    """Bytes that replay takes at most, the log itself apart; half of the users swipe only in the beginning."""
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
    tracemalloc.start()
    states = kaczmatch.replay(kaczmatch.learner(slug), log, runner=LocalRunner(1))  # what two have at once is chance
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(states) == users
    return found


def measure() -> dict[str, dict[str, int]]:
    replay._ROWS_AT_ONCE = 12_500
    for slug in kaczmatch.LEARNERS:
        peak(slug, *SIZES["few"])  # what is loaded once
    return {slug: {size: peak(slug, *numbers) for size, numbers in SIZES.items()} for slug in kaczmatch.LEARNERS}


@pytest.mark.slow
def test_memory_grows_with_users_and_not_with_swipes() -> None:
    run = subprocess.run([sys.executable, __file__], capture_output=True, text=True, check=True)  # noqa: S603
    peaks = json.loads(run.stdout)
    assert [*peaks] == [*kaczmatch.LEARNERS]
    assert {slug: of for slug, of in peaks.items() if of["many swipes"] > 1.1 * of["few"]} == {}
    assert {slug: of for slug, of in peaks.items() if of["many users"] <= of["few"]} == {}


if __name__ == "__main__":
    print(json.dumps(measure()))
