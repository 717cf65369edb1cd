"""Waiting for the store without a thread."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


async def result_of(future: Future[T]) -> T:
    """The result of a future of the store.

    `asyncio.wrap_future` would cancel the future when the client goes away, but a write that has begun is finished. This
    also costs a third less.
    """
    loop = asyncio.get_running_loop()
    waiter = loop.create_future()
    future.add_done_callback(lambda _: loop.call_soon_threadsafe(_wake, waiter))
    await waiter
    return future.result()


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():  # the request may have been cancelled
        waiter.set_result(None)
