"""Tokens of erased people are refused. Their ids are kept for one day as keyed hashes.

The key is the secret that signs tokens. It is kept outside the store, so an attacker with a copy of the database cannot test
guesses.
"""

from __future__ import annotations

import hmac
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, final

from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import ErasedUser
from kaczmatch.service.domain.store import Reader, Transaction

LONGEST_TOKEN: Final = timedelta(days=1)
_KNOWN_FOR = timedelta(seconds=1)
_AT_ONCE = 1_000


@final
@dataclass(slots=True, eq=False)
class ErasedTokens:
    """Who was erased, as of at most one second ago. A work sees it as of now."""

    context: Context
    secret: bytes
    _left: dict[str, datetime] = field(default_factory=dict)
    _read: datetime | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def record_erasure(self, transaction: Transaction, user: str) -> None:
        """Somebody is being erased."""
        transaction.put(ErasedUser(user_hash=self._hash(user), at=self.context.clock()))

    def is_ended(self, user: str, issued: datetime) -> bool:
        """Whether the person of a token was erased after it was issued."""
        with self._lock:
            now = self.context.clock()
            if self._read is None or not timedelta(0) <= now - self._read < _KNOWN_FOR:
                with self.context.store.read() as reader:
                    self._left = {one.user_hash: one.at for one in _erased_users(reader)}
                self._read = now
        return _before(issued, self._left.get(self._hash(user)))

    def is_ended_in(self, transaction: Transaction, user: str, issued: datetime) -> bool:
        erased = transaction.get(ErasedUser, self._hash(user))
        return _before(issued, None if erased is None else erased.at)

    def was_erased_in(self, transaction: Reader, user: str) -> bool:
        """Whether a person of this name was erased within the last day."""
        return transaction.get(ErasedUser, self._hash(user)) is not None

    def _hash(self, user: str) -> str:
        return hmac.digest(self.secret, user.encode(), "sha256").hex()


def drop_expired(context: Context) -> int:
    """Drop the hashes of people whose last token has expired. Returns how many."""
    limit = context.clock() - LONGEST_TOKEN
    with context.store.read() as reader:
        old = [one.user_hash for one in _erased_users(reader) if one.at < limit]

    def work(transaction: Transaction) -> None:
        for user_hash in old:
            transaction.drop(ErasedUser, user_hash)

    if old:
        context.store.write(work).result()
    return len(old)


def _before(issued: datetime, left: datetime | None) -> bool:
    return left is not None and issued <= left


def _erased_users(reader: Reader) -> Iterator[ErasedUser]:
    last: tuple[str, ...] = ()
    while page := reader.find(ErasedUser, after=last, limit=_AT_ONCE):
        yield from page
        last = (page[-1].user_hash,)
