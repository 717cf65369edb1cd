"""What the app is told, and how far the webhook has got with it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import final

from kaczmatch.service.domain.records.base import LogRecord, PersonId, Record, SingletonRecord


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxMessage(LogRecord):
    """A message to the app: sent by webhook, and listed in the feed until it is acknowledged."""

    table = "outbox"
    key = ("id",)
    indexes = (("number",), ("posted", "number"), ("user",), ("other",))

    id: str
    topic: str  # match.created, profile.erased, ...
    user: PersonId
    other: PersonId = ""
    body: str = ""  # JSON: what else there is to say
    at: datetime
    posted: bool = False  # into the feed, under a new number: those are in the order of their commits


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery(Record):
    """How far the webhook has got with a message; none: not tried yet."""

    table = "deliveries"
    key = ("message",)

    message: str
    attempts: int
    next: datetime | None  # None: delivered, or given up
    status: str  # waiting, delivered, failed
    problem: str = ""  # of the last try


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LastWebhookError(SingletonRecord):
    """What last went wrong with a webhook, for operators."""

    table = "last_webhook_error"

    at: datetime
    problem: str
    topic: str
    attempts: int


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryProgress(SingletonRecord):
    """The number of the message up to which the webhook has nothing left to do."""

    table = "delivery_progress"

    settled_to: int
