"""The event log, which is the truth, and what is folded from it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import final

from kaczmatch.service.domain.records.base import LogRecord, Record


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Event(LogRecord):
    """The truth: what a person did. A state is the fold of its person's events."""

    table = "events"
    key = ("user", "id")
    indexes = (("user", "number"), ("candidate", "number"))

    user: str
    id: str  # chosen by the client for swipes
    kind: str  # swiped, session-ended, undone, reset
    at: datetime
    candidate: str | None = None
    decision: str | None = None  # like, pass, skip
    features: bytes | None = None  # the candidate's, as seen
    appeal: float = 0.0  # the candidate's, as seen
    vocabulary: int = 0  # its version then
    model: int = 0  # that was in use then
    deck: str | None = None
    match: str | None = None  # that it made
    undoes: str | None = None  # the id of a swipe
    imported: bool = False


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StoredState(Record):
    """What a model learned of one person: the fold of their events."""

    table = "states"
    bulky = True
    key = ("model", "user")
    indexes = (("user",),)

    model: int
    user: str
    state: bytes
    swipes: int  # that were learned from
    at: datetime | None  # the last event folded
    session_direction: bytes  # the direction at the end of the last session, float32
    stability: tuple[float, ...]  # Δs of the last sessions


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVocabulary(Record):
    """A version of the vocabulary."""

    table = "vocabularies"
    bulky = True
    key = ("version",)

    version: int
    terms: str  # JSON: [[name, is tag, retired], ...]
    at: datetime


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPrior(Record):
    """Where people start, by its version."""

    table = "priors"
    bulky = True
    key = ("version",)

    version: str
    data: bytes


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Model(Record):
    """A learner with its settings and prior. One is in use; while another is being built it learns along."""

    table = "models"
    key = ("id",)

    id: int
    learner: str
    settings: str  # JSON
    prior: str
    status: str  # building, in use, retired
    created: datetime
