"""Decks of cards, and the order of candidates that an app brings."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, final

from pydantic import Field

from kaczmatch.schemas.base import Id, RequestModel, ResponseModel
from kaczmatch.schemas.problems import Problem

LARGEST_DECK: Final = 100
MOST_RANKED: Final = 1_000
MOST_DECKS: Final = 50


@final
class DeckRequest(RequestModel):
    """How many cards a new deck should have. A deck that is still open is returned as it is."""

    size: int | None = Field(default=None, ge=1, le=LARGEST_DECK)


@final
class Card(ResponseModel):
    """One candidate. Nothing here says what the candidate thinks of the viewer."""

    id: str = Field(description="The candidate.")
    name: str
    age: int | None
    tags: tuple[str, ...]
    reason: str
    why: str
    why_code: str = Field(
        description="The sentence of `why`: liked-tags, with the tags in `fits`; liked-by-others; early; unlike-usual; "
        "passed-before; met-before; found-by-app; picked."
    )
    fits: tuple[str, ...]
    data: dict[str, Any]


@final
class Hint(ResponseModel):
    """How many more people could be shown if the viewer widened a filter."""

    filter: str
    people: int
    widened: dict[str, Any] = Field(description="What to change in the profile: a PUT of the profile with it removes the filter.")


@final
class Deck(ResponseModel):
    """Cards in the order to show them. Without cards, `empty` says why and `hints` say what would help.

    `next_at` says when the first cooldown ends after which somebody can be shown again; null where none is known.
    """

    id: str | None
    expires: datetime | None
    size: int | None = Field(description="How many cards this deck was asked to have; null where there is none.")
    size_ignored: bool = Field(description="True: the open deck was asked for with another size than this request.")
    cards: tuple[Card, ...]
    empty: str
    empty_code: str = Field(
        description="The sentence of `empty`: nobody-here, nobody-fits, all-answered, too-young, no-age, full, none-of-these, "
        "no-picks or still-loading."
    )
    hints: tuple[Hint, ...]
    next_at: datetime | None


@final
class DecksRequest(RequestModel):
    """For whom decks are, and how many cards new ones should have."""

    users: tuple[Id, ...] = Field(min_length=1, max_length=MOST_DECKS)
    size: int | None = Field(default=None, ge=1, le=LARGEST_DECK)


@final
class DeckResult(ResponseModel):
    """One person's deck, or why there is none."""

    user: str
    deck: Deck | None = None
    problem: Problem | None = None


@final
class DeckResults(ResponseModel):
    """One result per person, in the order asked for."""

    results: tuple[DeckResult, ...]


@final
class RankRequest(RequestModel):
    """The candidates to order, and whether to open a deck of the best of them."""

    candidates: tuple[Id, ...] = Field(min_length=1, max_length=MOST_RANKED)
    open_deck: bool = False


@final
class RankedCandidate(ResponseModel):
    """A candidate who may be shown, with the mutual score."""

    candidate: str
    score: float


@final
class ExcludedCandidate(ResponseModel):
    """A candidate who may not be shown, with the filters that say so."""

    candidate: str
    reasons: tuple[str, ...]


@final
class RankingResult(ResponseModel):
    """Who may be shown, the best first, and who may not. For back ends: scores and reasons tell about other people."""

    ranked: tuple[RankedCandidate, ...]
    excluded: tuple[ExcludedCandidate, ...]
    deck: Deck | None = Field(description="Of up to 100 ranked people, where one was asked for. Its cards were not drawn.")
