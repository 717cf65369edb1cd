"""What parts of a job do: in a module of its own, so that other processes find it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np

from kaczmatch.core.errors import InvalidInput


def third(part: float) -> float:
    return part / 3.0


def appended(before: list[float], part: float) -> list[float]:
    return [*before, part]


def refuses(part: int) -> int:
    if part == 3:
        raise InvalidInput("age", "row 3: must be a number")
    return part


def dies_once(folder: Path, part: int) -> int:
    mark = folder / f"{part}"
    if part % 4 == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part


def dies(part: int) -> int:
    if part == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return part


def greedy(part: int) -> int:
    return int(np.ones(part * 2**20, np.int8).sum())
