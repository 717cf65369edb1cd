"""A job in parts gives the same on any number of workers."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch.runner.local import LocalRunner


@given(st.lists(st.floats(-1e9, 1e9)), st.integers(1, 5))
def test_results_are_combined_in_the_order_of_the_parts(parts: list[float], workers: int) -> None:
    total = LocalRunner(workers).fold(lambda part: part / 3.0, parts, lambda sum_, part: sum_ + part, 0.1)
    expected = 0.1
    for part in parts:
        expected += part / 3.0
    assert total == expected  # to the last bit


def test_parts_run_at_the_same_time_and_no_more_than_workers_wait() -> None:
    meeting, begun = threading.Barrier(3, timeout=60), []

    def work(part: int) -> int:
        begun.append(part)
        if part < 3:
            meeting.wait()
        return part

    most: list[int] = []

    def combine(done: int, part: int) -> int:
        most.append(len(begun) - done)
        return done + 1

    assert LocalRunner(3).fold(work, range(20), combine, 0) == 20
    assert max(most) <= 3


def test_the_first_error_ends_the_job() -> None:
    done = []

    def work(part: int) -> None:
        if part == 2:
            raise OSError("broken")
        done.append(part)

    with pytest.raises(OSError, match="broken"):
        LocalRunner(1).fold(work, range(1_000), lambda _, part: part, None)
    assert len(done) < 10
