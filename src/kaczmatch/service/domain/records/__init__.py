"""What is stored, a class a table."""

from kaczmatch.service.domain.records.base import Logged, Record, columns
from kaczmatch.service.domain.records.learning import Event, Learned, Model, StoredPrior, Words
from kaczmatch.service.domain.records.meeting import Block, Dealt, Impression, Match, Pair, Report
from kaczmatch.service.domain.records.people import Person, Standing
from kaczmatch.service.domain.records.running import Audit, Change, Delivery, Fact, Key, Message

RECORDS: tuple[type[Record], ...] = (
    Person,
    Standing,
    Event,
    Learned,
    Words,
    StoredPrior,
    Model,
    Pair,
    Dealt,
    Impression,
    Match,
    Block,
    Report,
    Message,
    Delivery,
    Change,
    Key,
    Audit,
    Fact,
)

__all__ = [
    "RECORDS",
    "Audit",
    "Block",
    "Change",
    "Dealt",
    "Delivery",
    "Event",
    "Fact",
    "Impression",
    "Key",
    "Learned",
    "Logged",
    "Match",
    "Message",
    "Model",
    "Pair",
    "Person",
    "Record",
    "Report",
    "Standing",
    "StoredPrior",
    "Words",
    "columns",
]
