"""What the service needs to run: messages, changes, keys, an audit trail."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import final

from kaczmatch.service.domain.records.base import LogRecord, Record


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxMessage(LogRecord):
    """Something to tell the app: by webhook, and in the feed until it is acknowledged."""

    table = "outbox"
    key = ("id",)
    indexes = (("number",), ("posted", "number"), ("user",), ("other",))

    id: str
    topic: str  # match.created, profile.erased, ...
    user: str
    other: str = ""
    body: str = ""  # JSON
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


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Change(LogRecord):
    """Somebody whose profile changed or who is gone: what keeps the indexes of all processes up to date."""

    table = "changes"
    key = ("id",)
    indexes = (("number",), ("user",))

    id: str
    user: str
    at: datetime


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceKey(Record):
    """A service key; only its hash is kept."""

    table = "keys"
    key = ("id",)

    id: str
    name: str
    hash: str
    scopes: tuple[str, ...]
    created: datetime
    expires: datetime | None = None
    revoked: datetime | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry(LogRecord):
    """Who looked at or changed what as an operator."""

    table = "audit"
    key = ("id",)
    indexes = (("number",), ("user",))

    id: str
    at: datetime
    actor: str
    action: str
    user: str = ""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Record):
    """A small thing that all processes must agree on, such as how far an import has got."""

    table = "facts"
    key = ("name",)

    name: str
    value: str
