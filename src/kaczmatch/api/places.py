"""A bound on what is done at once: more than that are told to come back, instead of waiting ever longer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar, final

import anyio.to_thread
from anyio import CapacityLimiter

from kaczmatch.api.problems import Busy

P = ParamSpec("P")
T = TypeVar("T")


@final
class Places:
    """Lives on one event loop, so counting needs no lock. At most `together` of them run side by side, the others wait."""

    def __init__(self, most: int, together: int) -> None:
        self._free = most
        self._turns = CapacityLimiter(together)

    async def run(self, act: Callable[P, T], *values: P.args, **named: P.kwargs) -> T:
        """In a thread, if there is a place."""
        if self._free <= 0:
            raise Busy
        self._free -= 1
        try:
            return await anyio.to_thread.run_sync(partial(act, *values, **named), limiter=self._turns)
        finally:
            self._free += 1
