"""What is stored, a class a table."""

from kaczmatch.service.domain.records.base import LogRecord, Record, columns
from kaczmatch.service.domain.records.learning import Event, Model, StoredPrior, StoredState, StoredVocabulary
from kaczmatch.service.domain.records.meeting import AbuseReport, Block, Impression, LatestDecision, MatchSide, StoredDeck
from kaczmatch.service.domain.records.people import Person, PersonCounters
from kaczmatch.service.domain.records.running import AuditEntry, Change, Delivery, Fact, OutboxMessage, ServiceKey

RECORDS: tuple[type[Record], ...] = (
    Person,
    PersonCounters,
    Event,
    StoredState,
    StoredVocabulary,
    StoredPrior,
    Model,
    LatestDecision,
    StoredDeck,
    Impression,
    MatchSide,
    Block,
    AbuseReport,
    OutboxMessage,
    Delivery,
    Change,
    ServiceKey,
    AuditEntry,
    Fact,
)

__all__ = [
    "RECORDS",
    "AbuseReport",
    "AuditEntry",
    "Block",
    "Change",
    "Delivery",
    "Event",
    "Fact",
    "Impression",
    "LatestDecision",
    "LogRecord",
    "MatchSide",
    "Model",
    "OutboxMessage",
    "Person",
    "PersonCounters",
    "Record",
    "ServiceKey",
    "StoredDeck",
    "StoredPrior",
    "StoredState",
    "StoredVocabulary",
    "columns",
]
