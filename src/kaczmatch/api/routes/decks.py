"""Decks of cards, and the order of people that an app brings."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field

from kaczmatch.api.guards import Somebody, Use, User, scoped
from kaczmatch.api.parts import Parts
from kaczmatch.api.places import Places
from kaczmatch.api.shapes import Id, Shape
from kaczmatch.api.words import told_reason, why
from kaczmatch.recommend.people.profile import age_on
from kaczmatch.service.access.credentials import APP, Caller
from kaczmatch.service.domain.config import LARGEST_DECK
from kaczmatch.service.meeting.profiles import tags_of
from kaczmatch.service.meeting.ranking import MOST_RANKED

router = APIRouter(prefix="/people/{user}", tags=["decks"])


class Wish(Shape):
    """How many cards a new deck shall have; an open one is returned as it is."""

    size: int | None = Field(None, ge=1, le=LARGEST_DECK)


_ANY = Wish(size=None)


class CardOut(BaseModel):
    """Somebody to decide on. Nothing here tells what they think of the viewer."""

    id: str
    name: str
    age: int
    tags: list[str]
    reason: str
    why: str
    fits: list[str]


class OpeningOut(BaseModel):
    """How many more could be shown if the viewer widened a filter."""

    filter: str
    people: int


class DeckOut(BaseModel):
    """Cards in the order to show them; where there are none, why, and what would help."""

    deck: str | None
    expires: datetime | None
    cards: list[CardOut]
    empty: str
    openings: list[OpeningOut]


class Candidates(Shape):
    """Whom to order."""

    candidates: list[Id] = Field(min_length=1, max_length=MOST_RANKED)


class Scored(BaseModel):
    id: str
    score: float


class LeftOut(BaseModel):
    id: str
    reasons: list[str]


class RankingOut(BaseModel):
    """Who may be shown, the best first, and who may not. For back ends: scores and reasons tell of other people."""

    ranked: list[Scored]
    left_out: list[LeftOut]


@router.post("/deck", response_model=DeckOut)
async def deck(request: Request, user: User, use: Use, body: Wish = _ANY) -> DeckOut:
    """The open deck until it is answered or expires, then a new one."""
    places: Places = request.app.state.decks
    return await places.run(_dealt, use, user, body.size)


@router.post("/rank", response_model=RankingOut)
def rank(user: Somebody, body: Candidates, use: Use, caller: Annotated[Caller, Depends(scoped(APP))]) -> RankingOut:
    """Order people from the app's own search by how likely both sides are to like each other."""
    del caller
    ranking = use.ranking.rank(user, body.candidates)
    return RankingOut(
        ranked=[Scored(id=str(other), score=score) for other, score in ranking.ranked],
        left_out=[LeftOut(id=str(other), reasons=list(reasons)) for other, reasons in ranking.left_out],
    )


def _dealt(use: Parts, user: str, size: int | None) -> DeckOut:
    hand = use.decks.deck(user, size)
    told, words = why(use.context, user, [(card.reason, person) for card, person in hand.cards])
    today = use.context.clock().astimezone(UTC).date()
    return DeckOut(
        deck=None if hand.deck is None else hand.deck.id,
        expires=None if hand.deck is None else hand.deck.expires,
        cards=[
            CardOut(
                id=person.id,
                name=person.name,
                age=age_on(person.born, today),
                tags=tags_of(person, words)[0],
                reason=told_reason(card.reason),
                why=because.words,
                fits=list(because.fits),
            )
            for (card, person), because in zip(hand.cards, told, strict=True)
        ],
        empty=hand.empty,
        openings=[OpeningOut(filter=one.filter, people=one.people) for one in hand.hints],
    )
