"""Processes that give way."""

from __future__ import annotations

import os
import sys

import pytest

from kaczmatch.runner.processes import ProcessRunner, died


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has processes that run when nobody else does")
def test_idle_processes_leave_the_machine_to_others() -> None:
    asked = [ProcessRunner(1, idle=idle).results(os.sched_getscheduler, [0]) for idle in (True, False)]
    assert [list(found) for found in asked] == [[os.SCHED_IDLE], [os.sched_getscheduler(0)]]


def test_the_error_of_a_part_of_people_names_none_of_them() -> None:
    assert died(["ada", "bob"], 0).startswith("a part of 2 ended the process that worked on it")
    assert died((0, 500), 0).startswith("part (0, 500) ended")
