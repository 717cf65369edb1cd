"""On which cores a thread may run. Only Linux lets a process say so."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from contextlib import suppress
from typing import Final

# As this process was started. A thread or process inherits the cores of the thread that starts it.
ALL_CORES: Final = frozenset(os.sched_getaffinity(0) if sys.platform == "linux" else ())


def run_on(cores: Collection[int], thread: int = 0) -> None:
    """Let a thread run on these cores alone. It is named by the system's number; 0 is the caller.

    Whatever computes for long runs on `ALL_CORES`, whoever starts it: requests may be kept on one (`app/request_core.py`).
    """
    if sys.platform == "linux" and cores:
        with suppress(OSError):  # the thread has ended, or the machine has taken a core away: then it runs where it can
            os.sched_setaffinity(thread, cores)
