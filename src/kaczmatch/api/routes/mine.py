"""What somebody did, and what was learned from it, for that person."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from kaczmatch.api.guards import Use, User
from kaczmatch.api.paging import Cursor, Limit, cursor_after, decoded, encoded
from kaczmatch.api.shapes import Id
from kaczmatch.core.errors import InvalidInput
from kaczmatch.service.domain.records import Event
from kaczmatch.service.meeting.preferences import Preference, Weight

router = APIRouter(prefix="/people/{user}", tags=["what was learned"])

Most = Annotated[int, Query(ge=1, le=1_000, description="Most names on either side.")]


class LikeOut(BaseModel):
    other: str
    at: datetime


class Likes(BaseModel):
    items: list[LikeOut]
    next: str | None


class Happened(BaseModel):
    """One line of somebody's history."""

    id: str
    what: str
    at: datetime
    candidate: str | None
    decision: str | None
    match: str | None
    undoes: str | None

    @classmethod
    def of(cls, event: Event) -> Happened:
        return cls(
            id=event.id,
            what=event.kind,
            at=event.at,
            candidate=event.candidate,
            decision=event.decision,
            match=event.match,
            undoes=event.undoes,
        )


class History(BaseModel):
    items: list[Happened]
    next: str | None


class WeightOut(BaseModel):
    """What a name counts; its spread and how sure its sign is, where the learner can tell."""

    name: str
    weight: float
    spread: float | None
    confidence: float | None

    @classmethod
    def of(cls, weight: Weight) -> WeightOut:
        return cls(name=weight.name, weight=weight.weight, spread=weight.spread, confidence=weight.confidence)


class PreferenceOut(BaseModel):
    """What counts for and against, the most telling first; `certainty` is the share of the first doubt that has gone."""

    liked: list[WeightOut]
    disliked: list[WeightOut]
    swipes: int
    certainty: float | None

    @classmethod
    def of(cls, told: Preference) -> PreferenceOut:
        liked, disliked = ([WeightOut.of(one) for one in side] for side in (told.liked, told.disliked))
        return cls(liked=liked, disliked=disliked, swipes=told.swipes, certainty=told.certainty)


class Step(BaseModel):
    """The preference after one more event."""

    event: Happened
    preference: PreferenceOut


class Growth(BaseModel):
    steps: list[Step]


class Part(BaseModel):
    name: str
    adds: float


class Lesson(BaseModel):
    """A past swipe that raised somebody."""

    swipe: str
    candidate: str | None
    decision: str | None
    adds: float


class WhyOut(BaseModel):
    """Which tags speak for and against somebody, and which of one's own swipes taught that."""

    fits: list[Part]
    misfits: list[Part]
    swipes: list[Lesson]


@router.get("/likes", response_model=Likes)
def likes(user: User, use: Use, limit: Limit = 50, cursor: Cursor = "") -> Likes:
    """Whom somebody likes, as of their last decision on each, the newest first."""
    page = use.preferences.likes(user, after=decoded(cursor, datetime, str, str), limit=limit)
    return Likes(items=[LikeOut(other=one.candidate, at=one.at) for one in page], next=cursor_after(page, limit))


@router.get("/history", response_model=History)
def history(user: User, use: Use, limit: Limit = 50, cursor: Cursor = "") -> History:
    """Everything somebody did, the newest first."""
    after: tuple[int, ...] = ()
    if cursor:  # names the last event: its number would tell how busy others are
        (last,) = decoded(cursor, str)
        with use.context.store.read() as reader:
            known = reader.get(Event, user, last)
        if known is None:
            raise InvalidInput("cursor", "is not one that this service gave out")
        after = (known.number,)
    page = use.preferences.history(user, after=after, limit=limit)
    more = encoded([page[-1].id]) if len(page) == limit else None
    return History(items=[Happened.of(one) for one in page], next=more)


@router.get("/preference", response_model=PreferenceOut)
def preference(user: User, use: Use, most: Most = 10) -> PreferenceOut:
    """What was learned about somebody, in words."""
    return PreferenceOut.of(use.preferences.of(user, most=most))


@router.get("/preference/growth", response_model=Growth)
def growth(
    user: User, use: Use, most: Annotated[int, Query(ge=1, le=50)] = 10, last: Annotated[int, Query(ge=1, le=200)] = 100
) -> Growth:
    """How it grew: the preference after each of the last events, the oldest first."""
    steps = use.preferences.growth(user, most=most, last=last)
    return Growth(steps=[Step(event=Happened.of(event), preference=PreferenceOut.of(told)) for event, told in steps])


@router.post("/preference/reset", status_code=204)
def reset(user: User, use: Use) -> Response:
    """Forget what was learned; decisions, matches and blocks stay."""
    use.undoing.reset(user).result()
    return Response(status_code=204)


@router.get("/why/{other}", response_model=WhyOut)
def why(user: User, other: Id, use: Use) -> WhyOut:
    """Why somebody was shown, told from the viewer's side alone."""
    told = use.ranking.why(user, other)
    return WhyOut(
        fits=[Part(name=name, adds=adds) for name, adds in told.explanation.raising],
        misfits=[Part(name=name, adds=adds) for name, adds in told.explanation.lowering],
        swipes=[Lesson(swipe=one.id, candidate=one.candidate, decision=one.decision, adds=adds) for one, adds in told.swipes],
    )
