"""Blocks and reports."""

from __future__ import annotations

from datetime import datetime

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from kaczmatch.api.guards import Use, User
from kaczmatch.api.paging import Cursor, Limit, cursor_after, decoded
from kaczmatch.api.shapes import Id, Shape, Text, Word

router = APIRouter(prefix="/people/{user}", tags=["safety"])


class BlockOut(BaseModel):
    other: str
    at: datetime


class Blocks(BaseModel):
    items: list[BlockOut]
    next: str | None


class Complaint(Shape):
    """About whom, and why."""

    other: Id
    reason: Word
    words: Text = Field("", max_length=2_000)


class Complained(BaseModel):
    report: str


@router.get("/blocks", response_model=Blocks)
def blocks(user: User, use: Use, limit: Limit = 50, cursor: Cursor = "") -> Blocks:
    """Whom somebody has blocked, the newest first."""
    use.people.get(user)
    page = use.safety.blocks(user, after=decoded(cursor, datetime, str, str), limit=limit)
    return Blocks(items=[BlockOut(other=one.other, at=one.at) for one in page], next=cursor_after(page, limit))


@router.put("/blocks/{other}", status_code=204)
def block(user: User, other: Id, use: Use) -> Response:
    """Keep two people apart from the next request on; a match between them ends."""
    use.safety.block(user, other).result()
    return Response(status_code=204)


@router.delete("/blocks/{other}", status_code=204)
def unblock(user: User, other: Id, use: Use) -> Response:
    use.safety.unblock(user, other).result()
    return Response(status_code=204)


@router.post("/reports", response_model=Complained, status_code=201)
def report(user: User, body: Complaint, use: Use) -> Complained:
    """Tell an operator, and block."""
    return Complained(report=use.safety.report(user, body.other, body.reason, body.words).result().id)
