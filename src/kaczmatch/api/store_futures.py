"""Waiting for the store without a thread."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Any, TypeVar

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


async def result_once_written(begun: Future[tuple[T, Future[Any] | None]]) -> T:
    """What a thread returns, once a write that it may have begun is done. The loop is not woken in between."""
    loop = asyncio.get_running_loop()
    waiter = loop.create_future()

    def wake(_: Future[Any]) -> None:
        loop.call_soon_threadsafe(_wake, waiter)

    def wait_for_write(returned: Future[tuple[T, Future[Any] | None]]) -> None:
        written = None if returned.exception() is not None else returned.result()[1]
        if written is None:
            wake(returned)
        else:
            written.add_done_callback(wake)

    begun.add_done_callback(wait_for_write)
    await waiter
    return begun.result()[0]


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():  # the request may have been cancelled
        waiter.set_result(None)
