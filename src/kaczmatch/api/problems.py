"""Errors in one shape: problem details (RFC 9457), each with the id of its request and nothing that was sent."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from kaczmatch.core.errors import InvalidInput
from kaczmatch.service.access.credentials import Unauthenticated
from kaczmatch.service.domain.refusals import Conflict, NotFound, Refusal, Reused, Stale, TooMany
from kaczmatch.service.domain.store import OutcomeUnknown, StoreUnavailable

MEDIA: Final = "application/problem+json"

_STATUS: Final[Mapping[type[Refusal], HTTPStatus]] = {
    NotFound: HTTPStatus.NOT_FOUND,
    Conflict: HTTPStatus.CONFLICT,
    Reused: HTTPStatus.UNPROCESSABLE_ENTITY,
    Stale: HTTPStatus.PRECONDITION_FAILED,
    TooMany: HTTPStatus.TOO_MANY_REQUESTS,
}


class Field(BaseModel):
    """One thing that is wrong with a request."""

    field: str
    problem: str


class Problem(BaseModel):
    """What went wrong. `code` is for programs, `detail` for people."""

    type: str = "about:blank"
    title: str
    status: int
    code: str
    detail: str
    request: str
    errors: list[Field] = []


class Forbidden(Exception):
    """The caller is known and may not do this."""


class Busy(Exception):
    """Too much is going on; come back."""


def problem(
    request_id: str,
    status: HTTPStatus,
    code: str,
    detail: str,
    *,
    errors: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "code": code,
        "detail": detail,
        "request": request_id,
    }
    if errors:
        body["errors"] = list(errors)
    return Response(json.dumps(body), status.value, dict(headers or {}), MEDIA)


def install(app: FastAPI) -> None:
    """Every error that a route can raise becomes a problem."""
    for kind, handler in (
        (Refusal, _refused),
        (InvalidInput, _invalid),
        (RequestValidationError, _unreadable),
        (ValidationError, _unreadable),
        (Unauthenticated, _denied),
        (Forbidden, _forbidden),
        (StoreUnavailable, _unavailable),
        (OutcomeUnknown, _uncertain),
        (Busy, _unavailable),
        (HTTPException, _http),
        (Exception, _left_alone),
    ):
        app.add_exception_handler(kind, handler)


def _id(request: Request) -> str:
    return str(request.scope.get("request_id", ""))


class _Unsaid(Response):
    """No answer."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        pass


async def _left_alone(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """A mistake of ours: the framework raises it again, and the edge notes it before it answers."""
    return _Unsaid()


async def _refused(request: Request, error: Any) -> Response:
    headers = {"Retry-After": str(math.ceil(error.wait.total_seconds()))} if isinstance(error, TooMany) else None
    return problem(_id(request), _STATUS[type(error)], error.code, error.problem, headers=headers)


async def _invalid(request: Request, error: Any) -> Response:
    errors = [{"field": error.field, "problem": error.problem}]
    return problem(_id(request), HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", str(error), errors=errors)


async def _unreadable(request: Request, error: Any) -> Response:
    errors = [
        {"field": ".".join(map(str, one["loc"])), "problem": str(one["msg"]).removeprefix("Value error, ")}
        for one in error.errors()[:20]
    ]
    detail = "; ".join(f"{one['field']}: {one['problem']}" for one in errors[:3])
    return problem(_id(request), HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", detail, errors=errors)


async def _denied(request: Request, error: Exception) -> Response:
    headers = {"WWW-Authenticate": 'Bearer realm="kaczmatch"'}
    return problem(_id(request), HTTPStatus.UNAUTHORIZED, "denied", str(error), headers=headers)


async def _forbidden(request: Request, error: Exception) -> Response:
    return problem(_id(request), HTTPStatus.FORBIDDEN, "forbidden", str(error))


async def _unavailable(request: Request, error: Exception) -> Response:  # noqa: ARG001
    # What the store says may name files or hosts; it is in the log.
    detail = "too much is going on, or the store is out of reach; try again"
    return problem(_id(request), HTTPStatus.SERVICE_UNAVAILABLE, "unavailable", detail, headers={"Retry-After": "1"})


async def _uncertain(request: Request, error: Exception) -> Response:  # noqa: ARG001
    detail = (
        "the store was lost while this was being written: it may have been done, or not. "
        "Send it again, a swipe under the same id; before a report is sent again, look whether the other person is blocked"
    )
    return problem(_id(request), HTTPStatus.SERVICE_UNAVAILABLE, "uncertain", detail, headers={"Retry-After": "1"})


async def _http(request: Request, error: Any) -> Response:
    status = HTTPStatus(error.status_code)
    code = {404: "not-found", 405: "method", 413: "too-large"}.get(status.value, "http")
    detail = {404: "there is no such address", 405: "this address does not take that method"}.get(status.value, status.phrase)
    return problem(_id(request), status, code, detail, headers=error.headers)
