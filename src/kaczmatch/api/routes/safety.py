"""Blocks and reports."""

from __future__ import annotations

from datetime import datetime

from fastapi import APIRouter, Response

from kaczmatch.api.authentication import ActingUser, AnyCaller, Cases
from kaczmatch.api.paging import Cursor, Limit, cursor_after, decode_cursor
from kaczmatch.schemas.base import Id
from kaczmatch.schemas.safety import BlockedPerson, BlockPage, ReportReceipt, ReportRequest

router = APIRouter(prefix="/people/{user}", tags=["safety"])


@router.get("/blocks")
def list_blocks(user: ActingUser, cases: Cases, limit: Limit = 50, cursor: Cursor = "") -> BlockPage:
    """List the people whom the user has blocked, the newest first."""
    cases.profiles.get(user)
    page = cases.safety.blocks(user, after=decode_cursor(cursor, datetime, str, str), limit=limit)
    items = tuple(BlockedPerson(other=block.other, at=block.at) for block in page)
    return BlockPage(items=items, next=cursor_after(page, limit))


@router.put("/blocks/{other}", status_code=204)
def block_person(user: ActingUser, other: Id, cases: Cases, caller: AnyCaller) -> Response:
    """Keep two people apart from the next request on. A match between them ends. It looks the same where nobody has that id."""
    cases.safety.block(user, other, by_user=caller.is_user).result()
    return Response(status_code=204)


@router.delete("/blocks/{other}", status_code=204)
def unblock_person(user: ActingUser, other: Id, cases: Cases) -> Response:
    """Take the user's own block back."""
    cases.safety.unblock(user, other).result()
    return Response(status_code=204)


@router.post("/reports", status_code=201)
def create_report(user: ActingUser, body: ReportRequest, cases: Cases, caller: AnyCaller) -> ReportReceipt:
    """Report a person to the operators, and block them. It looks the same where nobody has that id."""
    report = cases.safety.report(user, body.other, body.reason, body.text, by_user=caller.is_user).result()
    return ReportReceipt(id=report.id)
