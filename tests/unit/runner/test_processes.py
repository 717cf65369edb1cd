"""Processes that give way, and that end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kaczmatch.runner.processes import ProcessRunner, died


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has processes that run when nobody else does")
def test_idle_processes_leave_the_machine_to_others() -> None:
    asked = [ProcessRunner(1, idle=idle).results(os.sched_getscheduler, [0]) for idle in (True, False)]
    assert [list(found) for found in asked] == [[os.SCHED_IDLE], [os.sched_getscheduler(0)]]


def test_the_error_of_a_part_of_people_names_none_of_them() -> None:
    assert died(["ada", "bob"], 0).startswith("a part of 2 ended the process that worked on it")
    assert died((0, 500), 0).startswith("part (0, 500) ended")


INTERRUPTED = """
import os, signal
from kaczmatch.runner.processes import ProcessRunner

def part(number):
    return bytes(800_000_000) if number else os.getpid()

def received():
    return int(open("/proc/self/io").read().split()[1])

if __name__ == "__main__":
    results = ProcessRunner(1).results(part, [0, 1])
    worker, before = next(results), received()
    while received() < before + 20_000_000:
        pass
    os.kill(worker, signal.SIGINT)
    results.close()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what a process has read")
def test_a_job_ends_though_a_process_was_interrupted_while_it_sent_its_result(tmp_path: Path) -> None:
    """Nobody waits for the other half. Ctrl-C reaches all processes of a terminal at the same moment."""
    (tmp_path / "job.py").write_text(INTERRUPTED)
    done = subprocess.run([sys.executable, "job.py"], cwd=tmp_path, timeout=60, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
