"""What happens to every request: it gets an id, limits, response headers, one log line and one count.

This is plain ASGI without system calls. Swipes pass here thousands of times per second, and a thread that releases the
interpreter for a system call has to wait for its next turn.
"""

from __future__ import annotations

import itertools
import secrets
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Final, final

import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kaczmatch.api.address_shares import AddressShares, client_address
from kaczmatch.api.metrics import Metrics
from kaczmatch.api.problems import ErrorHandlers, problem, response_to
from kaczmatch.api.request_bodies import BodyTooDeep, BodyTooLarge, TooManyBodies, check_depth, limited, read_body, replayed
from kaczmatch.api.request_heads import BadHead, content_length, has_encoded_slash

HEADERS: Final = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)
_API, _HEALTH = "/v1/", "/v1/health/"  # pages and health are answered before the service is ready
_UPLOADS = "/v1/import"
_CLOSE: Final = {"Connection": "close"}  # the rest of the body will not be read
_BODILESS = ("GET", "HEAD", "OPTIONS")

log = structlog.stdlib.get_logger("kaczmatch")


@final
@dataclass(slots=True)
class RequestMiddleware:
    """Wraps the whole application."""

    app: ASGIApp
    metrics: Metrics
    not_ready_reason: Callable[[], str]
    body_limit: int
    upload_limit: int
    in_progress: AddressShares  # requests
    unfinished: AddressShares  # bytes of bodies whose rest is missing
    authenticate: Callable[[Request], Awaitable[object]]
    handlers: ErrorHandlers
    hosts: frozenset[str] = frozenset()  # host names that are accepted; empty: any
    _id_prefix: str = field(default_factory=lambda: secrets.token_hex(6), init=False)
    _id_numbers: Iterator[int] = field(default_factory=itertools.count, init=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, status = time.perf_counter(), 0
        request_id = scope["request_id"] = f"{self._id_prefix}-{next(self._id_numbers):x}"
        id_header = (b"x-request-id", request_id.encode())

        async def respond(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = message["headers"]
                present = {name for name, _ in headers}
                message["headers"] = [*headers, id_header, *(header for header in HEADERS if header[0] not in present)]
            await send(message)

        try:
            refusal = self._refusal(scope, request_id)
            if refusal is not None:
                await refusal(scope, receive, respond)
            else:
                await self._serve(scope, receive, respond, request_id)
        except Exception as error:
            log.error(
                "failure", request_id=request_id, route=route_of(scope), error=type(error).__name__, where=error_location(error)
            )
            if not status:
                detail = "something went wrong here; it was noted under the id of this request"
                failed = problem(request_id, HTTPStatus.INTERNAL_SERVER_ERROR, "failure", detail)
                await failed(scope, receive, respond)
        finally:
            seconds, route = time.perf_counter() - started, route_of(scope)
            self.metrics.observe(scope["method"] if route else "-", route, status, seconds)
            code = scope.get("problem_code")
            log.info(
                "request",
                request_id=request_id,
                method=scope["method"],
                route=route,
                status=status,
                ms=round(seconds * 1000.0, 2),
                **({} if code is None else {"code": code}),
            )

    def _refusal(self, scope: Scope, request_id: str) -> Response | None:
        """The response to a request that is not passed on."""
        path: str = scope["path"]
        if self.hosts and host_of(scope) not in self.hosts:
            return problem(request_id, HTTPStatus.MISDIRECTED_REQUEST, "host", "the service is not known under that name")
        if has_encoded_slash(scope):
            return problem(request_id, HTTPStatus.NOT_FOUND, "not-found", "there is no such address")
        if path.startswith(_API) and not path.startswith(_HEALTH) and (reason := self.not_ready_reason()):
            return problem(request_id, HTTPStatus.SERVICE_UNAVAILABLE, "unavailable", reason, headers={"Retry-After": "2"})
        return None

    async def _serve(self, scope: Scope, receive: Receive, send: Send, request_id: str) -> None:
        upload, address = scope["path"].startswith(_UPLOADS), client_address(scope)
        limit = self.upload_limit if upload else self.body_limit
        try:
            if content_length(scope) > limit:
                raise BodyTooLarge
            if upload:
                receive = limited(receive, limit)
            elif scope["method"] not in _BODILESS:
                body = await read_body(receive, limit, self.unfinished, address, lambda: self.authenticate(Request(scope)))
                if body is None:
                    return
                check_depth(body)
                receive = replayed(body, receive)
            await self._counted(scope, receive, send, request_id, address)
        except BadHead as error:
            refusal = problem(request_id, HTTPStatus.BAD_REQUEST, "http", str(error), headers=_CLOSE)
            await refusal(scope, receive, send)
        except BodyTooLarge:
            detail = f"a body may have {limit:,} bytes"
            refusal = problem(request_id, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-large", detail, headers=_CLOSE)
            await refusal(scope, receive, send)
        except BodyTooDeep:
            refusal = problem(request_id, HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", "the JSON is nested too deeply")
            await refusal(scope, receive, send)
        except TooManyBodies:
            detail = "your address is sending too many bodies at once"
            refusal = problem(request_id, HTTPStatus.TOO_MANY_REQUESTS, "address", detail, headers=_CLOSE | {"Retry-After": "1"})
            await refusal(scope, receive, send)
        except Exception as error:
            refused = await response_to(error, Request(scope), self.handlers)
            if refused is None:
                raise
            refused.headers.update(_CLOSE)
            await refused(scope, receive, send)

    async def _counted(self, scope: Scope, receive: Receive, send: Send, request_id: str, address: str) -> None:
        """Pass a request on if its share is not used up. Its body is there: clients that hold back bodies take nothing."""
        if scope["path"].startswith(_HEALTH):
            await self.app(scope, receive, send)
        elif self.in_progress.take(address):
            try:
                await self.app(scope, receive, send)
            finally:
                self.in_progress.give_back(address)
        else:
            if self.in_progress.full():
                status, code, detail = HTTPStatus.SERVICE_UNAVAILABLE, "unavailable", "too many requests are in progress"
            else:
                status, code = HTTPStatus.TOO_MANY_REQUESTS, "address"
                detail = "too many requests of your address are in progress"
            await problem(request_id, status, code, detail, headers={"Retry-After": "1"})(scope, receive, send)


def route_of(scope: Scope) -> str:
    """The template of the route, without ids of people; empty where no route matched."""
    included = scope.get("fastapi", {}).get("effective_route_context")  # knows the prefix that the router was included under
    return str(getattr(included or scope.get("route"), "path", ""))


def host_of(scope: Scope) -> str:
    """The host name that a request was sent to, without the port."""
    host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
    return host.rpartition(":")[0] if ":" in host and not host.endswith("]") else host


def error_location(error: BaseException) -> list[str]:
    """Where in the code an error was raised. Its message is left out, because it may hold what somebody sent."""
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    return [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
