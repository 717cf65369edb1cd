"""The feed: messages to the app, as a list to poll."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, final

from pydantic import Field

from kaczmatch.schemas.base import RequestModel, ResponseModel

LARGEST_PAGE: Final = 1_000
LAST_NUMBER: Final = 2**53 - 1  # JSON numbers beyond it are not exact in every client


@final
class Message(ResponseModel):
    """`type` says what happened, `data` to whom. The webhook has the same id."""

    number: int
    id: str
    type: str
    timestamp: datetime
    data: dict[str, Any]


@final
class FeedPage(ResponseModel):
    """Messages in order. `last` is the number to continue from, and to acknowledge."""

    items: tuple[Message, ...]
    last: int


@final
class AcknowledgeRequest(RequestModel):
    """How far the app has processed the feed."""

    up_to: int = Field(ge=0, le=LAST_NUMBER, description="All messages up to this number are processed.")


@final
class Acknowledgement(ResponseModel):
    """How many messages were deleted."""

    deleted: int
