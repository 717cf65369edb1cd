"""Keeps the threads that answer requests together on one core, the one that others use least.

Only one of them holds the interpreter's lock at a time, and it is passed on dozens of times per deck. Between cores, each time
costs more than what is done with it. Kernels of the index let go of the lock and still use all cores, and so does whatever runs
beside requests.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, final

import numpy as np

from kaczmatch.runner.cores import ALL_CORES, run_on

LOOK_SECONDS: Final = 1.0
MARGIN: Final = 0.25  # of a core that another one must have free beyond this one
_NAMES: Final = ("kaczmatch requests", "kaczmatch group commit", "AnyIO worker thread")
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_COUNTED: Final = (0, 2, 5, 6, 7)  # of a line of /proc/stat: user, system, interrupts, stolen; the niced make way for others


@final
class RequestCore:
    """`look` once per second: it moves the threads where another core has become the better one. `loop` is that of events."""

    def __init__(self, loop: threading.Thread, rng: np.random.Generator, proc: Path = Path("/proc")) -> None:
        self._loop, self._rng, self._proc = loop, rng, proc
        self._core: int | None = None
        self._before: tuple[float, Mapping[int, float], float] | None = None
        self.look()  # the next one has something to compare with

    def look(self) -> None:
        if len(ALL_CORES) < 2:
            return
        threads = self._threads()
        now, used, own = time.monotonic(), _core_seconds(self._proc), sum(_seconds(self._proc, one) for one in threads)
        before, self._before = self._before, (now, used, own)
        if before is not None:
            passed = max(now - before[0], 1e-9)
            others = {core: (used[core] - before[1][core]) / passed for core in ALL_CORES & used.keys() & before[1].keys()}
            if self._core in others:
                others[self._core] -= (own - before[2]) / passed
            self._core = better_core(others, self._core, self._rng)
        if self._core is not None:
            for thread in threads:
                run_on({self._core}, thread.native_id or 0)

    def release(self) -> None:
        """Let them run anywhere again: the service ends, and its process may go on."""
        for thread in self._threads():
            run_on(ALL_CORES, thread.native_id or 0)

    def _threads(self) -> list[threading.Thread]:
        return [one for one in threading.enumerate() if one is self._loop or one.name.startswith(_NAMES)]


def better_core(others: Mapping[int, float], core: int | None, rng: np.random.Generator) -> int | None:
    """Where to run, given how much of each core others use.

    Two processes that meet on a core would both leave it for the same one, so each stays where it is half of the time.
    """
    if not others:
        return core
    best = min(others, key=lambda one: (others[one], one))
    if core is None or core not in others:
        return best
    return best if others[core] - others[best] > MARGIN and rng.random() < 0.5 else core


def _seconds(proc: Path, thread: threading.Thread) -> float:
    """The processor time of a thread; 0 where it has just ended."""
    try:
        fields = (proc / "self" / "task" / str(thread.native_id) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _core_seconds(proc: Path) -> dict[int, float]:
    """How long each core has worked."""
    found = {}
    for line in (proc / "stat").read_text().splitlines():
        name, *ticks = line.split()
        if name.startswith("cpu") and name != "cpu":
            found[int(name[3:])] = sum(int(ticks[place]) for place in _COUNTED) / _TICKS
    return found
