"""The feed: messages to the app, as a list to poll."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from kaczmatch.api.authentication import Cases, scoped
from kaczmatch.schemas.feed import LARGEST_PAGE, LAST_NUMBER, Acknowledgement, AcknowledgeRequest, FeedPage, Message
from kaczmatch.service.access.credentials import DATA, Caller
from kaczmatch.service.domain.records import OutboxMessage
from kaczmatch.service.messages.sender import message_body

router = APIRouter(prefix="/feed", tags=["feed"])

DataCaller = Annotated[Caller, Depends(scoped(DATA))]


@router.get("")
def list_messages(
    cases: Cases,
    caller: DataCaller,
    after: Annotated[int, Query(ge=0, le=LAST_NUMBER, description="`last` of the page before.")] = 0,
    limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE, description="The largest number of messages on a page.")] = 100,
) -> FeedPage:
    """List messages after a number. An app that continues from `last` misses none. Messages about one person are in order."""
    del caller
    page = cases.feed.read(after, limit)
    return FeedPage(items=tuple(map(_message, page)), last=page[-1].number if page else after)


@router.post("/ack")
def acknowledge_messages(body: AcknowledgeRequest, cases: Cases, caller: DataCaller) -> Acknowledgement:
    """Delete messages that the app has processed. They are not sent as webhooks either."""
    del caller
    return Acknowledgement(deleted=cases.feed.acknowledge(body.up_to))


def _message(message: OutboxMessage) -> Message:
    return Message(number=message.number, id=message.id, **message_body(message))
