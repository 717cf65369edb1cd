"""Who was shown to whom, what they decided, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import final

from kaczmatch.service.domain.records.base import PersonId, Record, SingletonRecord
from kaczmatch.service.domain.records.learning import Decision


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LatestDecision(Record):
    """What a user last decided about a candidate, and how much their first answer counts in the candidate's appeal."""

    table = "latest_decisions"
    key = ("user", "candidate")
    order = ("at", "user", "candidate")
    indexes = (("candidate", "decision", "at"),)  # one's own are few, and found by the key

    user: PersonId
    candidate: PersonId
    decision: Decision
    at: datetime
    swipe: str  # the id of the swipe
    excess: float = 0.0
    information: float = 0.0
    appeal_as_of: datetime | None = None
    first_answer: str | None = None  # the id of the swipe that says something of the candidate to others
    answered_after_resets: int | None = None  # how many resets there had been at the last like or pass; None: only skipped


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDeck(Record):
    """A deck with its cards, and how it was drawn. Nothing in it changes, unless somebody shown in it is erased."""

    table = "decks"
    key = ("user", "id")
    order = ("at", "id")
    indexes = (("at", "id"), ("experiment", "at", "id"))
    bulky = True

    user: PersonId
    id: str
    at: datetime
    expires: datetime
    policy: str
    sampler: str
    reason: str
    model: int
    eligible: int
    min_propensity: float | None  # the smallest that anybody eligible had; None: the deck was not drawn
    size: int = 0  # asked for
    experiment: str = ""
    arm: str = ""
    unit: str = ""  # what was assigned to the arm; empty: the user
    cards: bytes = b""  # see `impressions`


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DeckAppearances(Record):
    """In which decks people of one group were shown, over a stretch of time that ends with `until` (see `appearances`)."""

    table = "deck_appearances"
    key = ("group", "until")
    order = ("until", "group")
    indexes = (("until", "group"),)
    bulky = True

    group: int
    until: datetime
    entries: bytes  # people by number, and the times of decks


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StoredExposure(Record):
    """How often the people of one group were shown, as of `until`; old cards count less."""

    table = "exposure"
    key = ("group",)
    bulky = True

    group: int
    until: datetime
    cards: bytes  # people by number, and their cards


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DecksFiled(SingletonRecord):
    """Decks up to this moment are in `DeckAppearances` and `StoredExposure`."""

    table = "decks_filed"

    until: datetime


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Pick(Record):
    """Somebody whom an edition of picks gives to a user. Only those of the edition in `PublishedPicks` are shown."""

    table = "picks"
    key = ("edition", "user", "place")
    indexes = (("user",), ("candidate",))

    edition: int
    user: PersonId
    place: int  # by how much the user is likely to like them, from 0
    candidate: PersonId
    score: float  # the mutual probability


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedPicks(SingletonRecord):
    """Which edition of picks is shown. Written when all of it is there."""

    table = "published_picks"

    edition: int
    at: datetime
    assignment: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MatchSide(Record):
    """One side of a match; the other side has the same id."""

    table = "matches"
    key = ("user", "other")
    order = ("at", "id", "user")
    indexes = (("user", "at"), ("other",), ("id",))

    user: PersonId
    other: PersonId
    id: str
    at: datetime
    ended: datetime | None = None
    outcomes: tuple[str, ...] = ()  # message, met: as this side says


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Block(Record):
    """One person never wants to meet another."""

    table = "blocks"
    key = ("user", "other")
    order = ("at", "user", "other")
    indexes = (("user", "at"), ("other",))

    user: PersonId
    other: PersonId
    at: datetime
    reported: bool = False  # then it cannot be taken back


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AbuseReport(Record):
    """A complaint, for an operator to look at."""

    table = "abuse_reports"
    personal = True
    key = ("id",)
    order = ("at", "id")
    indexes = (("user",), ("other",), ("closed", "at", "id"))

    id: str
    user: PersonId
    other: PersonId
    reason: str
    text: str
    at: datetime
    met: bool = True  # whether `user` was shown `other`, decided on them or matched with them
    closed: datetime | None = None
    resolution: str = ""
