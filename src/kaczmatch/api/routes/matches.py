"""Matches, their end, and what came of them."""

from __future__ import annotations

from datetime import datetime

from fastapi import APIRouter, Response

from kaczmatch.api.authentication import ActingUser, Cases
from kaczmatch.api.paging import Cursor, Limit, cursor_after, decode_cursor
from kaczmatch.api.responses import summary
from kaczmatch.schemas.base import Id
from kaczmatch.schemas.matches import Match, MatchOutcomes, MatchPage, OutcomeRequest
from kaczmatch.service.domain.records import Person
from kaczmatch.service.meeting.profile_features import tags_of

router = APIRouter(prefix="/people/{user}/matches", tags=["matches"])


@router.get("")
def list_matches(user: ActingUser, cases: Cases, limit: Limit = 50, cursor: Cursor = "") -> MatchPage:
    """List matches that have not ended, the newest first."""
    me = cases.profiles.get(user)
    page = cases.matches.matches(user, after=decode_cursor(cursor, datetime, str, str), limit=limit)
    vocabulary, now = cases.models.vocabulary(), cases.context.clock()
    with cases.context.store.read() as reader:
        people = reader.many(Person, [(side.other,) for side in page])
    mine = frozenset(tags_of(me, vocabulary)[0])
    items = []
    for side in (side for side in page if (side.other,) in people):
        other = summary(people[side.other,], vocabulary, now)
        shared = tuple(tag for tag in other.tags if tag in mine)
        items.append(Match(id=side.id, at=side.at, other=other, shared=shared, outcomes=side.outcomes))
    return MatchPage(items=tuple(items), next=cursor_after(page, limit))


@router.delete("/{match}", status_code=204)
def end_match(user: ActingUser, match: Id, cases: Cases) -> Response:
    """End a match for both sides. The two are never shown to each other again."""
    cases.matches.unmatch(user, match).result()
    return Response(status_code=204)


@router.post("/{match}/outcomes")
def record_outcome(user: ActingUser, match: Id, body: OutcomeRequest, cases: Cases) -> MatchOutcomes:
    """Record what came of a match, for evaluation."""
    return MatchOutcomes(outcomes=cases.matches.record_outcome(user, match, body.outcome).result().outcomes)
