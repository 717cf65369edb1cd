"""What the service answers to operators and back ends, as values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Token:
    token: str
    expires: datetime


@final
@dataclass(frozen=True, slots=True)
class Name:
    name: str
    is_tag: bool
    retired: bool


@final
@dataclass(frozen=True, slots=True)
class Vocabulary:
    version: int
    names: tuple[Name, ...]
    kinds: tuple[str, ...]
    minimum_age: int


@final
@dataclass(frozen=True, slots=True)
class RowProblem:
    row: int
    field: str
    problem: str


@final
@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import; `problems` are the first ones."""

    rows: int
    written: int
    unchanged: int
    bad: int
    problems: tuple[RowProblem, ...]
    unread: tuple[str, ...]
    resumed: int
    complete: bool


@final
@dataclass(frozen=True, slots=True)
class Report:
    id: str
    user: str
    other: str
    reason: str
    words: str
    at: datetime
    closed: datetime | None
    resolution: str


@final
@dataclass(frozen=True, slots=True)
class Reports:
    items: tuple[Report, ...]
    next: str | None


@final
@dataclass(frozen=True, slots=True)
class Moment:
    at: datetime
    what: str
    other: str
    detail: str


@final
@dataclass(frozen=True, slots=True)
class Timeline:
    name: str
    paused: bool
    held: bool
    moments: tuple[Moment, ...]


@final
@dataclass(frozen=True, slots=True)
class Policy:
    policy: str
    sampler: str
    reason: str
    decks: int


@final
@dataclass(frozen=True, slots=True)
class Minute:
    at: datetime
    swipes: int
    likes: int
    decks: int


@final
@dataclass(frozen=True, slots=True)
class Suspect:
    """Somebody who likes nearly everybody."""

    user: str
    swipes: int
    likes: int


@final
@dataclass(frozen=True, slots=True)
class Sample:
    """How much was looked at."""

    events: int
    cards: int
    people: int


@final
@dataclass(frozen=True, slots=True)
class Figures:
    """The whole in figures: counts are of everybody, rates of the last hour, the rest of a sample."""

    people: int
    paused: int
    matches: int
    open_reports: int
    kept_messages: int
    learner: str
    prior: str
    like_rate: float | None
    match_rate: float | None
    policies: tuple[Policy, ...]
    stability: tuple[float, ...]
    conditions: tuple[float, ...]
    singular: int
    exposure_gini: float | None
    exposure_top: float | None
    lorenz: tuple[float, ...]
    minutes: tuple[Minute, ...]
    like_everybody: tuple[Suspect, ...]
    sample: Sample


@final
@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure, and an interval that holds at all looks together with 95 %."""

    value: float
    low: float
    high: float


@final
@dataclass(frozen=True, slots=True)
class Outcome:
    outcome: str
    mean: Estimate | None


@final
@dataclass(frozen=True, slots=True)
class Arm:
    """`units` were watched to the end and count; `waiting` are being watched."""

    name: str
    policy: str
    share: float
    units: int
    waiting: int
    decks: int
    cards: int
    outcomes: tuple[Outcome, ...]


@final
@dataclass(frozen=True, slots=True)
class Point:
    units: int
    value: float
    low: float
    high: float


@final
@dataclass(frozen=True, slots=True)
class Contrast:
    """An arm minus the first one: as of now, and as it came to that."""

    arm: str
    outcome: str
    difference: Estimate | None
    course: tuple[Point, ...]


@final
@dataclass(frozen=True, slots=True)
class Experiment:
    name: str
    assigned: str
    arms: tuple[Arm, ...]
    contrasts: tuple[Contrast, ...]
    balance: float | None
    strays: int


@final
@dataclass(frozen=True, slots=True)
class Health:
    ok: bool
    detail: str
