"""Matches and what came of them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, final

from pydantic import Field

from kaczmatch.schemas.base import RequestModel, ResponseModel
from kaczmatch.schemas.profiles import PersonSummary


@final
class Match(ResponseModel):
    """Two people who like each other, as one of them sees it."""

    id: str
    at: datetime
    other: PersonSummary
    shared: tuple[str, ...] = Field(description="The tags that both have.")
    outcomes: tuple[str, ...]


@final
class MatchPage(ResponseModel):
    """Matches, the newest first. `next` is the cursor of the next page."""

    items: tuple[Match, ...]
    next: str | None


@final
class OutcomeRequest(RequestModel):
    """What came of a match, as one side tells it."""

    outcome: Literal["message", "met"]


@final
class MatchOutcomes(ResponseModel):
    """All outcomes of a match so far."""

    outcomes: tuple[str, ...]
