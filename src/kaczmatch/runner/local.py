"""Parts on the threads of this process: for functions that let go of Python's lock, as compiled kernels do."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar, final

from kaczmatch.runner.contract import Runner, in_order
from kaczmatch.runner.cores import ALL_CORES, run_on
from kaczmatch.runner.memory import parts_at_once

P = TypeVar("P")
R = TypeVar("R")


@final
@dataclass(frozen=True, slots=True)
class LocalRunner(Runner):
    """As many threads as there are cores, or `workers`; where that is one, the caller's. One result per worker waits at most."""

    workers: int = field(default_factory=lambda: os.cpu_count() or 1)

    def results(self, function: Callable[[P], R], parts: Iterable[P], *, memory: int = 0) -> Generator[R]:
        at_once = parts_at_once(self.workers, memory)
        if at_once == 1:
            yield from map(function, parts)
            return
        pool = ThreadPoolExecutor(at_once, initializer=run_on, initargs=(ALL_CORES,))
        try:
            yield from in_order(lambda part: pool.submit(function, part).result, parts, at_once)
        finally:  # on Ctrl-C nobody waits for parts that are still at work
            pool.shutdown(wait=False, cancel_futures=True)
