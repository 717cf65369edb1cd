"""The two clients: the same calls, made in two ways."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import wraps
from inspect import Signature, signature
from types import TracebackType
from typing import Any, Generic, ParamSpec, Self, TypeVar, final

import httpx

from kaczmatch.client import service_calls, user_calls
from kaczmatch.client.call import Call
from kaczmatch.client.errors import ApiError
from kaczmatch.client.retries import RetryPolicy, error_in, final_error

P = ParamSpec("P")
T = TypeVar("T")


def _signature(make: Callable[..., Call[Any]], returned: str) -> Signature:
    """That of the method: a call of Deck returns a Deck."""
    described = signature(make)
    answer = str(described.return_annotation).removeprefix("Call[").removesuffix("]")
    return described.replace(return_annotation=returned.format(answer))


@final
class _SyncMethod(Generic[P, T]):
    """A call as a method that waits for the response."""

    def __init__(self, make: Callable[P, Call[T]]) -> None:
        self._make = make
        self._signature = _signature(make, "{}")

    def __get__(self, client: Client, owner: type) -> Callable[P, T]:
        @wraps(self._make)
        def method(*values: P.args, **named: P.kwargs) -> T:
            return client.send(self._make(*values, **named))

        method.__signature__ = self._signature  # type: ignore[attr-defined]  # what help() says
        return method


@final
class _AsyncMethod(Generic[P, T]):
    """A call as a method to await."""

    def __init__(self, make: Callable[P, Call[T]]) -> None:
        self._make = make
        self._signature = _signature(make, "Awaitable[{}]")

    def __get__(self, client: AsyncClient, owner: type) -> Callable[P, Awaitable[T]]:
        @wraps(self._make)
        def method(*values: P.args, **named: P.kwargs) -> Awaitable[T]:
            return client.send(self._make(*values, **named))

        method.__signature__ = self._signature  # type: ignore[attr-defined]
        return method


def _options(url: str, key: str, timeout: float) -> dict[str, Any]:
    return {"base_url": f"{url.rstrip('/')}/v1", "headers": {"Authorization": f"Bearer {key}"}, "timeout": timeout}


@final
class Client:
    """Calls a service. `key` is a service key or a user token. Close it, or use it in a `with` statement."""

    def __init__(self, url: str, key: str, *, timeout: float = 30.0, retries: RetryPolicy | None = None, **options: Any) -> None:
        self._http = httpx.Client(**_options(url, key, timeout), **options)
        self._retries = retries or RetryPolicy()

    def send(self, call: Call[T]) -> T:
        """Make a call, and try it again by the policy."""
        attempt = 0
        while True:
            attempt += 1
            error: ApiError | httpx.TransportError | None
            try:
                response = self._http.send(call.request(self._http))
                error = error_in(response)
            except httpx.TransportError as failure:
                error = failure
            if error is None:
                return call.read(response)
            pause = self._retries.pause(attempt, error, repeatable=call.repeatable)
            if pause is None:
                raise final_error(error)
            time.sleep(pause)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    put_profile = _SyncMethod(user_calls.put_profile)
    get_profile = _SyncMethod(user_calls.get_profile)
    pause_profile = _SyncMethod(user_calls.pause_profile)
    resume_profile = _SyncMethod(user_calls.resume_profile)
    erase_person = _SyncMethod(user_calls.erase_person)
    get_erasure = _SyncMethod(user_calls.get_erasure)
    export_personal_data = _SyncMethod(user_calls.export_personal_data)
    create_deck = _SyncMethod(user_calls.create_deck)
    list_picks = _SyncMethod(user_calls.list_picks)
    rank_candidates = _SyncMethod(user_calls.rank_candidates)
    record_swipe = _SyncMethod(user_calls.record_swipe)
    undo_swipe = _SyncMethod(user_calls.undo_swipe)
    end_session = _SyncMethod(user_calls.end_session)
    list_matches = _SyncMethod(user_calls.list_matches)
    end_match = _SyncMethod(user_calls.end_match)
    record_outcome = _SyncMethod(user_calls.record_outcome)
    list_blocks = _SyncMethod(user_calls.list_blocks)
    block_person = _SyncMethod(user_calls.block_person)
    unblock_person = _SyncMethod(user_calls.unblock_person)
    create_report = _SyncMethod(user_calls.create_report)
    list_likes = _SyncMethod(user_calls.list_likes)
    list_admirers = _SyncMethod(user_calls.list_admirers)
    list_events = _SyncMethod(user_calls.list_events)
    get_preference = _SyncMethod(user_calls.get_preference)
    get_preference_history = _SyncMethod(user_calls.get_preference_history)
    reset_preference = _SyncMethod(user_calls.reset_preference)
    explain_candidate = _SyncMethod(user_calls.explain_candidate)
    create_token = _SyncMethod(service_calls.create_token)
    get_vocabulary = _SyncMethod(service_calls.get_vocabulary)
    change_vocabulary = _SyncMethod(service_calls.change_vocabulary)
    list_people = _SyncMethod(service_calls.list_people)
    create_decks = _SyncMethod(service_calls.create_decks)
    list_messages = _SyncMethod(service_calls.list_messages)
    acknowledge_messages = _SyncMethod(service_calls.acknowledge_messages)
    import_profiles = _SyncMethod(service_calls.import_profiles)
    import_swipes = _SyncMethod(service_calls.import_swipes)
    export_profiles = _SyncMethod(service_calls.export_profiles)
    export_swipes = _SyncMethod(service_calls.export_swipes)
    list_reports = _SyncMethod(service_calls.list_reports)
    close_report = _SyncMethod(service_calls.close_report)
    get_timeline = _SyncMethod(service_calls.get_timeline)
    hold_person = _SyncMethod(service_calls.hold_person)
    release_person = _SyncMethod(service_calls.release_person)
    get_overview = _SyncMethod(service_calls.get_overview)
    get_group = _SyncMethod(service_calls.get_group)
    get_service_health = _SyncMethod(service_calls.get_service_health)
    find_people = _SyncMethod(service_calls.find_people)
    remove_block = _SyncMethod(service_calls.remove_block)
    reopen_report = _SyncMethod(service_calls.reopen_report)
    get_experiment = _SyncMethod(service_calls.get_experiment)
    get_metrics = _SyncMethod(service_calls.get_metrics)
    get_liveness = _SyncMethod(service_calls.get_liveness)
    get_readiness = _SyncMethod(service_calls.get_readiness)


@final
class AsyncClient:
    """The same to await. Close it, or use it in an `async with` statement."""

    def __init__(self, url: str, key: str, *, timeout: float = 30.0, retries: RetryPolicy | None = None, **options: Any) -> None:
        self._http = httpx.AsyncClient(**_options(url, key, timeout), **options)
        self._retries = retries or RetryPolicy()

    async def send(self, call: Call[T]) -> T:
        """Make a call, and try it again by the policy."""
        attempt = 0
        while True:
            attempt += 1
            error: ApiError | httpx.TransportError | None
            try:
                response = await self._http.send(call.request(self._http))
                error = error_in(response)
            except httpx.TransportError as failure:
                error = failure
            if error is None:
                return call.read(response)
            pause = self._retries.pause(attempt, error, repeatable=call.repeatable)
            if pause is None:
                raise final_error(error)
            await asyncio.sleep(pause)

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    put_profile = _AsyncMethod(user_calls.put_profile)
    get_profile = _AsyncMethod(user_calls.get_profile)
    pause_profile = _AsyncMethod(user_calls.pause_profile)
    resume_profile = _AsyncMethod(user_calls.resume_profile)
    erase_person = _AsyncMethod(user_calls.erase_person)
    get_erasure = _AsyncMethod(user_calls.get_erasure)
    export_personal_data = _AsyncMethod(user_calls.export_personal_data)
    create_deck = _AsyncMethod(user_calls.create_deck)
    list_picks = _AsyncMethod(user_calls.list_picks)
    rank_candidates = _AsyncMethod(user_calls.rank_candidates)
    record_swipe = _AsyncMethod(user_calls.record_swipe)
    undo_swipe = _AsyncMethod(user_calls.undo_swipe)
    end_session = _AsyncMethod(user_calls.end_session)
    list_matches = _AsyncMethod(user_calls.list_matches)
    end_match = _AsyncMethod(user_calls.end_match)
    record_outcome = _AsyncMethod(user_calls.record_outcome)
    list_blocks = _AsyncMethod(user_calls.list_blocks)
    block_person = _AsyncMethod(user_calls.block_person)
    unblock_person = _AsyncMethod(user_calls.unblock_person)
    create_report = _AsyncMethod(user_calls.create_report)
    list_likes = _AsyncMethod(user_calls.list_likes)
    list_admirers = _AsyncMethod(user_calls.list_admirers)
    list_events = _AsyncMethod(user_calls.list_events)
    get_preference = _AsyncMethod(user_calls.get_preference)
    get_preference_history = _AsyncMethod(user_calls.get_preference_history)
    reset_preference = _AsyncMethod(user_calls.reset_preference)
    explain_candidate = _AsyncMethod(user_calls.explain_candidate)
    create_token = _AsyncMethod(service_calls.create_token)
    get_vocabulary = _AsyncMethod(service_calls.get_vocabulary)
    change_vocabulary = _AsyncMethod(service_calls.change_vocabulary)
    list_people = _AsyncMethod(service_calls.list_people)
    create_decks = _AsyncMethod(service_calls.create_decks)
    list_messages = _AsyncMethod(service_calls.list_messages)
    acknowledge_messages = _AsyncMethod(service_calls.acknowledge_messages)
    import_profiles = _AsyncMethod(service_calls.import_profiles)
    import_swipes = _AsyncMethod(service_calls.import_swipes)
    export_profiles = _AsyncMethod(service_calls.export_profiles)
    export_swipes = _AsyncMethod(service_calls.export_swipes)
    list_reports = _AsyncMethod(service_calls.list_reports)
    close_report = _AsyncMethod(service_calls.close_report)
    get_timeline = _AsyncMethod(service_calls.get_timeline)
    hold_person = _AsyncMethod(service_calls.hold_person)
    release_person = _AsyncMethod(service_calls.release_person)
    get_overview = _AsyncMethod(service_calls.get_overview)
    get_group = _AsyncMethod(service_calls.get_group)
    get_service_health = _AsyncMethod(service_calls.get_service_health)
    find_people = _AsyncMethod(service_calls.find_people)
    remove_block = _AsyncMethod(service_calls.remove_block)
    reopen_report = _AsyncMethod(service_calls.reopen_report)
    get_experiment = _AsyncMethod(service_calls.get_experiment)
    get_metrics = _AsyncMethod(service_calls.get_metrics)
    get_liveness = _AsyncMethod(service_calls.get_liveness)
    get_readiness = _AsyncMethod(service_calls.get_readiness)
