"""Errors of the HTTP API (RFC 9457)."""

from __future__ import annotations

from typing import Final, final

from kaczmatch.schemas.base import ResponseModel

PROBLEM_MEDIA_TYPE: Final = "application/problem+json"


@final
class FieldProblem(ResponseModel):
    """One thing that is wrong with a request; of an import, with the row in which it stands."""

    row: int | None = None
    field: str
    problem: str


@final
class Problem(ResponseModel):
    """What went wrong. `code` is for programs, `detail` for people."""

    type: str = "about:blank"
    title: str
    status: int
    code: str
    detail: str
    request_id: str
    errors: tuple[FieldProblem, ...] = ()
