"""Parts on processes of this machine: for functions that are mostly Python.

The function is pickled once per process, parts and results each time.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar, final

from kaczmatch.runner.contract import Runner, in_order
from kaczmatch.runner.cores import ALL_CORES, run_on
from kaczmatch.runner.memory import limited, parts_at_once

P = TypeVar("P")
R = TypeVar("R")

TRIES: Final = 3  # of a part whose process dies

_tasks: list[tuple[Callable[[Any], Any], int]] = []  # the one of this process, where it is a worker


@final
@dataclass(frozen=True, slots=True)
class ProcessRunner(Runner):
    """As many processes as there are cores, or `workers`. They start afresh, because threads do not survive a fork."""

    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    idle: bool = False  # only when nobody else on the machine has anything to do

    def results(self, function: Callable[[P], R], parts: Iterable[P], *, memory: int = 0) -> Generator[R]:
        at_once = parts_at_once(self.workers, memory)
        pool = _Pool(at_once, function, memory, idle=self.idle)
        try:
            yield from in_order(pool.begin, parts, 2 * at_once)
            pool.executor.shutdown()  # when it is over, nobody has files open any more
        except BaseException:
            pool.kill()
            raise


@final
class _Pool(Generic[P, R]):
    """Processes, and new ones when one of them has died: that breaks the whole pool."""

    def __init__(self, workers: int, function: Callable[[P], R], memory: int, *, idle: bool) -> None:
        self.workers, self.function, self.memory, self.idle = workers, function, memory, idle
        self.executor = self._started()

    def _started(self) -> ProcessPoolExecutor:
        fresh = multiprocessing.get_context("spawn")
        given = (self.function, self.memory, self.idle, ALL_CORES)
        return ProcessPoolExecutor(self.workers, mp_context=fresh, initializer=_begin, initargs=given)

    def _submit(self, part: P) -> tuple[ProcessPoolExecutor, Future[R]]:
        with _without_interrupts():  # which a process that starts here inherits, until it ends silently
            return self.executor, self.executor.submit(_run, part)

    def kill(self) -> None:
        """End all processes, whatever they are doing.

        One that ends while it sends a result leaves half of it. The thread that reads results would wait for the rest as long as
        anybody could send it, which this process could.
        """
        executor = self.executor
        workers, sending = [*(executor._processes or {}).values()], getattr(executor._result_queue, "_writer", None)
        executor.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.kill()
        if sending is not None:
            sending.close()

    def begin(self, part: P) -> Callable[[], R]:
        try:
            executor, future = self._submit(part)
        except BrokenProcessPool:  # it broke after the last result was taken
            self.executor = self._started()
            executor, future = self._submit(part)

        def result() -> R:
            nonlocal executor, future
            for _ in range(TRIES - 1):
                try:
                    return future.result()
                except BrokenProcessPool:  # parts come here one after the other, so that only the guilty one ends the job
                    if executor is self.executor:
                        self.executor = self._started()
                    executor, future = self._submit(part)
            try:
                return future.result()
            except BrokenProcessPool:
                raise ChildProcessError(died(part, self.memory)) from None

        return result


def _begin(function: Callable[[Any], Any], memory: int, idle: bool, cores: Collection[int]) -> None:
    """What a process does for all parts.

    Ctrl-C reaches all processes of a terminal. Workers end at once, and only the one who asked says anything.
    """
    _tasks[:] = [(function, memory)]
    run_on(cores)
    if idle and sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@contextmanager
def _without_interrupts() -> Iterator[None]:
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def died(part: object, memory: int) -> str:
    limit = f"; it may take {memory / 2**20:,.0f} MiB" if memory else ""
    said = f"a part of {len(part):,}" if isinstance(part, list) else f"part {part!r}"  # lists are of people, whom no error names
    return f"{said} ended the process that worked on it {TRIES} times, perhaps for want of memory{limit}"


def _run(part: Any) -> Any:
    [(function, memory)] = _tasks
    with limited(memory):
        return function(part)
