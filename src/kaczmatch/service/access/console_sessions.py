"""Sessions of operators who use a browser: begun with a key, ended by leaving, by time, or with the key."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, final

from kaczmatch.service.access.credentials import DATA, OPERATOR, Caller, Credentials, Unauthenticated
from kaczmatch.service.domain.records import AuditEntry, Fact
from kaczmatch.service.domain.store import Transaction

LIFE: Final = timedelta(hours=1)
TOKEN_LIFE: Final = timedelta(minutes=2)
_SESSION: Final = "session:"
_SCOPES: Final = frozenset({OPERATOR, DATA})  # what a page may ask for, of what its key may


@final
@dataclass(frozen=True, slots=True, eq=False)
class ConsoleSessions:
    """The store knows a session by a hash of its secret, which the browser alone has."""

    access: Credentials
    random: Callable[[], str] = secrets.token_urlsafe

    def begin(self, credential: str) -> tuple[str, Caller]:
        """A session's secret, for a key with the operator's scope."""
        caller = self.access.caller(credential)
        if caller.user is not None or OPERATOR not in caller.scopes or not credential.startswith("kz_"):
            raise Unauthenticated(f"this needs a key with the scope {OPERATOR!r}")
        context, secret = self.access.context, self.random()
        now = context.clock()
        value = json.dumps({"key": caller.key, "until": (now + LIFE).isoformat()})

        def work(transaction: Transaction) -> None:
            ended = [one.name for one in transaction.find(Fact, after=(_SESSION,), limit=1_000) if _ended(one, now)]
            for name in ended:
                transaction.drop(Fact, name)
            transaction.put(Fact(name=_name(secret), value=value))
            transaction.append(AuditEntry(id=context.new_id(), at=now, actor=caller.key, action="logged in to the console"))

        context.store.write(work).result()
        return secret, caller

    def caller(self, secret: str) -> Caller | None:
        """Whose session it is, if it is one."""
        context = self.access.context
        with context.store.read() as reader:
            fact = reader.get(Fact, _name(secret))
        if fact is None or _ended(fact, context.clock()):
            return None
        caller = self.access.by_id(json.loads(fact.value)["key"])
        return caller if caller is not None and OPERATOR in caller.scopes else None

    def token(self, secret: str) -> tuple[str, datetime, Caller]:
        """What the session's page asks the API with, for a moment."""
        caller = self.caller(secret)
        if caller is None:
            raise Unauthenticated("the session has ended")
        lent = Caller(caller.key, caller.scopes & _SCOPES)
        return *self.access.lend(lent, TOKEN_LIFE), lent

    def end(self, secret: str) -> None:
        self.access.context.store.write(lambda tx: tx.drop(Fact, _name(secret))).result()


def _name(secret: str) -> str:
    return f"{_SESSION}{hashlib.sha256(secret.encode()).hexdigest()}"


def _ended(fact: Fact, now: datetime) -> bool:
    return fact.name.startswith(_SESSION) and datetime.fromisoformat(json.loads(fact.value)["until"]) <= now
