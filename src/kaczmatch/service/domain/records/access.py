"""Who may use the service, and what operators did."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import final

from kaczmatch.service.domain.records.base import LogRecord, PersonId, Record


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
class StoredConsoleSession(Record):
    """The session of an operator who uses a browser. Only a hash of its secret is kept."""

    table = "console_sessions"
    key = ("secret_hash",)

    secret_hash: str
    service_key: str  # the id of the key that it was begun with
    until: datetime


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedUser(Record):
    """Somebody who was erased, so that their tokens have ended. A keyed hash of the id is kept as long as a token can last."""

    table = "erased_users"
    key = ("user_hash",)

    user_hash: str
    at: datetime


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
    user: PersonId = ""
