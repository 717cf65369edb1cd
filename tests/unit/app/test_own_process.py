"""Computations in a process of their own."""

from __future__ import annotations

import os
import subprocess
from functools import partial

import pytest

from kaczmatch.app.own_process import in_own_process


def test_the_answer_comes_from_another_process_that_gives_way_to_others() -> None:
    assert in_own_process(os.getpid) != os.getpid()
    assert in_own_process(partial(os.getpriority, os.PRIO_PROCESS, 0)) == 19


def test_a_computation_that_fails_is_said_to_have_failed(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        in_own_process(partial(int, "no number"))
    assert "ValueError: invalid literal" in capfd.readouterr().err
