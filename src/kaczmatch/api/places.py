"""A bound on what is done at once: more than that are told to come back, instead of waiting ever longer."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, final

from starlette.concurrency import run_in_threadpool

from kaczmatch.api.problems import Busy

P = ParamSpec("P")
T = TypeVar("T")


@final
class Places:
    """Lives on one event loop, so counting needs no lock."""

    def __init__(self, most: int) -> None:
        self._free = most

    async def run(self, act: Callable[P, T], *values: P.args, **named: P.kwargs) -> T:
        """In a thread, if there is a place."""
        if self._free <= 0:
            raise Busy
        self._free -= 1
        try:
            return await run_in_threadpool(act, *values, **named)
        finally:
            self._free += 1
