"""Every runner gives the same, and ends the same way when something goes wrong."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kaczmatch.core.errors import InvalidInput
from kaczmatch.jobs.replay import replay_files
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner
from kaczmatch.runner.processes import ProcessRunner
from worlds.jobs import evaluated, fitted, picked
from worlds.parquet_log import job_on, write_parquet_log
from worlds.parts import appended, dies, dies_once, greedy, refuses, third

KINDS = ("threads", "processes", "ray")


@pytest.fixture(scope="module")
def three_nodes() -> Iterator[Any]:
    """A Ray cluster of three nodes on this machine."""
    pytest.importorskip("ray", reason="the extra ray is not installed")
    from worlds.ray_cluster import ray_cluster

    with ray_cluster(nodes=3) as cluster:
        yield cluster


@pytest.fixture(params=KINDS)
def runner(request: pytest.FixtureRequest) -> Runner:
    if request.param == "ray":
        cluster = request.getfixturevalue("three_nodes")
        from kaczmatch.runner.cluster import RayRunner

        return RayRunner(cluster.address)
    return LocalRunner(2) if request.param == "threads" else ProcessRunner(2)


def test_results_are_combined_in_the_order_of_the_parts_to_the_last_bit(runner: Runner) -> None:
    parts = np.random.default_rng(0).normal(0.0, 1e9, 25).tolist()
    total = runner.fold(third, parts, lambda sum_, part: sum_ + part, 0.1)
    expected = 0.1
    for part in parts:
        expected += part / 3.0
    assert total == expected
    assert runner.fold(third, [], appended, []) == []
    assert runner.workers >= 2


def test_the_error_of_a_part_is_the_error_of_the_job(runner: Runner) -> None:
    with pytest.raises(InvalidInput, match=r"^age: row 3: must be a number$") as raised:
        runner.fold(refuses, range(8), lambda _, part: part, None)
    assert type(raised.value) is InvalidInput


@pytest.fixture(params=KINDS[1:])
def separate(request: pytest.FixtureRequest) -> Runner:
    """A runner whose parts are processes of their own."""
    if request.param == "ray":
        from kaczmatch.runner.cluster import RayRunner

        return RayRunner(request.getfixturevalue("three_nodes").address)
    return ProcessRunner(2)


def test_a_part_whose_process_was_killed_is_run_again(separate: Runner, tmp_path: Path) -> None:
    found = separate.fold(functools.partial(dies_once, tmp_path), range(7), appended, [])
    assert found == list(range(7))
    assert {file.name for file in tmp_path.iterdir()} == {"1", "5"}


def test_a_part_that_kills_every_process_ends_the_job_and_is_named(separate: Runner) -> None:
    with pytest.raises(ChildProcessError, match="part 2 ended the process that worked on it"):
        separate.fold(dies, range(4), appended, [])


def test_a_part_gets_no_more_memory_than_it_may_take(separate: Runner) -> None:
    many = 2**20
    assert separate.fold(greedy, [30], appended, [], memory=200 * many) == [30 * many]
    with pytest.raises(ChildProcessError, match="want of memory; it may take 200 MiB"):
        separate.fold(greedy, [900], appended, [], memory=200 * many)


def test_no_more_parts_run_at_once_than_there_is_memory_for() -> None:
    """Threads cannot be limited one by one, but counted."""
    begun: list[int] = []
    most: list[int] = []

    def work(part: int) -> int:
        begun.append(part)
        time.sleep(0.01)
        return part

    def combine(done: int, part: int) -> int:
        most.append(len(begun) - done)
        return done + 1

    assert LocalRunner(8).fold(work, range(12), combine, 0, memory=2**50) == 12
    assert max(most) == 1


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 30), min_size=1, max_size=12), st.integers(1, 4))
def test_the_number_of_workers_does_not_matter(parts: list[int], workers: int) -> None:
    def noise(part: int) -> float:
        return float(np.random.default_rng(part).normal())

    def fold(one: Runner) -> float:
        return one.fold(noise, parts, lambda sum_, part: sum_ * 0.7 + part, 0.0)

    assert fold(LocalRunner(workers)) == fold(LocalRunner(1))


def test_a_part_for_which_no_node_has_the_memory_is_refused_at_once(three_nodes: Any) -> None:
    from kaczmatch.runner.cluster import RayRunner

    with pytest.raises(OSError, match="a part takes 8,192 MiB, and the largest node of the cluster has 4,096 MiB"):
        RayRunner(three_nodes.address).fold(third, [1.0], appended, [], memory=8 * 2**30)


INTERRUPTED = """
import functools, sys, time
from pathlib import Path
from kaczmatch.runner.processes import ProcessRunner

def slow(folder, part):
    if part > 1:
        time.sleep(60)
    (Path(folder) / str(part)).touch()
    return part

if __name__ == "__main__":
    (Path(sys.argv[1]) / "begun").touch()
    ProcessRunner(2).fold(functools.partial(slow, sys.argv[1]), range(9), lambda _, part: part, None)
"""


@pytest.mark.parametrize("finished", [["begun"], ["0", "1", "begun"]], ids=["while workers start", "after two parts"])
def test_ctrl_c_ends_a_job_at_once_and_leaves_what_was_finished(tmp_path: Path, finished: list[str]) -> None:
    program, folder = tmp_path / "job.py", tmp_path / "done"
    program.write_text(INTERRUPTED)
    folder.mkdir()
    job = subprocess.Popen(  # noqa: S603 - as a terminal would: all its processes in one group
        [sys.executable, str(program), str(folder)], start_new_session=True, stderr=subprocess.PIPE
    )
    until = time.monotonic() + 120
    while len(list(folder.iterdir())) < len(finished) and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.1)  # in which workers start
    os.killpg(job.pid, signal.SIGINT)
    _, said = job.communicate(timeout=30)  # the parts at work would take a minute
    assert said.count(b"KeyboardInterrupt") == 1, said.decode()
    left = {file.name for file in folder.iterdir()}
    assert set(finished) <= left <= {"0", "1", "begun"}  # workers that start quickly may have done both


def test_an_evaluation_picks_and_a_fit_on_ray_are_those_on_threads(three_nodes: Any) -> None:
    """Arrays come to other nodes read-only."""
    from kaczmatch.runner.cluster import RayRunner

    runner = RayRunner(three_nodes.address)
    assert evaluated(runner, "probit-diag") == evaluated(LocalRunner(1), "probit-diag")
    assert picked(runner) == picked(LocalRunner(2))
    assert fitted(runner) == fitted(LocalRunner(2))


def test_a_replay_on_ray_survives_the_death_of_a_node(three_nodes: Any, tmp_path: Path) -> None:
    """The same bytes as on one thread, and nothing is lost. The last test, since the cluster has a node less afterwards."""
    from kaczmatch.runner.cluster import RayRunner

    write_parquet_log(tmp_path)
    replay_files(job_on(tmp_path, "here"), LocalRunner(1))
    runner, killed = RayRunner(three_nodes.address), []

    def kill(what: str, done: int, total: int) -> None:
        if what == "learning" and done == 2:
            killed.append(next(iter(three_nodes.worker_nodes)))
            three_nodes.remove_node(killed[0], allow_graceful=False)

    assert runner.workers == 3
    found = replay_files(job_on(tmp_path, "there"), runner, kill)
    assert len(killed) == 1
    assert found.parts == 8
    here, there = (
        {path.name: path.read_bytes() for path in (tmp_path / name).glob("states-*.parquet")} for name in ("here", "there")
    )
    assert len(here) == 8
    assert here == there
