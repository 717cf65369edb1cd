"""Parts on the threads of this process: for functions that let go of Python's lock, as compiled kernels do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar, final

from kaczmatch.runner.contract import fold_in_order
from kaczmatch.runner.memory import parts_at_once

P = TypeVar("P")
R = TypeVar("R")
T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class LocalRunner:
    """As many threads as there are cores, or `workers`; where that is one, the caller's. One result per worker waits at most."""

    workers: int = field(default_factory=lambda: os.cpu_count() or 1)

    def fold(
        self, function: Callable[[P], R], parts: Iterable[P], combine: Callable[[T, R], T], start: T, *, memory: int = 0
    ) -> T:
        at_once = parts_at_once(self.workers, memory)
        if at_once == 1:
            return fold_in_order(lambda part: partial(function, part), parts, combine, start, 1)
        pool = ThreadPoolExecutor(at_once)
        try:
            return fold_in_order(lambda part: pool.submit(function, part).result, parts, combine, start, at_once)
        finally:  # on Ctrl-C nobody waits for parts that are still at work
            pool.shutdown(wait=False, cancel_futures=True)
