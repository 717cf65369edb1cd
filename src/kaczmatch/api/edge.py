"""What every request passes on its way in and out: its id, limits, headers, one log line, one count.

Plain ASGI, and no system call of its own: a swipe comes through here thousands of times a second, and a thread that lets go of
the interpreter for a call waits for its next turn.
"""

from __future__ import annotations

import itertools
import secrets
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Final, final

import structlog
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kaczmatch.api.bodies import TooDeep, TooLarge, again, checked_depth, counted, whole
from kaczmatch.api.figures import Figures
from kaczmatch.api.problems import problem

HEADERS: Final = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)
_API, _ALWAYS = "/v1/", "/v1/health/"  # pages and health are answered before the service is ready
_UPLOADS = "/v1/import"
_CLOSE = {"Connection": "close"}  # the rest of the body will not be read
_BODILESS = ("GET", "HEAD", "OPTIONS")

log = structlog.stdlib.get_logger("kaczmatch")


@final
@dataclass(slots=True)
class Edge:
    """Around the application."""

    app: ASGIApp
    figures: Figures
    unready: Callable[[], str]
    body_limit: int
    upload_limit: int
    most_at_once: int
    hosts: frozenset[str] = frozenset()  # names under which it may be called; none: any
    _inside: int = field(default=0, init=False)
    _first: str = field(default_factory=lambda: secrets.token_hex(6), init=False)
    _numbers: Iterator[int] = field(default_factory=itertools.count, init=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, status = time.perf_counter(), 0
        request_id = scope["request_id"] = f"{self._first}-{next(self._numbers):x}"
        named = (b"x-request-id", request_id.encode())

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = message["headers"]
                there = {name for name, _ in headers}
                message["headers"] = [*headers, named, *(one for one in HEADERS if one[0] not in there)]
            await send(message)

        self._inside += 1
        try:
            refusal = self._refused(scope, request_id)
            if refusal is not None:
                await refusal(scope, receive, answer)
            else:
                await self._serve(scope, receive, answer, request_id)
        except Exception as error:
            log.error("failure", request_id=request_id, route=route_of(scope), error=type(error).__name__, where=where(error))
            if not status:
                detail = "something went wrong here; it was noted under the id of this request"
                failed = problem(request_id, HTTPStatus.INTERNAL_SERVER_ERROR, "failure", detail)
                await failed(scope, receive, answer)
        finally:
            self._inside -= 1
            seconds, route = time.perf_counter() - began, route_of(scope)
            self.figures.answered(scope["method"] if route else "-", route, status, seconds)
            log.info(
                "request",
                request_id=request_id,
                method=scope["method"],
                route=route,
                status=status,
                ms=round(seconds * 1000.0, 2),
            )

    def _refused(self, scope: Scope, request_id: str) -> Response | None:
        """Why a request is not even looked at."""
        path: str = scope["path"]
        if self.hosts and host_of(scope) not in self.hosts:
            return problem(request_id, HTTPStatus.MISDIRECTED_REQUEST, "host", "the service is not known under that name")
        if path.startswith(_ALWAYS):
            return None
        if self._inside > self.most_at_once:
            detail, wait = "too many requests are in progress", "1"
        elif path.startswith(_API) and (why := self.unready()):
            detail, wait = why, "2"
        else:
            return None
        return problem(request_id, HTTPStatus.SERVICE_UNAVAILABLE, "unavailable", detail, headers={"Retry-After": wait})

    async def _serve(self, scope: Scope, receive: Receive, send: Send, request_id: str) -> None:
        upload = scope["path"].startswith(_UPLOADS)
        limit = self.upload_limit if upload else self.body_limit
        try:
            length = next((int(value) for name, value in scope["headers"] if name == b"content-length" and value.isdigit()), 0)
            if length > limit:
                raise TooLarge
            if upload:
                receive = counted(receive, limit)
            elif scope["method"] not in _BODILESS:
                body = await whole(receive, limit)
                if body is None:
                    return
                checked_depth(body)
                receive = again(body, receive)
            await self.app(scope, receive, send)
        except TooLarge:
            detail = f"a body may have {limit:,} bytes"
            refusal = problem(
                request_id, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-large", detail, headers={"Connection": "close"}
            )
            await refusal(scope, receive, send)
        except TooDeep:
            refusal = problem(request_id, HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", "the JSON is nested too deeply")
            await refusal(scope, receive, send)


def route_of(scope: Scope) -> str:
    """The template of the route, without anybody's id; empty where there is none."""
    included = scope.get("fastapi", {}).get("effective_route_context")  # knows the prefix that the router was included under
    return str(getattr(included or scope.get("route"), "path", ""))


def host_of(scope: Scope) -> str:
    """The name that a request was sent to, without the port."""
    host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
    return host.rpartition(":")[0] if ":" in host and not host.endswith("]") else host


def where(error: BaseException) -> list[str]:
    """Where in the code it happened; the message of an error may hold what somebody sent, so it is left out."""
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    return [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
