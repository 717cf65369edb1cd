"""What the service answers, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, final


@final
@dataclass(frozen=True, slots=True)
class Place:
    """Where somebody is; the service keeps no more than a coarse grid cell."""

    latitude: float
    longitude: float


@final
@dataclass(frozen=True, slots=True)
class Profile:
    """Somebody's own profile; `version` is what `if_version` takes."""

    id: str
    version: int
    name: str
    born: date
    age: int
    i_am: tuple[str, ...]
    i_look_for: tuple[str, ...]
    youngest: int
    oldest: int
    location: Place | None
    within_km: float | None
    tags: tuple[str, ...]
    features: Mapping[str, float]
    paused: bool
    created: datetime
    changed: datetime


@final
@dataclass(frozen=True, slots=True)
class Card:
    """Somebody to decide on, and why they are shown, from the viewer's side."""

    id: str
    name: str
    age: int
    tags: tuple[str, ...]
    reason: str
    why: str
    fits: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Opening:
    """How many more there would be with a wider filter."""

    filter: str
    people: int


@final
@dataclass(frozen=True, slots=True)
class Deck:
    """Cards in order; where there are none, why (`empty`) and what would help (`openings`)."""

    deck: str | None
    expires: datetime | None
    cards: tuple[Card, ...]
    empty: str
    openings: tuple[Opening, ...]


@final
@dataclass(frozen=True, slots=True)
class Scored:
    id: str
    score: float


@final
@dataclass(frozen=True, slots=True)
class LeftOut:
    id: str
    reasons: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Ranking:
    """Who may be shown, the best first, and who may not."""

    ranked: tuple[Scored, ...]
    left_out: tuple[LeftOut, ...]


@final
@dataclass(frozen=True, slots=True)
class Swiped:
    """What a swipe came to; `match` is the id of the match that it made."""

    id: str
    at: datetime
    match: str | None


@final
@dataclass(frozen=True, slots=True)
class Ended:
    ended: bool


@final
@dataclass(frozen=True, slots=True)
class Face:
    """What one person may see of another."""

    id: str
    name: str
    age: int
    tags: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Match:
    id: str
    at: datetime
    other: Face
    outcomes: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Matches:
    items: tuple[Match, ...]
    next: str | None


@final
@dataclass(frozen=True, slots=True)
class Outcomes:
    outcomes: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class About:
    """Somebody, and since when: liked, or blocked."""

    other: str
    at: datetime


@final
@dataclass(frozen=True, slots=True)
class Others:
    items: tuple[About, ...]
    next: str | None


@final
@dataclass(frozen=True, slots=True)
class Complained:
    report: str


@final
@dataclass(frozen=True, slots=True)
class Happened:
    """One line of somebody's history."""

    id: str
    what: str
    at: datetime
    candidate: str | None
    decision: str | None
    match: str | None
    undoes: str | None


@final
@dataclass(frozen=True, slots=True)
class History:
    items: tuple[Happened, ...]
    next: str | None


@final
@dataclass(frozen=True, slots=True)
class Weight:
    """What a name counts, how far that may be off, how sure its sign is."""

    name: str
    weight: float
    spread: float | None
    confidence: float | None


@final
@dataclass(frozen=True, slots=True)
class Preference:
    liked: tuple[Weight, ...]
    disliked: tuple[Weight, ...]
    swipes: int
    certainty: float | None


@final
@dataclass(frozen=True, slots=True)
class Step:
    event: Happened
    preference: Preference


@final
@dataclass(frozen=True, slots=True)
class Growth:
    steps: tuple[Step, ...]


@final
@dataclass(frozen=True, slots=True)
class Part:
    name: str
    adds: float


@final
@dataclass(frozen=True, slots=True)
class Lesson:
    swipe: str
    candidate: str | None
    decision: str | None
    adds: float


@final
@dataclass(frozen=True, slots=True)
class Why:
    """Which tags speak for and against somebody, and which of one's own swipes taught that."""

    fits: tuple[Part, ...]
    misfits: tuple[Part, ...]
    swipes: tuple[Lesson, ...]


@final
@dataclass(frozen=True, slots=True)
class Message:
    """Something that happened, as in the webhook with the same id."""

    number: int
    id: str
    type: str
    timestamp: datetime
    data: Mapping[str, Any]


@final
@dataclass(frozen=True, slots=True)
class FeedPage:
    """`last` is the number to go on from, and to acknowledge."""

    items: tuple[Message, ...]
    last: int


@final
@dataclass(frozen=True, slots=True)
class Acknowledged:
    deleted: int
