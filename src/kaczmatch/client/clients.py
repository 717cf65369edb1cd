"""The two clients: one list of calls each, and a way to make them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import wraps
from types import TracebackType
from typing import Any, Generic, ParamSpec, Self, TypeVar, final

import httpx

from kaczmatch.client import service_calls, user_calls
from kaczmatch.client.calling import Call
from kaczmatch.client.problems import Problem
from kaczmatch.client.retrying import Patience, given_up, said

P = ParamSpec("P")
T = TypeVar("T")


@final
class _Now(Generic[P, T]):
    """A call as a method that waits for its answer."""

    def __init__(self, make: Callable[P, Call[T]]) -> None:
        self._make = make

    def __get__(self, client: Client, owner: type) -> Callable[P, T]:
        @wraps(self._make)
        def method(*values: P.args, **named: P.kwargs) -> T:
            return client.do(self._make(*values, **named))

        return method


@final
class _Soon(Generic[P, T]):
    """A call as a method to await."""

    def __init__(self, make: Callable[P, Call[T]]) -> None:
        self._make = make

    def __get__(self, client: AsyncClient, owner: type) -> Callable[P, Awaitable[T]]:
        @wraps(self._make)
        def method(*values: P.args, **named: P.kwargs) -> Awaitable[T]:
            return client.do(self._make(*values, **named))

        return method


def _options(url: str, key: str, timeout: float) -> dict[str, Any]:
    return {"base_url": f"{url.rstrip('/')}/v1", "headers": {"Authorization": f"Bearer {key}"}, "timeout": timeout}


@final
class Client:
    """Talks to a service; `key` is a key of the app's back end or a user's token. To be closed, or used in a `with`."""

    def __init__(self, url: str, key: str, *, timeout: float = 30.0, patience: Patience | None = None, **options: Any) -> None:
        self._http = httpx.Client(**_options(url, key, timeout), **options)
        self._patience = patience or Patience()

    def do(self, call: Call[T]) -> T:
        """Make a call, again where that is of use."""
        attempt = 0
        while True:
            attempt += 1
            error: Problem | httpx.TransportError | None
            try:
                response = self._http.send(call.request(self._http))
                error = said(response)
            except httpx.TransportError as failure:
                error = failure
            if error is None:
                return call.read(response)
            pause = self._patience.pause(attempt, error, repeatable=call.repeatable)
            if pause is None:
                raise given_up(error)
            time.sleep(pause)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    put_profile = _Now(user_calls.put_profile)
    profile = _Now(user_calls.profile)
    pause = _Now(user_calls.pause)
    resume = _Now(user_calls.resume)
    erase = _Now(user_calls.erase)
    personal_data = _Now(user_calls.personal_data)
    deck = _Now(user_calls.deck)
    rank = _Now(user_calls.rank)
    swipe = _Now(user_calls.swipe)
    undo = _Now(user_calls.undo)
    end_session = _Now(user_calls.end_session)
    matches = _Now(user_calls.matches)
    unmatch = _Now(user_calls.unmatch)
    outcome = _Now(user_calls.outcome)
    blocks = _Now(user_calls.blocks)
    block = _Now(user_calls.block)
    unblock = _Now(user_calls.unblock)
    report = _Now(user_calls.report)
    likes = _Now(user_calls.likes)
    history = _Now(user_calls.history)
    preference = _Now(user_calls.preference)
    growth = _Now(user_calls.growth)
    reset = _Now(user_calls.reset)
    why = _Now(user_calls.why)
    token = _Now(service_calls.token)
    vocabulary = _Now(service_calls.vocabulary)
    change_vocabulary = _Now(service_calls.change_vocabulary)
    feed = _Now(service_calls.feed)
    acknowledge = _Now(service_calls.acknowledge)
    import_rows = _Now(service_calls.import_rows)
    export_rows = _Now(service_calls.export_rows)
    open_reports = _Now(service_calls.open_reports)
    close_report = _Now(service_calls.close_report)
    timeline = _Now(service_calls.timeline)
    hold = _Now(service_calls.hold)
    release = _Now(service_calls.release)
    figures = _Now(service_calls.figures)
    experiment = _Now(service_calls.experiment)
    metrics = _Now(service_calls.metrics)
    live = _Now(service_calls.live)
    ready = _Now(service_calls.ready)


@final
class AsyncClient:
    """The same, to await. To be closed, or used in an `async with`."""

    def __init__(self, url: str, key: str, *, timeout: float = 30.0, patience: Patience | None = None, **options: Any) -> None:
        self._http = httpx.AsyncClient(**_options(url, key, timeout), **options)
        self._patience = patience or Patience()

    async def do(self, call: Call[T]) -> T:
        """Make a call, again where that is of use."""
        attempt = 0
        while True:
            attempt += 1
            error: Problem | httpx.TransportError | None
            try:
                response = await self._http.send(call.request(self._http))
                error = said(response)
            except httpx.TransportError as failure:
                error = failure
            if error is None:
                return call.read(response)
            pause = self._patience.pause(attempt, error, repeatable=call.repeatable)
            if pause is None:
                raise given_up(error)
            await asyncio.sleep(pause)

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    put_profile = _Soon(user_calls.put_profile)
    profile = _Soon(user_calls.profile)
    pause = _Soon(user_calls.pause)
    resume = _Soon(user_calls.resume)
    erase = _Soon(user_calls.erase)
    personal_data = _Soon(user_calls.personal_data)
    deck = _Soon(user_calls.deck)
    rank = _Soon(user_calls.rank)
    swipe = _Soon(user_calls.swipe)
    undo = _Soon(user_calls.undo)
    end_session = _Soon(user_calls.end_session)
    matches = _Soon(user_calls.matches)
    unmatch = _Soon(user_calls.unmatch)
    outcome = _Soon(user_calls.outcome)
    blocks = _Soon(user_calls.blocks)
    block = _Soon(user_calls.block)
    unblock = _Soon(user_calls.unblock)
    report = _Soon(user_calls.report)
    likes = _Soon(user_calls.likes)
    history = _Soon(user_calls.history)
    preference = _Soon(user_calls.preference)
    growth = _Soon(user_calls.growth)
    reset = _Soon(user_calls.reset)
    why = _Soon(user_calls.why)
    token = _Soon(service_calls.token)
    vocabulary = _Soon(service_calls.vocabulary)
    change_vocabulary = _Soon(service_calls.change_vocabulary)
    feed = _Soon(service_calls.feed)
    acknowledge = _Soon(service_calls.acknowledge)
    import_rows = _Soon(service_calls.import_rows)
    export_rows = _Soon(service_calls.export_rows)
    open_reports = _Soon(service_calls.open_reports)
    close_report = _Soon(service_calls.close_report)
    timeline = _Soon(service_calls.timeline)
    hold = _Soon(service_calls.hold)
    release = _Soon(service_calls.release)
    figures = _Soon(service_calls.figures)
    experiment = _Soon(service_calls.experiment)
    metrics = _Soon(service_calls.metrics)
    live = _Soon(service_calls.live)
    ready = _Soon(service_calls.ready)
