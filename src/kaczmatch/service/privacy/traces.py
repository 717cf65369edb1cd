"""Where records name a person, in the order in which an erasure takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from kaczmatch.service.domain.records import (
    AbuseReport,
    AuditEntry,
    Block,
    Change,
    ErasedId,
    Event,
    FeatureSnapshot,
    HeldPerson,
    LatestDecision,
    MatchSide,
    NameSuffix,
    OutboxMessage,
    Person,
    PersonCounters,
    Pick,
    Record,
    SeenTraits,
    StoredDeck,
    StoredState,
    StoredTraits,
)
from kaczmatch.service.domain.store import Reader, Snapshot

Field = tuple[type[Record], str]

# Every field that names a person, but for `PendingErasure`, which goes when the erasure is finished. A test walks all records to
# see that none is missing. Cards of decks name people too, many in one field: see `appearances`.
AT_ONCE: Final[tuple[Field, ...]] = (
    (Person, "id"),
    (NameSuffix, "user"),
    (PersonCounters, "user"),
    (HeldPerson, "user"),
    (StoredState, "user"),
    (StoredTraits, "user"),
    (ErasedId, "user"),
)  # a few rows, with which the person is gone
ROWS: Final[tuple[Field, ...]] = (
    (OutboxMessage, "user"),
    (OutboxMessage, "other"),
    (StoredDeck, "user"),
    (Pick, "user"),
    (Pick, "candidate"),
    (MatchSide, "user"),
    (MatchSide, "other"),
    (Block, "user"),
    (Block, "other"),
    (AbuseReport, "user"),
    (AbuseReport, "other"),
    (AuditEntry, "user"),
    (Event, "user"),
)
PAIRS: Final[tuple[Field, ...]] = (
    (Event, "candidate"),
    (LatestDecision, "user"),
    (LatestDecision, "candidate"),
)  # what the person and others thought of each other, from which others' states, appeal and traits follow
AFTER_PAIRS: Final[tuple[Field, ...]] = (
    (SeenTraits, "user"),
    (SeenTraits, "candidate"),
    (FeatureSnapshot, "user"),  # which others' events name as long as they are there
)
TRACES: Final[tuple[Field, ...]] = (*AT_ONCE, *ROWS, *PAIRS, *AFTER_PAIRS, (Change, "user"))


def rows_naming(reader: Reader, user: str, field: Field, limit: int | None = None) -> Sequence[Record]:
    """Records that name a person in a field."""
    kind, name = field
    equal: dict[str, Any] = {name: user}
    return reader.find(kind, limit=limit, **equal)


def people_named(rows: Sequence[Record]) -> set[str]:
    """Everybody whom records of one kind name."""
    names = [name for kind, name in TRACES if rows and kind is type(rows[0])]
    return {getattr(row, name) for row in rows for name in names} - {"", None}


def tables_naming(reader: Reader, user: str) -> set[type[Record]]:
    """In which tables a person is named, but for `ErasedId`."""
    return {field[0] for field in TRACES if field[0] is not ErasedId and rows_naming(reader, user, field, 1)}


def others_with_decisions(reader: Snapshot, user: str, most: int | None = None) -> set[str]:
    """Who decided on a person, and on whom the person decided."""
    given = reader.values(LatestDecision, ("candidate",), user=user, limit=most)
    taken = reader.values(LatestDecision, ("user",), candidate=user, limit=most)
    return {str(other) for (other,) in (*given, *taken)}
