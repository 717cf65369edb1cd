"""Matches, their end, and what came of them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel

from kaczmatch.api.guards import Use, User
from kaczmatch.api.paging import Cursor, Limit, cursor_after, decoded
from kaczmatch.api.shapes import Face, Id, Shape
from kaczmatch.api.words import current_words
from kaczmatch.service.domain.records import Person

router = APIRouter(prefix="/people/{user}/matches", tags=["matches"])


class MatchOut(BaseModel):
    """Two people who liked each other, seen by one of them."""

    id: str
    at: datetime
    other: Face
    outcomes: list[str]


class Matches(BaseModel):
    items: list[MatchOut]
    next: str | None


class Outcome(Shape):
    """What came of a match, as one side tells it."""

    outcome: Literal["message", "met"]


class Outcomes(BaseModel):
    outcomes: list[str]


@router.get("", response_model=Matches)
def matches(user: User, use: Use, limit: Limit = 50, cursor: Cursor = "") -> Matches:
    """Matches that have not ended, the newest first."""
    use.people.get(user)
    page = use.matching.matches(user, after=decoded(cursor, datetime, str, str), limit=limit)
    words, now = current_words(use.context), use.context.clock()
    with use.context.store.read() as reader:
        people = reader.many(Person, [(one.other,) for one in page])
    items = [
        MatchOut(id=one.id, at=one.at, other=Face.of(people[one.other,], words, now), outcomes=list(one.outcomes))
        for one in page
        if (one.other,) in people
    ]
    return Matches(items=items, next=cursor_after(page, limit))


@router.delete("/{match}", status_code=204)
def unmatch(user: User, match: Id, use: Use) -> Response:
    """End a match for both; the two never meet again."""
    use.matching.unmatch(user, match).result()
    return Response(status_code=204)


@router.post("/{match}/outcomes", response_model=Outcomes)
def outcome(user: User, match: Id, body: Outcome, use: Use) -> Outcomes:
    """Tell what came of it, for evaluation."""
    return Outcomes(outcomes=list(use.matching.outcome(user, match, body.outcome).result().outcomes))
