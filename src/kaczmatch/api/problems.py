"""Every error becomes a problem (RFC 9457) with the id of its request. Nothing that was sent is repeated."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from kaczmatch.core.errors import InvalidInput
from kaczmatch.schemas.problems import PROBLEM_MEDIA_TYPE, Problem
from kaczmatch.service.access.credentials import Unauthenticated
from kaczmatch.service.domain.refusals import Conflict, Full, NotFound, Refusal, Reused, Stale, TooMany
from kaczmatch.service.domain.store import OutcomeUnknown, StoreUnavailable

ErrorHandlers = Mapping[Any, Callable[[Request, Any], Any]]

_STATUS: Final[Mapping[type[Refusal], HTTPStatus]] = {
    NotFound: HTTPStatus.NOT_FOUND,
    Conflict: HTTPStatus.CONFLICT,
    Full: HTTPStatus.CONFLICT,
    Reused: HTTPStatus.UNPROCESSABLE_ENTITY,
    Stale: HTTPStatus.PRECONDITION_FAILED,
    TooMany: HTTPStatus.TOO_MANY_REQUESTS,
}


class Forbidden(Exception):
    """The caller is known but may not do this."""


class TooManyWrong(Exception):
    """Too many wrong credentials came from one address; `seconds` says how long to wait."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Busy(Exception):
    """Too many requests are in progress."""


def problem(
    request_id: str,
    status: HTTPStatus,
    code: str,
    detail: str,
    *,
    errors: Sequence[Mapping[str, Any]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "code": code,
        "detail": detail,
        "request_id": request_id,
    }
    if errors:
        body["errors"] = list(errors)
    return ProblemResponse(code, json.dumps(body), status, headers or {})


@final
class ProblemResponse(Response):
    """Leaves its code in the scope of the request, for the log."""

    def __init__(self, code: str, body: str, status: HTTPStatus, headers: Mapping[str, str]) -> None:
        super().__init__(body, status.value, dict(headers), PROBLEM_MEDIA_TYPE)
        self.code = code

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["problem_code"] = self.code
        await super().__call__(scope, receive, send)


def install(app: FastAPI) -> None:
    """Turn every error that a route can raise into a problem."""
    for kind, handler in (
        (Refusal, _refused),
        (InvalidInput, _invalid),
        (RequestValidationError, _malformed),
        (ValidationError, _malformed),
        (Unauthenticated, _unauthenticated),
        (TooManyWrong, _too_many_wrong),
        (Forbidden, _forbidden),
        (StoreUnavailable, _unavailable),
        (OutcomeUnknown, _outcome_unknown),
        (Busy, _unavailable),
        (HTTPException, _http),
        (Exception, _unexpected),
    ):
        app.add_exception_handler(kind, handler)


async def response_to(error: Exception, request: Request, handlers: ErrorHandlers) -> Response | None:
    """The problem that an error becomes; None where it is a bug, which the middleware logs."""
    kinds = (kind for kind in type(error).__mro__ if kind is not Exception)
    handler = next((handlers[kind] for kind in kinds if kind in handlers), None)
    return None if handler is None else await handler(request, error)


def _id(request: Request) -> str:
    return str(request.scope.get("request_id", ""))


@final
class _NoResponse(Response):
    """Sends nothing."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        pass


async def _unexpected(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """A bug. The framework raises it again, and the middleware logs it and responds."""
    return _NoResponse()


async def _refused(request: Request, error: Any) -> Response:
    headers = {"Retry-After": str(math.ceil(error.wait.total_seconds()))} if isinstance(error, TooMany) else None
    return problem(_id(request), _STATUS[type(error)], error.code, error.problem, headers=headers)


def refusal_problem(request: Request, error: Refusal) -> Problem:
    """A refusal as one of several results of a request."""
    status = _STATUS[type(error)]
    return Problem(title=status.phrase, status=status, code=error.code, detail=error.problem, request_id=_id(request))


async def _invalid(request: Request, error: Any) -> Response:
    errors = [{"field": error.field, "problem": error.problem}]
    return problem(_id(request), HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", str(error), errors=errors)


async def _malformed(request: Request, error: Any) -> Response:
    errors = [
        {"field": ".".join(map(str, found["loc"])), "problem": str(found["msg"]).removeprefix("Value error, ")}
        for found in error.errors()[:20]
    ]
    detail = "; ".join(f"{found['field']}: {found['problem']}" for found in errors[:3])
    return problem(_id(request), HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", detail, errors=errors)


async def _unauthenticated(request: Request, error: Exception) -> Response:
    headers = {"WWW-Authenticate": 'Bearer realm="kaczmatch"'}
    return problem(_id(request), HTTPStatus.UNAUTHORIZED, "unauthenticated", str(error), headers=headers)


async def _too_many_wrong(request: Request, error: Any) -> Response:
    detail, headers = "too many wrong keys or tokens came from this address", {"Retry-After": str(error.seconds)}
    return problem(_id(request), HTTPStatus.TOO_MANY_REQUESTS, "too-many-wrong", detail, headers=headers)


async def _forbidden(request: Request, error: Exception) -> Response:
    return problem(_id(request), HTTPStatus.FORBIDDEN, "forbidden", str(error))


async def _unavailable(request: Request, error: Exception) -> Response:  # noqa: ARG001
    # The message of the store may name files or hosts. It is in the log.
    detail = "the service is too busy, or the store cannot be reached; try again"
    return problem(_id(request), HTTPStatus.SERVICE_UNAVAILABLE, "unavailable", detail, headers={"Retry-After": "1"})


async def _outcome_unknown(request: Request, error: Exception) -> Response:  # noqa: ARG001
    detail = (
        "the store was lost while this was being written: it may have been done, or not. "
        "Send it again, a swipe under the same id; before a report is sent again, look whether the other person is blocked"
    )
    return problem(_id(request), HTTPStatus.SERVICE_UNAVAILABLE, "outcome-unknown", detail, headers={"Retry-After": "1"})


async def _http(request: Request, error: Any) -> Response:
    status = HTTPStatus(error.status_code)
    code = {404: "not-found", 405: "method", 413: "too-large", 415: "media-type"}.get(status.value, "http")
    usual = {404: "there is no such address", 405: "this address does not take that method"}
    detail = usual.get(status.value) or error.detail or status.phrase
    return problem(_id(request), status, code, detail, headers=error.headers)
