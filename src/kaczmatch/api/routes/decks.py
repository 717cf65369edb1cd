"""Decks of cards, and the order of candidates that an app brings."""

from __future__ import annotations

from datetime import UTC
from typing import Annotated

from fastapi import APIRouter, Depends, Request

from kaczmatch.api.authentication import ActingUser, Cases, UserPath, scoped
from kaczmatch.api.concurrency_limit import ConcurrencyLimit
from kaczmatch.recommend.people.profile import age_on
from kaczmatch.schemas.decks import (
    Card,
    Deck,
    DeckRequest,
    ExcludedCandidate,
    Hint,
    RankedCandidate,
    RankingResult,
    RankRequest,
)
from kaczmatch.service.access.credentials import APP, Caller
from kaczmatch.service.meeting.decks import OpenDeck
from kaczmatch.service.use_cases import UseCases

router = APIRouter(prefix="/people/{user}", tags=["decks"])

_USUAL_SIZE = DeckRequest(size=None)


@router.post("/deck")
async def create_deck(request: Request, user: ActingUser, cases: Cases, body: DeckRequest = _USUAL_SIZE) -> Deck:
    """Return the open deck until it is answered or expires, then a new one."""
    limit: ConcurrencyLimit = request.app.state.deck_limit
    return await limit.run(_deck, cases, user, body.size)


@router.post("/rank")
def rank_candidates(
    user: UserPath, body: RankRequest, cases: Cases, caller: Annotated[Caller, Depends(scoped(APP))]
) -> RankingResult:
    """Order candidates from the app's own search by how likely both sides are to like each other."""
    del caller
    ranking = cases.ranking.rank(user, body.candidates)
    deck = _shown(cases, cases.decks.open_ranked(user, ranking)) if body.open_deck else None
    return RankingResult(
        ranked=tuple(RankedCandidate(candidate=str(candidate), score=score) for candidate, score in ranking.ranked),
        excluded=tuple(
            ExcludedCandidate(candidate=str(candidate), reasons=tuple(reasons)) for candidate, reasons in ranking.left_out
        ),
        deck=deck,
    )


def _deck(cases: UseCases, user: str, size: int | None) -> Deck:
    return _shown(cases, cases.decks.deck(user, size))


def _shown(cases: UseCases, opened: OpenDeck) -> Deck:
    today = cases.context.clock().astimezone(UTC).date()
    return Deck(
        id=None if opened.deck is None else opened.deck.id,
        expires=None if opened.deck is None else opened.deck.expires,
        cards=tuple(
            Card(
                id=card.person.id,
                name=card.person.name,
                age=age_on(card.person.born, today),
                tags=card.tags,
                reason=card.how_dealt,
                why=card.reason.text,
                why_code=card.reason.code,
                fits=card.reason.tags,
            )
            for card in opened.cards
        ),
        empty=opened.empty,
        empty_code=opened.empty_code,
        hints=tuple(Hint(filter=hint.filter, people=hint.people) for hint in opened.hints),
        next_at=opened.next_at,
    )
