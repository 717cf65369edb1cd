"""Decks of cards, and the order of candidates that an app brings."""

from __future__ import annotations

from concurrent.futures import Future
from datetime import UTC
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import ValidationError
from pydantic_core import to_json

from kaczmatch.api.authentication import ActingUser, Cases, UserPath, allowed_user, authenticate, scoped
from kaczmatch.api.concurrency_limit import ConcurrencyLimit
from kaczmatch.api.dependencies import use_cases
from kaczmatch.api.problems import refusal_problem
from kaczmatch.recommend.people.profile import age_on
from kaczmatch.schemas.decks import (
    Deck,
    DeckRequest,
    DeckResult,
    DeckResults,
    DecksRequest,
    ExcludedCandidate,
    RankedCandidate,
    RankingResult,
    RankRequest,
)
from kaczmatch.service.access.credentials import APP, Caller
from kaczmatch.service.domain.refusals import Refusal
from kaczmatch.service.meeting.card_reasons import disclosed_reason
from kaczmatch.service.meeting.open_deck import DealtDeck, OpenDeck
from kaczmatch.service.meeting.profiles import data_of
from kaczmatch.service.use_cases import UseCases

router = APIRouter(tags=["decks"])

_USUAL_SIZE = DeckRequest(size=None)


@router.post("/people/{user}/deck", response_model=Deck)
async def create_deck(request: Request, user: ActingUser, cases: Cases, body: DeckRequest = _USUAL_SIZE) -> Response:
    """Return the open deck until it is answered or expires, then a new one."""
    return Response(await _deck_json(request, cases, user, body.size), media_type="application/json")


async def deck_response(request: Request, body: bytes) -> bytes | None:
    """The JSON of a `Deck`. None: the framework has to say what is wrong with the body."""
    user = allowed_user(await authenticate(request), request.path_params["user"])
    if body and "json" not in request.headers.get("content-type", ""):
        return None
    try:
        size = DeckRequest.model_validate_json(body).size if body else None
    except ValidationError:
        return None
    return await _deck_json(request, await use_cases(request), user, size)


async def _deck_json(request: Request, cases: UseCases, user: str, size: int | None) -> bytes:
    """A thread deals the deck. Nobody waits in one until the store has it."""
    limit: ConcurrencyLimit = request.app.state.deck_limit
    with limit.admitted():
        dealt, answer = await limit.in_thread_and_written(_begun, cases, user, size)
        if dealt is None or cases.decks.stored(dealt) is dealt.deck:
            return answer
        return await limit.in_thread(lambda: _as_json(_deck(cases, user, size)))


def _begun(cases: UseCases, user: str, size: int | None) -> tuple[tuple[DealtDeck | None, bytes], Future[Any] | None]:
    """A deck as JSON; with it, if it still has to come to the store, and when it has come there."""
    begun = cases.decks.begin(user, size)
    if isinstance(begun, DealtDeck):
        return (begun, _as_json(_shown(cases, begun.deck, size))), begun.stored
    return (None, _as_json(_shown(cases, begun, size))), None


@router.post("/decks")
async def create_decks(
    request: Request, body: DecksRequest, cases: Cases, caller: Annotated[Caller, Depends(scoped(APP))]
) -> DeckResults:
    """Decks for many people in one call. Each has a deck or a problem of its own. Nobody counts as present by it."""
    del caller
    limit: ConcurrencyLimit = request.app.state.deck_limit
    return DeckResults(results=tuple([await limit.run(_result, request, cases, user, body.size) for user in body.users]))


@router.get("/people/{user}/picks")
def list_picks(user: ActingUser, cases: Cases) -> Deck:
    """The people picked for a user today, by the user's own liking. A deck of cards that were not drawn."""
    return Deck(**_shown(cases, cases.daily_picks.of(user)))


@router.post("/people/{user}/rank")
def rank_candidates(
    user: UserPath, body: RankRequest, cases: Cases, caller: Annotated[Caller, Depends(scoped(APP))]
) -> RankingResult:
    """Order candidates from the app's own search by how likely both sides are to like each other."""
    del caller
    ranking = cases.ranking.rank(user, body.candidates)
    deck = Deck(**_shown(cases, cases.decks.open_ranked(user, ranking))) if body.open_deck else None
    return RankingResult(
        ranked=tuple(RankedCandidate(candidate=str(candidate), score=score) for candidate, score in ranking.ranked),
        excluded=tuple(
            ExcludedCandidate(candidate=str(candidate), reasons=tuple(reasons)) for candidate, reasons in ranking.left_out
        ),
        deck=deck,
    )


def _result(request: Request, cases: UseCases, user: str, size: int | None) -> DeckResult:
    try:
        return DeckResult(user=user, deck=Deck(**_deck(cases, user, size, present=False)))
    except Refusal as refusal:
        return DeckResult(user=user, problem=refusal_problem(request, refusal))


def _deck(cases: UseCases, user: str, size: int | None, *, present: bool = True) -> dict[str, Any]:
    return _shown(cases, cases.decks.deck(user, size, present=present), size)


def _shown(cases: UseCases, opened: OpenDeck, asked_for: int | None = None) -> dict[str, Any]:
    """The fields of a `Deck`. A model for each card would take longer than to make them all JSON."""
    now, deck = cases.context.clock(), opened.deck
    size, today = None if deck is None else deck.size, now.astimezone(UTC).date()
    return {
        "id": None if deck is None else deck.id,
        "expires": None if deck is None else deck.expires,
        "size": size,
        "size_ignored": None not in (size, asked_for) and size != asked_for,
        "cards": [
            {
                "id": person.id,
                "name": person.name,
                "age": None if person.born is None else age_on(person.born, today),
                "tags": tags,
                "reason": disclosed_reason(impression.reason),
                "why": reason.text,
                "why_code": reason.code,
                "fits": reason.tags,
                "data": data_of(person),
            }
            for impression, person, tags, reason in opened.cards
        ],
        "empty": opened.empty,
        "empty_code": opened.empty_code,
        "hints": [{"filter": hint.filter, "people": hint.people, "widened": dict(hint.widened)} for hint in opened.hints],
        "next_at": opened.next_at,
    }


def _as_json(deck: dict[str, Any]) -> bytes:
    return to_json(deck, inf_nan_mode="null")
