"""For operators: reports, one person's timeline, and the service in numbers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from kaczmatch.api.authentication import Cases, UserPath, scoped
from kaczmatch.api.paging import Cursor, Limit, cursor_after, decode_cursor
from kaczmatch.api.responses import operator_report
from kaczmatch.schemas.base import Id
from kaczmatch.schemas.operators import GroupComparison, Overview, Timeline
from kaczmatch.schemas.safety import CloseReportRequest, Report, ReportPage
from kaczmatch.service.access.credentials import OPERATOR, Caller

router = APIRouter(prefix="/operator", tags=["operators"])

Operator = Annotated[Caller, Depends(scoped(OPERATOR))]


@router.get("/reports")
def list_reports(cases: Cases, operator: Operator, limit: Limit = 50, cursor: Cursor = "") -> ReportPage:
    """List open reports, the oldest first."""
    del operator
    page = cases.safety.open_reports(after=decode_cursor(cursor, datetime, str), limit=limit)
    return ReportPage(items=tuple(map(operator_report, page)), next=cursor_after(page, limit))


@router.post("/reports/{report}/close")
def close_report(report: Id, body: CloseReportRequest, cases: Cases, operator: Operator) -> Report:
    """Close a report with what was decided."""
    return operator_report(cases.safety.close(report, body.resolution, operator.key).result())


@router.get("/people/{user}/timeline")
def get_timeline(
    user: UserPath, cases: Cases, operator: Operator, limit: Annotated[int, Query(ge=1, le=1_000)] = 200
) -> Timeline:
    """What one person did and what was done to them. Each look is written to the audit log."""
    return cases.operators.timeline(user, operator.key, limit=limit)


@router.put("/people/{user}/hold", status_code=204)
def hold_person(user: UserPath, cases: Cases, operator: Operator) -> Response:
    """Pause a person, who is shown to nobody, sees nobody, and cannot resume until released."""
    cases.operators.hold(user, operator.key, True).result()
    return Response(status_code=204)


@router.delete("/people/{user}/hold", status_code=204)
def release_person(user: UserPath, cases: Cases, operator: Operator) -> Response:
    """Let a person who was held resume. They stay paused until they do."""
    cases.operators.hold(user, operator.key, False).result()
    return Response(status_code=204)


@router.get("/overview")
def get_overview(cases: Cases, operator: Operator) -> Overview:
    """The service in numbers."""
    del operator
    return cases.operators.overview()


@router.get("/group")
def get_group(cases: Cases, operator: Operator, name: Annotated[str, Query(max_length=64)]) -> GroupComparison:
    """How often people with a tag, or of a kind, are shown, liked and matched, beside everybody else."""
    del operator
    return cases.operators.group(name)
