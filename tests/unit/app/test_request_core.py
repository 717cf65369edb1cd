"""Threads that answer requests stay together on the core that others use least."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from operator import add
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch.app.own_process import in_own_process
from kaczmatch.app.request_core import MARGIN, RequestCore, better_core
from kaczmatch.recommend.index import search_threads
from kaczmatch.runner.cores import ALL_CORES, run_on
from kaczmatch.runner.local import LocalRunner
from kaczmatch.runner.processes import ProcessRunner

several_cores = pytest.mark.skipif(sys.platform != "linux" or len(ALL_CORES) < 2, reason="needs Linux and two cores")
loads = st.dictionaries(st.integers(0, 7), st.floats(-0.1, 1.0), min_size=1)


@given(loads, st.none() | st.integers(0, 9), st.integers(0))
def test_threads_move_only_to_the_core_that_others_use_least_and_only_where_it_pays(
    others: dict[int, float], core: int | None, seed: int
) -> None:
    chosen = better_core(others, core, np.random.default_rng(seed))
    assert chosen is not None
    if chosen == core:
        return
    assert others[chosen] == min(others.values())
    assert core not in others or others[core] - others[chosen] > MARGIN


def test_two_processes_that_meet_on_a_core_part_after_a_while() -> None:
    rngs = [np.random.default_rng(1), np.random.default_rng(2)]
    cores: list[int | None] = [0, 0]
    for _ in range(40):
        before = list(cores)
        cores = [
            better_core({one: float(before[1 - place] == one) for one in (0, 1)}, before[place], rngs[place]) for place in (0, 1)
        ]
        if cores[0] != cores[1]:
            break
    assert cores[0] != cores[1]
    apart = [better_core({one: float(cores[1 - place] == one) for one in (0, 1)}, cores[place], rngs[place]) for place in (0, 1)]
    assert apart == cores


def usage(proc: Path, used: dict[int, int]) -> None:
    lines = [f"cpu{core} {ticks} 999 0 0 0 0 0 0 0 0" for core, ticks in used.items()]
    (proc / "stat").write_text("\n".join(["cpu 0 0 0 0 0 0 0 0 0 0", *lines, "intr 1 2 3"]))


def with_thread(name: str, then: Callable[[threading.Thread], None]) -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait, name=name)
    thread.start()
    try:
        then(thread)
    finally:
        done.set()
        thread.join()
        run_on(ALL_CORES)


def cores_of(thread: threading.Thread) -> set[int]:
    return os.sched_getaffinity(thread.native_id or 0)


@several_cores
def test_request_threads_go_to_the_free_core_and_later_to_another_and_others_stay_where_they_are(tmp_path: Path) -> None:
    first, second = sorted(ALL_CORES)[:2]

    def then(beside: threading.Thread) -> None:
        def look(thread: threading.Thread) -> None:
            used = dict.fromkeys(ALL_CORES, 0)
            usage(tmp_path, used)
            core = RequestCore(threading.main_thread(), np.random.default_rng(0), tmp_path)
            for free in (second, first):
                for _ in range(9):  # it stays where it is half of the time
                    used = {one: ticks + (0 if one == free else 10**9) for one, ticks in used.items()}
                    usage(tmp_path, used)
                    core.look()
                assert cores_of(thread) == cores_of(threading.main_thread()) == {free}
            assert cores_of(beside) == ALL_CORES
            core.release()
            assert cores_of(thread) == cores_of(threading.main_thread()) == ALL_CORES

        with_thread("kaczmatch requests_0", look)

    with_thread("kaczmatch follow", then)


@several_cores
def test_what_a_request_starts_may_use_all_cores() -> None:
    here = partial(os.sched_getaffinity, 0)
    search_threads._jobs.cache_clear()
    run_on({min(ALL_CORES)})
    try:
        assert LocalRunner(2).fold(lambda _: [here()], range(2), add, []) == [ALL_CORES, ALL_CORES]
        assert list(ProcessRunner(1).results(os.sched_getaffinity, [0])) == [ALL_CORES]
        assert in_own_process(here) == ALL_CORES
        before, ran = set(threading.enumerate()), threading.Event()
        search_threads._jobs().put(search_threads._SearchJob(ran.set))
        assert ran.wait(60)
        helpers = set(threading.enumerate()) - before
        assert helpers
        assert all(cores_of(one) == ALL_CORES for one in helpers)
    finally:
        run_on(ALL_CORES)
