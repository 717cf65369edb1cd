"""A limit on what is done at once. Requests beyond it are refused, instead of waiting ever longer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final, ParamSpec, TypeVar, final

from fastapi import Request

from kaczmatch.api.problems import Busy
from kaczmatch.api.store_futures import result_of, result_once_written

DECK_THREADS: Final = 2  # decks are mostly Python, so more threads would only wait for each other
ANSWERS: Final = 16  # exports and histories of a user's whole log
ANSWER_THREADS: Final = 1  # decks do not wait for many of them
REPORTS: Final = 16  # figures about many people, for operators
REPORT_THREADS: Final = 1  # one that is being made keeps no other thread busy
TRANSFER_THREADS: Final = 2  # imports and exports take long; other requests do not wait for them

P = ParamSpec("P")
T = TypeVar("T")


@final
class ConcurrencyLimit:
    """Admits `admitted` calls at once, of which `threads` run side by side and the others wait.

    It lives on one event loop, so counting needs no lock.
    """

    def __init__(self, admitted: int, threads: int) -> None:
        self._free = admitted
        self._threads = ThreadPoolExecutor(threads, "kaczmatch requests")

    @contextmanager
    def admitted(self) -> Iterator[None]:
        """Counts as one call until the context is left, or raises `Busy`."""
        if self._free <= 0:
            raise Busy
        self._free -= 1
        try:
            yield
        finally:
            self._free += 1

    async def run(self, function: Callable[P, T], *values: P.args, **named: P.kwargs) -> T:
        """Call a function in a thread, or raise `Busy`."""
        with self.admitted():
            return await self.in_thread(function, *values, **named)

    async def in_thread(self, function: Callable[P, T], *values: P.args, **named: P.kwargs) -> T:
        """Call a function in a thread, for a call that is admitted already."""
        return await result_of(self._threads.submit(function, *values, **named))

    async def in_thread_and_written(
        self, function: Callable[P, tuple[T, Future[Any] | None]], *values: P.args, **named: P.kwargs
    ) -> T:
        """The same for a function that also returns a write of the store, if it has begun one: no thread waits for it."""
        return await result_once_written(self._threads.submit(function, *values, **named))


def answer_limit(request: Request) -> ConcurrencyLimit:
    """For what reads much. The threads that authenticate callers stay free."""
    limit: ConcurrencyLimit = request.app.state.answer_limit
    return limit
