"""What the client raises."""

from __future__ import annotations

from typing import final

import httpx
from pydantic import ValidationError

from kaczmatch.schemas.problems import FieldProblem, Problem


class ApiError(Exception):
    """The service refused (RFC 9457): `code` is for programs, `detail` for people, `request_id` finds the service's log line."""

    def __init__(self, problem: Problem, retry_after: float | None = None) -> None:
        super().__init__(f"{problem.status} {problem.code}: {problem.detail}")
        self.problem = problem
        self.retry_after = retry_after  # seconds

    @property
    def status(self) -> int:
        return self.problem.status

    @property
    def code(self) -> str:
        return self.problem.code

    @property
    def detail(self) -> str:
        return self.problem.detail

    @property
    def request_id(self) -> str:
        return self.problem.request_id

    @property
    def errors(self) -> tuple[FieldProblem, ...]:
        return self.problem.errors


@final
class UnauthorizedError(ApiError):
    """There is no valid key or token (401)."""


@final
class ForbiddenError(ApiError):
    """The key lacks a scope (403)."""


@final
class NotFoundError(ApiError):
    """There is no such thing, or none that the caller may know of (404)."""


@final
class ConflictError(ApiError):
    """The request does not fit what happened before (409)."""


@final
class PreconditionFailedError(ApiError):
    """It was changed meanwhile (412)."""


@final
class InvalidRequestError(ApiError):
    """The request cannot be used (422). `errors` says which fields."""


@final
class RateLimitError(ApiError):
    """A quota is used up (429). `retry_after` says for how many seconds."""


@final
class ServiceUnavailableError(ApiError):
    """The service is starting or too busy (503). With the code `outcome-unknown`, the request may have been carried out."""


@final
class ServiceUnreachableError(Exception):
    """No response came, after all attempts."""


_BY_STATUS: dict[int, type[ApiError]] = {
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    412: PreconditionFailedError,
    422: InvalidRequestError,
    429: RateLimitError,
    503: ServiceUnavailableError,
}


def error_of(response: httpx.Response) -> ApiError:
    """The error in a response."""
    try:
        problem = Problem.model_validate_json(response.content)
    except ValidationError:  # a proxy answered
        problem = Problem(title="", status=response.status_code, code="", detail=response.reason_phrase, request_id="")
    seconds = response.headers.get("retry-after", "")
    kind = _BY_STATUS.get(response.status_code, ApiError)
    return kind(problem, float(seconds) if seconds.isdecimal() else None)
