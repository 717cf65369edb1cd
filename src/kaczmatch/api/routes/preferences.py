"""What a user did, and what was learned from it, for that user alone."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from kaczmatch.api.authentication import ActingUser, AnyCaller, Cases, UserPath, scoped
from kaczmatch.api.concurrency_limit import answer_limit
from kaczmatch.api.paging import Cursor, Limit, cursor_after, decode_cursor, encode_cursor
from kaczmatch.api.responses import own_event
from kaczmatch.core.errors import InvalidInput
from kaczmatch.schemas.base import Id
from kaczmatch.schemas.preferences import (
    Admirer,
    AdmirerPage,
    CandidateExplanation,
    EventPage,
    Like,
    LikePage,
    Preference,
    PreferenceHistory,
    PreferenceStep,
    SwipeContribution,
    TermContribution,
)
from kaczmatch.service.access.credentials import APP, Caller
from kaczmatch.service.domain.records import Event
from kaczmatch.service.use_cases import UseCases

router = APIRouter(prefix="/people/{user}", tags=["preferences"])

MostTerms = Annotated[int, Query(ge=1, le=1_000, description="The largest number of terms on either side.")]


@router.get("/likes")
def list_likes(user: ActingUser, cases: Cases, limit: Limit = 50, cursor: Cursor = "") -> LikePage:
    """List the candidates whom the user likes by the last decision about each, the newest first."""
    page = cases.preferences.likes(user, after=decode_cursor(cursor, datetime, str, str), limit=limit)
    return LikePage(items=tuple(Like(candidate=like.candidate, at=like.at) for like in page), next=cursor_after(page, limit))


@router.get("/admirers")
def list_admirers(
    user: UserPath,
    cases: Cases,
    caller: Annotated[Caller, Depends(scoped(APP))],
    limit: Limit = 50,
    cursor: Cursor = "",
) -> AdmirerPage:
    """List who likes the user without a match so far, the newest first. Off unless the setting `admirers_listed` is on."""
    del caller
    page, shown = cases.preferences.admirers(user, after=decode_cursor(cursor, datetime, str, str), limit=limit)
    items = tuple(Admirer(user=like.user, at=like.at) for like in page if like.user in shown)
    return AdmirerPage(items=items, next=cursor_after(page, limit))


@router.get("/events")
def list_events(user: ActingUser, cases: Cases, limit: Limit = 50, cursor: Cursor = "") -> EventPage:
    """List everything that the user did, the newest first."""
    after: tuple[int, ...] = ()
    if cursor:  # it names the last event by its id: its number would tell how busy other people are
        (last,) = decode_cursor(cursor, str)
        with cases.context.store.read() as reader:
            event = reader.get(Event, user, last)
        if event is None:
            raise InvalidInput("cursor", "is not one that this service gave out")
        after = (event.number,)
    page = cases.preferences.history(user, after=after, limit=limit)
    following = encode_cursor([page[-1].id]) if len(page) == limit else None
    return EventPage(items=tuple(map(own_event, page)), next=following)


@router.get("/preference")
def get_preference(user: ActingUser, cases: Cases, most: MostTerms = 10) -> Preference:
    """What was learned about the user, in words."""
    return cases.preferences.of(user, most=most)


@router.get("/preference/history", response_model=PreferenceHistory)
async def get_preference_history(
    request: Request,
    user: ActingUser,
    cases: Cases,
    caller: AnyCaller,
    most: Annotated[int, Query(ge=1, le=50)] = 10,
    last: Annotated[int, Query(ge=1, le=200)] = 100,
) -> Response:
    """The preference after each of the last events, the oldest first."""
    content = await answer_limit(request).run(_history, cases, user, most, last, by_user=caller.is_user)
    return Response(content, media_type="application/json")


@router.post("/preference/reset", status_code=204)
def reset_preference(user: ActingUser, cases: Cases, caller: AnyCaller) -> Response:
    """Forget what was learned. Decisions, matches and blocks stay."""
    cases.undo.reset(user, by_user=caller.is_user).result()
    return Response(status_code=204)


@router.get("/why/{candidate}")
def explain_candidate(user: ActingUser, candidate: Id, cases: Cases) -> CandidateExplanation:
    """Why a candidate was shown, from the viewer's side alone."""
    explained = cases.ranking.why(user, candidate)
    return CandidateExplanation(
        fits=_contributions(explained.explanation.raising),
        misfits=_contributions(explained.explanation.lowering),
        swipes=tuple(
            SwipeContribution(swipe=event.id, candidate=event.candidate, decision=event.decision, contribution=contribution)
            for event, contribution in explained.swipes
        ),
    )


def _history(cases: UseCases, user: str, most: int, last: int, *, by_user: bool) -> bytes:
    def make() -> bytes:
        steps = cases.preferences.growth(user, most=most, last=last, by_user=by_user)
        shown = tuple(PreferenceStep(event=own_event(event), preference=preference) for event, preference in steps)
        return PreferenceHistory(steps=shown).model_dump_json().encode()

    return cases.answers.answer(("history", user, most, last), cases.preferences.growth_version(user), make)


def _contributions(terms: tuple[tuple[str, float], ...]) -> tuple[TermContribution, ...]:
    return tuple(TermContribution(term=term, contribution=contribution) for term, contribution in terms)
