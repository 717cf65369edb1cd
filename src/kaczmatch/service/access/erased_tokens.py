"""Tokens end with their person: whoever was erased is known for a day by a keyed hash, and older tokens are refused.

The key is the secret that signs tokens, which is kept outside the store: who has the store alone cannot try names.
"""

from __future__ import annotations

import hmac
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, final

from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Fact
from kaczmatch.service.domain.store import Reader, Transaction

LONGEST_TOKEN: Final = timedelta(days=1)
_PREFIX = "left:"
_KNOWN_FOR = timedelta(seconds=1)
_AT_ONCE = 1_000


@final
@dataclass(slots=True, eq=False)
class ErasedTokens:
    """Who has left, as of a second ago at most; a work sees it as of now."""

    context: Context
    secret: bytes
    _left: dict[str, datetime] = field(default_factory=dict)
    _read: datetime | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, transaction: Transaction, user: str) -> None:
        """Somebody is being erased."""
        transaction.put(Fact(name=self._name(user), value=self.context.clock().isoformat()))

    def ended(self, user: str, minted: datetime) -> bool:
        """Whether somebody has left since."""
        with self._lock:
            now = self.context.clock()
            if self._read is None or not timedelta(0) <= now - self._read < _KNOWN_FOR:
                with self.context.store.read() as reader:
                    self._left = {fact.name: datetime.fromisoformat(fact.value) for fact in _facts(reader)}
                self._read = now
        return _before(minted, self._left.get(self._name(user)))

    def ended_by_now(self, transaction: Transaction, user: str, minted: datetime) -> bool:
        fact = transaction.get(Fact, self._name(user))
        return _before(minted, None if fact is None else datetime.fromisoformat(fact.value))

    def _name(self, user: str) -> str:
        return _PREFIX + hmac.digest(self.secret, user.encode(), "sha256").hex()


def drop_expired(context: Context) -> int:
    """Those whose last token has expired."""
    limit = context.clock() - LONGEST_TOKEN
    with context.store.read() as reader:
        old = [fact.name for fact in _facts(reader) if datetime.fromisoformat(fact.value) < limit]

    def work(transaction: Transaction) -> None:
        for name in old:
            transaction.drop(Fact, name)

    if old:
        context.store.write(work).result()
    return len(old)


def _before(minted: datetime, left: datetime | None) -> bool:
    return left is not None and minted <= left


def _facts(reader: Reader) -> Iterator[Fact]:
    last = _PREFIX
    while page := reader.find(Fact, after=(last,), limit=_AT_ONCE):
        for fact in page:
            if not fact.name.startswith(_PREFIX):
                return
            yield fact
        last = page[-1].name
