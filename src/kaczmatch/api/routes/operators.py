"""For operators: reports, one person's timeline, and the service in numbers."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from kaczmatch.api.authentication import Cases, UserPath, scoped
from kaczmatch.api.concurrency_limit import ConcurrencyLimit
from kaczmatch.api.dependencies import ProcessState, process_state
from kaczmatch.api.metrics import Metrics
from kaczmatch.api.paging import Cursor, Limit, cursor_after, decode_cursor, encode_cursor
from kaczmatch.api.responses import operator_report
from kaczmatch.schemas.base import Id
from kaczmatch.schemas.operators import FoundPeoplePage, GroupComparison, Overview, ServiceHealth, Timeline
from kaczmatch.schemas.safety import CloseReportRequest, Report, ReportPage
from kaczmatch.service.access.credentials import OPERATOR, Caller
from kaczmatch.service.meeting.people_search import find_by_name
from kaczmatch.service.use_cases import UseCases

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


@router.post("/reports/{report}/reopen")
def reopen_report(report: Id, cases: Cases, operator: Operator) -> Report:
    """Open a report again that was closed by mistake."""
    return operator_report(cases.safety.reopen(report, operator.key).result())


@router.get("/people")
def find_people(
    cases: Cases,
    operator: Operator,
    name: Annotated[str, Query(max_length=200, description="How a word of their names begins, or somebody's whole id.")] = "",
    limit: Limit = 50,
    cursor: Cursor = "",
) -> FoundPeoplePage:
    """Find people by name or id. Without a name: those whom operators hold."""
    del operator
    if not name:
        held = cases.operators.held_people(decode_cursor(cursor, str), limit)
        return FoundPeoplePage(items=cases.operators.found([one.user for one in held]), next=cursor_after(held, limit))
    people, place = find_by_name(cases.context, name, decode_cursor(cursor, str, str), limit)
    users = [person.id for person in people if person.id != name]
    following = None if place is None else encode_cursor(place)
    return FoundPeoplePage(items=cases.operators.found(users if cursor else [name, *users]), next=following)


@router.delete("/people/{user}/blocks/{other}", status_code=204)
def remove_block(user: UserPath, other: Id, cases: Cases, operator: Operator) -> Response:
    """Take back a block that a person made, at their wish. It is written to the audit log."""
    cases.safety.unblock(user, other, actor=operator.key).result()
    return Response(status_code=204)


@router.get("/people/{user}/timeline")
async def get_timeline(
    request: Request, user: UserPath, cases: Cases, operator: Operator, limit: Annotated[int, Query(ge=1, le=1_000)] = 200
) -> Timeline:
    """What one person did and what was done to them. Each look is written to the audit log."""
    reports: ConcurrencyLimit = request.app.state.report_limit
    return await reports.run(cases.operators.timeline, user, operator.key, limit=limit)


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
async def get_overview(request: Request, cases: Cases, operator: Operator) -> Overview:
    """The service in numbers."""
    del operator
    reports: ConcurrencyLimit = request.app.state.report_limit
    return await reports.run(cases.operators.overview)


@router.get("/health")
async def get_service_health(
    request: Request,
    cases: Cases,
    operator: Operator,
    process: Annotated[ProcessState, Depends(process_state)],
    hours: Annotated[int, Query(ge=1, le=168, description="How far to look back.")] = 1,
) -> ServiceHealth:
    """How requests fared over time, what waits, and how large the store is."""
    del operator
    metrics: Metrics = request.app.state.metrics
    reports: ConcurrencyLimit = request.app.state.report_limit
    return await reports.run(cases.operators.health, hours, process.unhealthy_reason(), metrics.gauge)


@router.get("/group", response_model=GroupComparison)
async def get_group(request: Request, cases: Cases, operator: Operator, name: Annotated[str, Query(max_length=64)]) -> Response:
    """How often people with a tag, or of a kind, are shown, liked and matched, beside all others, as of `at`: it is made once a
    minute at most."""
    del operator
    reports: ConcurrencyLimit = request.app.state.report_limit
    make = partial(_group, cases, name)
    content = await reports.run(cases.answers.of_minute, ("group", name), cases.context.clock(), make)
    return Response(content, media_type="application/json")


def _group(cases: UseCases, name: str) -> bytes:
    return cases.operators.group(name).model_dump_json().encode()
