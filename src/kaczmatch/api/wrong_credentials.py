"""Whoever sends wrong keys is answered ever more slowly. A right key or token is never held back, wherever it comes from."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, final

from kaczmatch.api.problems import TooManyWrong

_MOST_ADDRESSES: Final = 10_000
_MOST_HELD: Final = 100  # answers that wait at the same time, of all addresses
_LONGEST_SECONDS: Final = 5.0  # that an answer waits


@final
@dataclass(slots=True)
class WrongCredentials:
    """Counts wrong credentials per address: `most` in a minute are free, and then each waits for its turn.

    Per address, `_paid_until` is when the address has paid for all that it has sent, at the pace that is free.
    """

    most: int | None  # None: no limit
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _paid_until: OrderedDict[str, float] = field(default_factory=OrderedDict, init=False)
    _held: int = field(default=0, init=False)

    async def hold_back(self, address: str) -> None:
        """Called when a credential was wrong. Returns when it may be answered; raises where too many wait already."""
        if self.most is None:
            return
        now, pace = self.clock(), 60.0 / self.most
        paid = max(self._paid_until.pop(address, now), now)
        wait = paid + pace - now - 60.0
        if wait > _LONGEST_SECONDS or (wait > 0.0 and self._held >= _MOST_HELD):
            self._paid_until[address] = paid
            raise TooManyWrong(math.ceil(wait))
        self._paid_until[address] = paid + pace
        if len(self._paid_until) > _MOST_ADDRESSES:
            self._paid_until.popitem(last=False)
        if wait > 0.0:
            self._held += 1
            try:
                await self.sleep(wait)
            finally:
                self._held -= 1
