"""Computations in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from kaczmatch.app.own_process import OwnProcesses, in_own_process


def test_the_answer_comes_from_another_process_that_gives_way_to_others() -> None:
    assert in_own_process(os.getpid) != os.getpid()
    assert in_own_process(partial(os.getpriority, os.PRIO_PROCESS, 0)) == 19


def test_a_computation_that_fails_is_said_to_have_failed(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        in_own_process(partial(int, "no number"))
    assert "ValueError: invalid literal" in capfd.readouterr().err


def test_what_a_computation_prints_is_no_part_of_its_answer(capfd: pytest.CaptureFixture[str]) -> None:
    assert in_own_process(partial(print, "so far so good")) is None
    told = capfd.readouterr()
    assert (told.out, "so far so good" in told.err) == ("", True)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose child a process is")
def test_computations_under_way_end_when_they_are_told_to_and_none_begins_afterwards() -> None:
    processes, failed = OwnProcesses(), list[BaseException]()

    def compute() -> None:
        try:
            processes(partial(time.sleep, 600))
        except subprocess.CalledProcessError as error:
            failed.append(error)

    waiting = threading.Thread(target=compute)
    waiting.start()
    until(lambda: bool(children(os.getpid())))
    processes.end()
    waiting.join(60)
    assert len(failed) == 1
    with pytest.raises(subprocess.CalledProcessError):
        processes(os.getpid)
    assert children(os.getpid()) == []


PARENT = """
import time
from functools import partial
from kaczmatch.app.own_process import in_own_process
in_own_process(partial(time.sleep, 600))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose child a process is")
def test_a_computation_ends_with_a_parent_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT]) as parent:  # noqa: S603
        until(lambda: bool(children(parent.pid)))
        (child,) = children(parent.pid)
        parent.kill()
    until(lambda: not Path(f"/proc/{child}").exists())


def until(reached: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.05)


def children(process: int) -> list[int]:
    """Computations that a process has begun."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            of = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if of == process and b"own_process" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found
