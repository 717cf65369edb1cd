"""Parts on the threads of this process: for functions that let go of Python's lock, as compiled kernels do."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar, final

P = TypeVar("P")
R = TypeVar("R")
T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class LocalRunner:
    """As many threads as there are cores, or `workers`. At most one result per worker waits to be combined."""

    workers: int = field(default_factory=lambda: os.cpu_count() or 1)

    def fold(self, function: Callable[[P], R], parts: Iterable[P], combine: Callable[[T, R], T], start: T) -> T:
        pool, waiting, result = ThreadPoolExecutor(self.workers), deque[Future[R]](), start
        try:
            for part in parts:
                if len(waiting) == self.workers:
                    result = combine(result, waiting.popleft().result())
                waiting.append(pool.submit(function, part))
            while waiting:
                result = combine(result, waiting.popleft().result())
        finally:  # on Ctrl-C nobody waits for parts that are still at work
            pool.shutdown(wait=False, cancel_futures=True)
        return result
