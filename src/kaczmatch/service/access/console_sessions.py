"""Sessions of operators in a browser. A session begins with a key. It ends by logging out, after an hour, or with the key."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, final

from kaczmatch.service.access.credentials import DATA, OPERATOR, Caller, Credentials, Unauthenticated
from kaczmatch.service.domain.records import AuditEntry, StoredConsoleSession
from kaczmatch.service.domain.store import Transaction

LIFE: Final = timedelta(hours=1)
TOKEN_LIFE: Final = timedelta(minutes=2)
_SCOPES: Final = frozenset({OPERATOR, DATA})  # what a page may ask for, of what its key may


@final
@dataclass(frozen=True, slots=True, eq=False)
class ConsoleSessions:
    """The store knows a session by a hash of its secret, which the browser alone has."""

    credentials: Credentials
    random: Callable[[], str] = secrets.token_urlsafe

    def begin(self, credential: str) -> tuple[str, Caller]:
        """A session's secret, for a key with the operator's scope."""
        caller = self.credentials.caller(credential)
        if caller.user is not None or OPERATOR not in caller.scopes or not credential.startswith("kz_"):
            raise Unauthenticated(f"this needs a key with the scope {OPERATOR!r}")
        context, secret = self.credentials.context, self.random()
        now = context.clock()
        session = StoredConsoleSession(secret_hash=_hash(secret), service_key=caller.key, until=now + LIFE)

        def work(transaction: Transaction) -> None:
            for known in transaction.find(StoredConsoleSession, limit=1_000):
                if known.until <= now:
                    transaction.drop(StoredConsoleSession, known.secret_hash)
            transaction.put(session)
            transaction.append(AuditEntry(id=context.new_id(), at=now, actor=caller.key, action="logged in to the console"))

        context.store.write(work).result()
        return secret, caller

    def caller(self, secret: str) -> Caller | None:
        """Whose session it is, if it is one."""
        context = self.credentials.context
        with context.store.read() as reader:
            session = reader.get(StoredConsoleSession, _hash(secret))
        if session is None or session.until <= context.clock():
            return None
        caller = self.credentials.caller_of_key(session.service_key)
        return caller if caller is not None and OPERATOR in caller.scopes else None

    def token(self, secret: str) -> tuple[str, datetime, Caller]:
        """What the session's page asks the API with, for a moment."""
        caller = self.caller(secret)
        if caller is None:
            raise Unauthenticated("the session has ended")
        lent = Caller(caller.key, caller.scopes & _SCOPES)
        return *self.credentials.create_page_token(lent, TOKEN_LIFE), lent

    def end(self, secret: str) -> None:
        self.credentials.context.store.write(lambda tx: tx.drop(StoredConsoleSession, _hash(secret))).result()


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
