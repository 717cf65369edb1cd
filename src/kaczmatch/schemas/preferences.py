"""What a user did, and what was learned from it."""

from __future__ import annotations

from datetime import datetime
from typing import final

from pydantic import Field

from kaczmatch.schemas.base import ResponseModel


@final
class Like(ResponseModel):
    """A candidate whom the user likes."""

    candidate: str
    at: datetime


@final
class LikePage(ResponseModel):
    """Likes, the newest first. `next` is the cursor of the next page."""

    items: tuple[Like, ...]
    next: str | None


@final
class Admirer(ResponseModel):
    """Somebody who likes the user."""

    user: str
    at: datetime


@final
class AdmirerPage(ResponseModel):
    """Admirers who can be shown to the user, the newest first. A page may have fewer than the limit, or none, before the last."""

    items: tuple[Admirer, ...]
    next: str | None


@final
class Event(ResponseModel):
    """One line of the user's log."""

    id: str
    kind: str
    at: datetime
    candidate: str | None
    decision: str | None
    match: str | None
    undoes: str | None
    deck: str | None = Field(description="Null for a swipe outside a deck.")
    imported: bool


@final
class EventPage(ResponseModel):
    """Events, the newest first. `next` is the cursor of the next page."""

    items: tuple[Event, ...]
    next: str | None


@final
class Weight(ResponseModel):
    """What one term counts. `spread` is the standard deviation, `confidence` the probability of the sign (½: unknown).

    Both are null where the learner has no belief.
    """

    term: str
    weight: float
    spread: float | None
    confidence: float | None


@final
class Preference(ResponseModel):
    """The terms that count most for and against. `certainty` is the share of the prior's variance that has gone."""

    liked: tuple[Weight, ...]
    disliked: tuple[Weight, ...]
    sentences: tuple[str, ...] = Field(description="The same in words for the user: what is known, and what is not.")
    clear: int = Field(description="Of how many terms it is clear whether the user likes or avoids them.")
    terms: int = Field(description="How many terms there are to like or avoid.")
    model: int = Field(description="The model that says so. After a change of the model, the same swipes may say something else.")
    swipes: int
    certainty: float | None
    beyond_tags: str = Field(default="", description="What the user's likes have in common beyond tags; empty: not known.")


@final
class PreferenceStep(ResponseModel):
    """The preference after one event."""

    event: Event
    preference: Preference


@final
class PreferenceHistory(ResponseModel):
    """The preference after each of the last events, the oldest first."""

    steps: tuple[PreferenceStep, ...]


@final
class TermContribution(ResponseModel):
    """What one term adds to the forward score."""

    term: str
    contribution: float


@final
class SwipeContribution(ResponseModel):
    """What one past swipe of the viewer adds to the forward score."""

    swipe: str
    candidate: str | None
    decision: str | None
    contribution: float


@final
class CandidateExplanation(ResponseModel):
    """The terms that speak for and against a candidate, and the viewer's own swipes that taught them."""

    fits: tuple[TermContribution, ...]
    misfits: tuple[TermContribution, ...]
    swipes: tuple[SwipeContribution, ...]
