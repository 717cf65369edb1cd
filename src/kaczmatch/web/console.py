"""The operators' console: a login with a service key, a session in a cookie, and a page that calls the API as any client does.

The cookie only opens the page and gets it short-lived tokens. The API never reads cookies, so no other site can make a browser
act for an operator.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar, TypeVarTuple, Unpack, final
from urllib.parse import parse_qs

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, HTTPException, Request, Response

from kaczmatch.formats.columns import time_text
from kaczmatch.service.access.console_sessions import LIFE, ConsoleSessions
from kaczmatch.service.access.credentials import Caller, Unauthenticated
from kaczmatch.web.pages import STRICT, Site, SitePage, headers_of

T = TypeVar("T")
Values = TypeVarTuple("Values")

_FORMS: Final = {**STRICT, "form-action": "'self'"}
PATH: Final = "/console"
CONSOLE: Final = SitePage(PATH, "console.html.j2", "Console", policy=_FORMS, cached=False)
LOGIN: Final = SitePage(PATH, "login.html.j2", policy=_FORMS)
COOKIE: Final = "kaczmatch-console"
_LONGEST: Final = 1_000  # characters of a form


@final
@dataclass(frozen=True, slots=True, eq=False)
class Console:
    """The console over its sessions.

    `admitted` says whether a key may be used from where a request comes from. `is_local` says whether a request comes straight
    from this machine: elsewhere the cookie is sent over HTTPS only. `hold_back` is waited for after a wrong key.
    """

    site: Site
    sessions: ConsoleSessions
    admitted: Callable[[Request, Caller], bool]
    is_local: Callable[[Request], bool]
    hold_back: Callable[[Request], Awaitable[None]]
    _threads: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(1), init=False)

    def router(self) -> APIRouter:
        router = APIRouter(prefix=PATH, include_in_schema=False)
        for path, method, act in (
            ("", "GET", self.page),
            ("/login", "POST", self.login),
            ("/login", "GET", self.login_address),
            ("/logout", "POST", self.logout),
            ("/token", "POST", self.token),
        ):
            router.add_api_route(path, act, methods=[method], response_class=Response)
        return router

    async def page(self, request: Request) -> Response:
        return self._login() if await self._caller(request) is None else self._rendered(CONSOLE)

    async def login_address(self) -> Response:
        """The address that the browser shows after a wrong key."""
        return Response(status_code=303, headers={"Location": PATH})

    async def login(self, request: Request) -> Response:
        _check_same_site(request)
        form = parse_qs((await request.body())[:_LONGEST].decode("utf-8", "replace"))
        try:
            secret, caller = await self._session(self.sessions.begin, form.get("key", [""])[0].strip())
        except Unauthenticated:
            await self.hold_back(request)
            return self._login("That is not a valid key with the operator's scope.", 403)
        if not self.admitted(request, caller):
            await self._session(self.sessions.end, secret)
            return self._login("That key works on the machine of the service only.", 403)
        answer = Response(status_code=303, headers={"Location": PATH})
        age, secure = int(LIFE.total_seconds()), not self.is_local(request)
        answer.set_cookie(COOKIE, secret, max_age=age, path=PATH, secure=secure, httponly=True, samesite="strict")
        return answer

    async def logout(self, request: Request) -> Response:
        _check_same_site(request)
        await self._session(self.sessions.end, request.cookies.get(COOKIE, ""))
        answer = Response(status_code=303, headers={"Location": PATH})
        answer.delete_cookie(COOKIE, path=PATH, secure=not self.is_local(request), httponly=True, samesite="strict")
        return answer

    async def token(self, request: Request) -> Response:
        """A token for the page's calls to the API, which the page keeps in memory only."""
        _check_same_site(request)
        if await self._caller(request) is None:
            raise HTTPException(401)
        token, expires, caller = await self._session(self.sessions.token, request.cookies.get(COOKIE, ""))
        content = {"token": token, "expires": time_text(expires), "scopes": sorted(caller.scopes)}
        return Response(json.dumps(content), media_type="application/json")

    async def _session(self, act: Callable[[Unpack[Values]], T], *values: *Values) -> T:
        """In a thread that no other request can fill."""
        return await to_thread.run_sync(act, *values, limiter=self._threads)

    async def _caller(self, request: Request) -> Caller | None:
        secret = request.cookies.get(COOKIE, "")
        caller = await self._session(self.sessions.caller, secret) if secret else None
        return caller if caller is not None and self.admitted(request, caller) else None

    def _login(self, wrong: str = "", status: int = 200) -> Response:
        return self._rendered(LOGIN, status, wrong=wrong)

    def _rendered(self, page: SitePage, status: int = 200, **values: str) -> Response:
        # Without a referrer, a browser would not say which site a form comes from.
        headers = headers_of(page) | {"Cache-Control": "no-store", "Referrer-Policy": "same-origin"}
        return Response(self.site.render(page, **values), status, headers, "text/html; charset=utf-8")


def _check_same_site(request: Request) -> None:
    """Refuse requests that another site's page sends. Browsers say so in one of two headers."""
    sent_from, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    host = request.headers.get("host", "")
    if sent_from not in (None, "same-origin") or (origin is not None and origin.partition("://")[2] != host):
        raise HTTPException(403)
