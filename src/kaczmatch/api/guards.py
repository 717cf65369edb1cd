"""Who asks, and whether they may: dependencies of the routes."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta
from typing import Annotated, Any, final

from fastapi import Depends, Path, Request
from starlette.concurrency import run_in_threadpool

from kaczmatch.api.parts import Parts, parts
from kaczmatch.api.problems import Forbidden
from kaczmatch.service.access.credentials import APP, OPERATOR, Caller, Credentials, Unauthenticated
from kaczmatch.service.domain.refusals import nobody

_REMEMBERED = 10_000
_KNOWN_FOR = timedelta(seconds=1)  # on top of the second that `Access` remembers a key for
_LOOPBACK = ("127.", "::1", "::ffff:127.")

ID = r"^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,63}$"
Somebody = Annotated[str, Path(pattern=ID, description="Who it is about.")]


@final
class Doorman:
    """Remembers callers for a moment, so that a swipe need not ask the store who sends it."""

    def __init__(self, access: Credentials) -> None:
        self._access = access
        self._known: dict[str, tuple[Caller, datetime]] = {}

    async def caller(self, credential: str) -> Caller:
        now = self._access.context.clock()
        known = self._known.get(credential)
        if known is not None and known[1] <= now < known[1] + _KNOWN_FOR:  # a clock that was set back ends it, too
            return known[0]
        caller = await run_in_threadpool(self._access.caller, credential)
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known[credential] = caller, now
        return caller


async def caller(request: Request) -> Caller:
    """Whoever holds the credential of a request."""
    header = request.headers.get("authorization", "")
    scheme, _, credential = header.partition(" ")
    if scheme.lower() != "bearer" or not credential.strip() or len(credential) > 4_096:
        raise Unauthenticated("a key or token is needed: Authorization: Bearer …")
    doorman: Doorman = request.app.state.doorman
    found = await doorman.caller(credential.strip())
    if found.key in parts(request).loopback_keys and not is_local(request):
        raise Unauthenticated("this key works on the machine of the service only")
    return found


def is_local(request: Request) -> bool:
    """Whether a request comes straight from this machine, not through a proxy on it."""
    host = request.client.host if request.client is not None else ""
    forwarded = "forwarded" in request.headers or "x-forwarded-for" in request.headers
    return host.startswith(_LOOPBACK) and not forwarded


async def acting(request: Request, user: Somebody) -> str:
    """The user of the path, for themselves or for an app; to any other user there is no such person."""
    return _allowed(await caller(request), user)


async def acting_or_operating(request: Request, user: Somebody) -> str:
    """The same, and an operator too."""
    found = await caller(request)
    return user if OPERATOR in found.scopes else _allowed(found, user)


def _allowed(found: Caller, user: str) -> str:
    if found.may_act_for(user):
        return user
    if found.user is None:
        raise Forbidden(f"this needs a key with the scope {APP!r}")
    raise nobody(user)


def scoped(*scopes: str) -> Callable[[Request], Coroutine[Any, Any, Caller]]:
    """A back end with one of these scopes."""

    async def check(request: Request) -> Caller:
        found = await caller(request)
        if not found.scopes.intersection(scopes):
            raise Forbidden(f"this needs a key with the scope {' or '.join(map(repr, scopes))}")
        return found

    return check


User = Annotated[str, Depends(acting)]
UserOrOperator = Annotated[str, Depends(acting_or_operating)]
Asker = Annotated[Caller, Depends(caller)]
Use = Annotated[Parts, Depends(parts)]
