"""Blocks and reports."""

from __future__ import annotations

from datetime import datetime
from typing import final

from pydantic import Field

from kaczmatch.schemas.base import Id, Name, RequestModel, ResponseModel, Text


@final
class BlockedPerson(ResponseModel):
    """Somebody whom the user has blocked."""

    other: str
    at: datetime


@final
class BlockPage(ResponseModel):
    """Blocked people, the newest first. `next` is the cursor of the next page."""

    items: tuple[BlockedPerson, ...]
    next: str | None


@final
class ReportRequest(RequestModel):
    """Whom a report is about, and why."""

    other: Id
    reason: Name
    text: Text = Field(default="", max_length=2_000)


@final
class ReportReceipt(ResponseModel):
    """The id of a new report."""

    id: str


@final
class Report(ResponseModel):
    """A report as operators see it: `user` complains about `other`."""

    id: str
    user: str
    other: str
    reason: str
    text: str
    at: datetime
    met: bool = Field(
        description="Whether `user` decided on `other` or was shown them in the last 100 decks. If not, they are strangers."
    )
    closed: datetime | None
    resolution: str


@final
class ReportPage(ResponseModel):
    """Open reports, the oldest first. `next` is the cursor of the next page."""

    items: tuple[Report, ...]
    next: str | None


@final
class CloseReportRequest(RequestModel):
    """What an operator decided."""

    resolution: Text = Field(default="", max_length=2_000)
