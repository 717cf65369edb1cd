"""Waiting for the store without a thread."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


async def done(future: Future[T]) -> T:
    """What a future of the store comes to. `asyncio.wrap_future` would also cancel it when the client goes away: a write that is
    under way is finished, and that costs a third less."""
    loop = asyncio.get_running_loop()
    waiter = loop.create_future()
    future.add_done_callback(lambda _: loop.call_soon_threadsafe(_wake, waiter))
    await waiter
    return future.result()


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():  # whoever waited may have gone
        waiter.set_result(None)
