"""A swipe and what came of it; the end of a session."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, final

from pydantic import Field

from kaczmatch.schemas.base import Id, RequestModel, ResponseModel


@final
class SwipeRequest(RequestModel):
    """A decision about a card, or about somebody whom the app found itself."""

    candidate: Id
    decision: Literal["like", "pass", "skip"]
    deck: Id | None = Field(default=None, description="The deck with the card. Only back ends may swipe without one.")


@final
class SwipeResult(ResponseModel):
    """What came of a swipe. It is the same however often the swipe is sent."""

    id: str
    at: datetime
    match: str | None = Field(description="The match that the swipe made.")


@final
class SessionEnd(ResponseModel):
    """Whether there was an open session to end."""

    ended: bool
