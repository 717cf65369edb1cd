"""What the app is told, as a list to poll."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from kaczmatch.api.guards import Use, scoped
from kaczmatch.api.shapes import Shape
from kaczmatch.service.access.credentials import DATA, Caller
from kaczmatch.service.domain.records import OutboxMessage
from kaczmatch.service.messages.feed import LARGEST_PAGE
from kaczmatch.service.messages.sender import response_summary

router = APIRouter(prefix="/feed", tags=["feed"])

Data = Annotated[Caller, Depends(scoped(DATA))]
_LAST = 2**53 - 1  # beyond it not every client can count


class MessageOut(BaseModel):
    """Something that happened: `type` says what, `data` to whom. The id is that of the webhook."""

    number: int
    id: str
    type: str
    timestamp: datetime
    data: dict[str, Any]

    @classmethod
    def of(cls, message: OutboxMessage) -> MessageOut:
        return cls(number=message.number, id=message.id, **response_summary(message))


class FeedPage(BaseModel):
    """In order; `last` is the number to go on from, and to acknowledge."""

    items: list[MessageOut]
    last: int


class Acknowledgement(Shape):
    upto: int = Field(ge=0, le=_LAST, description="The number up to which everything has been dealt with.")


class Acknowledged(BaseModel):
    deleted: int


@router.get("", response_model=FeedPage)
def feed(
    use: Use,
    caller: Data,
    after: Annotated[int, Query(ge=0, le=_LAST, description="`last` of the page before.")] = 0,
    limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE, description="Most messages of a page.")] = 100,
) -> FeedPage:
    """Messages after a number. Whoever goes on from the last number misses none; what concerns one person is in order."""
    del caller
    page = use.feed.read(after, limit)
    return FeedPage(items=[MessageOut.of(one) for one in page], last=page[-1].number if page else after)


@router.post("/ack", response_model=Acknowledged)
def acknowledge(body: Acknowledgement, use: Use, caller: Data) -> Acknowledged:
    """The app has dealt with these: they are deleted, here and as webhooks."""
    del caller
    return Acknowledged(deleted=use.feed.acknowledge(body.upto))
