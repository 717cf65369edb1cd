"""The event log, which is the truth, and what is folded from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import final

from kaczmatch.core.vectors import Vector
from kaczmatch.service.domain.records.base import NOT_STORED, LogRecord, PersonId, Record, SingletonRecord


@final
class EventKind(StrEnum):
    """What happened."""

    SWIPED = "swiped"
    SESSION_ENDED = "session-ended"
    UNDONE = "undone"
    RESET = "reset"


@final
class Decision(StrEnum):
    """What a user decided about a candidate. Learners ignore a skip."""

    LIKE = "like"
    PASS = "pass"  # noqa: S105, no password
    SKIP = "skip"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Event(LogRecord):
    """What a person did. The events are the truth: a state is the fold of its person's events."""

    table = "events"
    key = ("user", "id")
    indexes = (("user", "number"), ("candidate", "number"))

    user: PersonId
    id: str  # chosen by the client for swipes
    kind: EventKind
    at: datetime
    candidate: PersonId | None = None
    decision: Decision | None = None
    features_version: int = 0  # of the `FeatureSnapshot` of the candidate, as seen; 0: nothing was
    features: bytes | None = field(default=None, compare=False, repr=False, metadata=NOT_STORED)  # see `feature_snapshots`
    appeal: float = 0.0  # the candidate's, as seen
    said: Vector | None = field(default=None, compare=False, repr=False, metadata=NOT_STORED)  # traits, see `SeenTraits`
    vocabulary: int = 0  # its version then
    model: int = 0  # that was in use then
    deck: str | None = None
    match: str | None = None  # that it made
    undoes: str | None = None  # the id of a swipe
    imported: bool = False

    @property
    def outside_deck(self) -> bool:
        """Whether it is a swipe on somebody whom the app found itself."""
        return self.kind == EventKind.SWIPED and self.deck is None and not self.imported


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StoredState(Record):
    """What a model learned about one person: the fold of their events."""

    table = "states"
    bulky = True
    key = ("model", "user")
    indexes = (("user",),)

    model: int
    user: PersonId
    state: bytes
    swipes: int  # that were learned from
    at: datetime | None  # the last event folded
    session_direction: bytes  # the direction at the end of the last session, float32
    stability: tuple[float, ...]  # Δs of the last sessions


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SeenTraits(Record):
    """Of one swipe, under one model: the candidate's traits as the user saw them, and what the swipe says of them in turn."""

    table = "seen_traits"
    key = ("model", "user", "swipe")
    indexes = (("user", "candidate"), ("candidate",))

    model: int
    user: PersonId
    swipe: str  # the id of the swipe
    candidate: PersonId
    said: bytes  # directions, traits and doubts, float64, without the user's own site; empty: the model has yet to see the swipe
    site: bytes  # int32; empty: not the user's first answer to the candidate, which is the one that counts


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTraits(Record):
    """What everybody's swipes say of one person's traits, under one model: the sum of their sites."""

    table = "traits"
    key = ("model", "user")
    indexes = (("user",),)

    model: int
    user: PersonId
    sums: bytes  # int64


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TraitProgress(SingletonRecord):
    """How far a model with traits that is being built has gone through the log."""

    table = "trait_progress"

    model: int
    event: int  # the number of the last event


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVocabulary(Record):
    """A version of the vocabulary."""

    table = "vocabularies"
    bulky = True
    key = ("version",)

    version: int
    terms: str  # JSON: [[name, is tag, retired, [kind, ...]], ...]
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
    """A learner with its settings and prior. One is in use; while another is being built it learns along.

    Whether a model of `probit-traits` has traits is in its prior: before the first fit, and where they do not pay, it has none.
    """

    table = "models"
    key = ("id",)

    id: int
    learner: str
    settings: str  # JSON
    prior: str
    status: str  # building, in use, retired, or rejected: a refit that was worse than the model in use
    created: datetime
    used_from: datetime | None = None  # when it took the place of the one before; None: from the start, or not yet
    refit: bool = False  # the learner is that of the model before, from a prior that was fitted again


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class GrownStates(SingletonRecord):
    """Every stored state of a model has at least so many dimensions: older ones were rewritten after the vocabulary grew."""

    table = "grown_states"

    model: int
    dimensions: int


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveVersions(SingletonRecord):
    """What is in use: a model, the one that is being built (0: none), and the version of the vocabulary.

    `previous` is the model that some process still deals by (0: none): it goes on learning until none does.
    """

    table = "active_versions"

    model: int
    building: int
    vocabulary: int
    previous: int = 0
    building_traits: bool = False  # whether that is a model with traits, which goes through the log (see `TraitProgress`)
