"""For operators: reports, one person's timeline, figures."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, Field

from kaczmatch.api.guards import Somebody, Use, scoped
from kaczmatch.api.paging import Cursor, Limit, cursor_after, decoded
from kaczmatch.api.shapes import Id, Shape, Text
from kaczmatch.service.access.credentials import OPERATOR, Caller
from kaczmatch.service.domain.records import AbuseReport
from kaczmatch.service.operations.overview import Overview

router = APIRouter(prefix="/operator", tags=["operators"])

Operator = Annotated[Caller, Depends(scoped(OPERATOR))]


class ReportOut(BaseModel):
    id: str
    user: str
    other: str
    reason: str
    words: str
    at: datetime
    closed: datetime | None
    resolution: str

    @classmethod
    def of(cls, report: AbuseReport) -> ReportOut:
        return cls(
            id=report.id,
            user=report.user,
            other=report.other,
            reason=report.reason,
            words=report.text,
            at=report.at,
            closed=report.closed,
            resolution=report.resolution,
        )


class Reports(BaseModel):
    items: list[ReportOut]
    next: str | None


class Resolution(Shape):
    resolution: Text = Field("", max_length=2_000)


class MomentOut(BaseModel):
    at: datetime
    what: str
    other: str
    detail: str


class Timeline(BaseModel):
    """One person as an operator sees them; `held`: paused by an operator, and cannot resume."""

    name: str
    paused: bool
    held: bool
    moments: list[MomentOut]


class PolicyOut(BaseModel):
    policy: str
    sampler: str
    reason: str
    decks: int


class MinuteOut(BaseModel):
    at: datetime
    swipes: int
    likes: int
    decks: int


class SuspectOut(BaseModel):
    """Somebody who likes nearly everybody: at least 95 of 100 swipes or more."""

    user: str
    swipes: int
    likes: int


class SampleOut(BaseModel):
    """How much was looked at: the newest swipes and cards, and the people who swiped last."""

    events: int
    cards: int
    people: int


class OverviewOut(BaseModel):
    """The whole in figures: counts are of everybody, rates of the last hour, the rest of a sample.

    `stability`: Δs of people's last sessions. `conditions`: κ of AAᵀ + I over each one's last swipes; `singular` of them have
    none without damping. `lorenz`: the share of the cards that shows the least shown 0, 1, 2, … 100 % of people.
    """

    people: int
    paused: int
    matches: int
    open_reports: int
    kept_messages: int
    learner: str
    prior: str
    like_rate: float | None
    match_rate: float | None
    policies: list[PolicyOut]
    stability: list[float]
    conditions: list[float]
    singular: int
    exposure_gini: float | None
    exposure_top: float | None
    lorenz: list[float]
    minutes: list[MinuteOut]
    like_everybody: list[SuspectOut]
    sample: SampleOut

    @classmethod
    def of(cls, seen: Overview) -> OverviewOut:
        return cls(
            people=seen.people,
            paused=seen.paused,
            matches=seen.matches,
            open_reports=seen.open_reports,
            kept_messages=seen.kept_messages,
            learner=seen.learner,
            prior=seen.prior,
            like_rate=seen.like_rate,
            match_rate=seen.match_rate,
            policies=[PolicyOut(policy=one[0], sampler=one[1], reason=one[2], decks=one[3]) for one in seen.policies],
            stability=list(seen.stability),
            conditions=list(seen.conditions),
            singular=seen.singular,
            exposure_gini=seen.exposure_gini,
            exposure_top=seen.exposure_top,
            lorenz=list(seen.lorenz),
            minutes=[MinuteOut(at=one.at, swipes=one.swipes, likes=one.likes, decks=one.decks) for one in seen.minutes],
            like_everybody=[SuspectOut(user=one.user, swipes=one.swipes, likes=one.likes) for one in seen.like_everybody],
            sample=SampleOut(events=seen.sample.events, cards=seen.sample.cards, people=seen.sample.people),
        )


@router.get("/reports", response_model=Reports)
def reports(use: Use, operator: Operator, limit: Limit = 50, cursor: Cursor = "") -> Reports:
    """Reports that nobody has closed, the oldest first."""
    del operator
    page = use.safety.open_reports(after=decoded(cursor, datetime, str), limit=limit)
    return Reports(items=[ReportOut.of(one) for one in page], next=cursor_after(page, limit))


@router.post("/reports/{report}/close", response_model=ReportOut)
def close(report: Id, body: Resolution, use: Use, operator: Operator) -> ReportOut:
    return ReportOut.of(use.safety.close(report, body.resolution, operator.key).result())


@router.get("/people/{user}/timeline", response_model=Timeline)
def timeline(user: Somebody, use: Use, operator: Operator, limit: Annotated[int, Query(ge=1, le=1_000)] = 200) -> Timeline:
    """What one person did and what was done about them. That it was looked at is written down."""
    seen = use.operating.timeline(user, operator.key, limit=limit)
    moments = [MomentOut(at=one.at, what=one.what, other=one.other, detail=one.detail) for one in seen.moments]
    return Timeline(name=seen.name, paused=seen.paused, held=seen.held, moments=moments)


@router.put("/people/{user}/hold", status_code=204)
def hold(user: Somebody, use: Use, operator: Operator) -> Response:
    """Pause somebody who cannot resume until released: shown to nobody and sees nobody."""
    use.operating.hold(user, operator.key, True).result()
    return Response(status_code=204)


@router.delete("/people/{user}/hold", status_code=204)
def release(user: Somebody, use: Use, operator: Operator) -> Response:
    """Let somebody resume who was held; until they do, they stay paused."""
    use.operating.hold(user, operator.key, False).result()
    return Response(status_code=204)


@router.get("/figures", response_model=OverviewOut)
def figures(use: Use, operator: Operator) -> OverviewOut:
    del operator
    return OverviewOut.of(use.operating.overview())
