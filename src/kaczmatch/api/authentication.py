"""Who asks, and whether they may: dependencies of the routes."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, final

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Path, Request

from kaczmatch.api.address_shares import client_address
from kaczmatch.api.dependencies import process_state, use_cases
from kaczmatch.api.problems import Forbidden
from kaczmatch.api.wrong_credentials import WrongCredentials
from kaczmatch.schemas.base import ID_PATTERN
from kaczmatch.service.access.credentials import APP, OPERATOR, Caller, Credentials, Unauthenticated
from kaczmatch.service.domain.refusals import nobody
from kaczmatch.service.use_cases import UseCases

AUTHENTICATION_THREADS: Final = 2  # nothing else can fill them

_MOST_CACHED = 10_000
_CACHED_FOR = timedelta(seconds=1)  # in addition to the second for which `Credentials` caches a key
_LOOPBACK = ("127.", "::1", "::ffff:127.")

UserPath = Annotated[str, Path(pattern=ID_PATTERN, description="The user that the request is about.")]


@final
class CallerCache:
    """Caches callers for a moment, so that a swipe does not ask the store who sends it."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._cached: dict[str, tuple[Caller, datetime]] = {}
        self._threads = CapacityLimiter(AUTHENTICATION_THREADS)

    async def caller(self, credential: str) -> Caller:
        now = self._credentials.context.clock()
        cached = self._cached.get(credential)
        if cached is not None and cached[1] <= now < cached[1] + _CACHED_FOR:  # a clock that was set back ends it, too
            return cached[0]
        caller = await to_thread.run_sync(self._credentials.caller, credential, limiter=self._threads)
        if len(self._cached) >= _MOST_CACHED:
            self._cached.clear()
        self._cached[credential] = caller, now
        return caller


async def authenticate(request: Request) -> Caller:
    """The holder of the credential in a request."""
    header = request.headers.get("authorization", "")
    scheme, _, credential = header.partition(" ")
    if scheme.lower() != "bearer" or not credential.strip() or len(credential) > 4_096:
        raise Unauthenticated("a key or token is needed: Authorization: Bearer …")
    cache: CallerCache = request.app.state.callers
    try:
        caller = await cache.caller(credential.strip())
    except Unauthenticated:
        await wrong_credentials(request).hold_back(client_address(request.scope))
        raise
    if caller.key in (await process_state(request)).loopback_keys and not is_local(request):
        raise Unauthenticated("this key works on the machine of the service only")
    return caller


def wrong_credentials(request: Request) -> WrongCredentials:
    found: WrongCredentials = request.app.state.wrong_credentials
    return found


def is_local(request: Request) -> bool:
    """Whether a request comes straight from this machine, not through a proxy on it."""
    host = request.client.host if request.client is not None else ""
    forwarded = "forwarded" in request.headers or "x-forwarded-for" in request.headers
    return host.startswith(_LOOPBACK) and not forwarded


async def acting_user(request: Request, user: UserPath) -> str:
    """The user in the path, if the caller is that user or an app. For any other user there is no such person."""
    return allowed_user(await authenticate(request), user)


async def acting_user_or_operator(request: Request, user: UserPath) -> str:
    """The same, and operators may too."""
    caller = await authenticate(request)
    return user if OPERATOR in caller.scopes else allowed_user(caller, user)


def allowed_user(caller: Caller, user: str) -> str:
    """The user, if the caller may act for them."""
    if caller.may_act_for(user):
        return user
    if caller.user is None:
        raise Forbidden(f"this needs a key with the scope {APP!r}")
    raise nobody(user)


def scoped(*scopes: str) -> Callable[[Request], Coroutine[Any, Any, Caller]]:
    """A back end with one of these scopes."""

    async def check(request: Request) -> Caller:
        caller = await authenticate(request)
        if not caller.scopes.intersection(scopes):
            raise Forbidden(f"this needs a key with the scope {' or '.join(map(repr, scopes))}")
        return caller

    return check


ActingUser = Annotated[str, Depends(acting_user)]
ActingUserOrOperator = Annotated[str, Depends(acting_user_or_operator)]
AnyCaller = Annotated[Caller, Depends(authenticate)]
Cases = Annotated[UseCases, Depends(use_cases)]
