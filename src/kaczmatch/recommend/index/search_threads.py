"""Helper threads for a search. The caller works too and never waits for a helper that has not started.

Helpers are used only where cores are idle: a helper that starts and then loses its core to other work would delay a search that
could be done without it.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, Generic, TypeVar, final

from kaczmatch.runner.cores import ALL_CORES, run_on

T = TypeVar("T")

CORES = os.cpu_count() or 1


@final
class _SearchJob(Generic[T]):
    """Work for one helper, which can be cancelled before it starts."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._taken, self._done = threading.Lock(), threading.Lock()
        self._done.acquire()
        self._result: list[T] = []
        self._problem: BaseException | None = None

    def run(self) -> None:
        if not self._taken.acquire(blocking=False):
            return
        try:
            self._result.append(self._work())
        except BaseException as problem:
            self._problem = problem
        finally:
            self._done.release()

    def cancel(self) -> bool:
        return self._taken.acquire(blocking=False)

    def result(self) -> list[T]:
        self._done.acquire()
        if self._problem is not None:
            raise self._problem
        return self._result


def run_shared(work: Callable[[], T], helpers: int) -> list[T]:
    """What `work` returns to this thread and to each helper that was free; `work` must divide itself among its callers."""
    jobs = [_SearchJob(work) for _ in range(min(helpers, idle_cores()))] if helpers > 0 else []
    for job in jobs:
        _jobs().put(job)
    try:
        results = [work()]
    finally:
        begun = [job for job in jobs if not job.cancel()]
        helped = [job.result() for job in begun]
    return [*results, *(result for part in helped for result in part)]


def idle_cores() -> int:
    """The number of idle cores besides this thread's; all, where the system does not say."""
    file = _load_file()
    if file < 0:
        return CORES - 1
    running = int(os.pread(file, 64, 0).split()[3].partition(b"/")[0])  # "0.61 0.70 0.74 2/113 4711": 2 of 113 run
    return min(max(CORES - running, 0), CORES - 1)


@cache
def _load_file() -> int:
    try:
        return os.open("/proc/loadavg", os.O_RDONLY)
    except OSError:
        return -1


@cache
def _jobs() -> queue.SimpleQueue[_SearchJob[Any]]:
    """The queue of the helpers, one per other core."""
    jobs: queue.SimpleQueue[_SearchJob[Any]] = queue.SimpleQueue()

    def help_out() -> None:
        run_on(ALL_CORES)
        while True:
            jobs.get().run()

    for number in range(CORES - 1):
        threading.Thread(target=help_out, name=f"kaczmatch-index-{number}", daemon=True).start()
    return jobs


os.register_at_fork(after_in_child=_jobs.cache_clear)  # threads do not survive a fork
