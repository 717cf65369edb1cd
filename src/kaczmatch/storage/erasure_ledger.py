"""Who was erased, in a file outside the database and its backups: restoring a backup erases again who was erased since.

A line is a time and a hash of the id under a secret of the service, so the file names nobody.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import final

from kaczmatch.service.domain.store import StoreUnavailable


@final
@dataclass(frozen=True, slots=True)
class ErasureLedger:
    """A file that is only appended to. Processes may share it."""

    file: Path
    secret: bytes

    def record(self, user: str, at: datetime) -> None:
        """Somebody is being erased. When this returns, it is on disk."""
        # Whatever a crash left of the last line ends before this one.
        line = f"\n{at.isoformat()} {self._hash(user)}\n".encode()
        try:
            new = not self.file.exists()
            opened = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(opened, line)
                os.fsync(opened)
            finally:
                os.close(opened)
            if new:
                _sync_folder(self.file.parent)
        except OSError as error:
            raise StoreUnavailable(f"the ledger of erasures {self.file} cannot be written: {error.strerror}") from error

    def last_erasures(self) -> LastErasures:
        found: dict[str, datetime] = {}
        for at, user_hash in self._lines():
            found[user_hash] = max(at, found.get(user_hash, at))
        return LastErasures(self, found)

    def _lines(self) -> Iterator[tuple[datetime, str]]:
        if not self.file.exists():
            return
        with self.file.open() as lines:
            for line in lines:
                at, _, user_hash = line.rstrip("\n").partition(" ")
                if len(user_hash) == 64:  # not what a crash left
                    yield datetime.fromisoformat(at), user_hash

    def _hash(self, user: str) -> str:
        return hmac.digest(self.secret, b"erasure:" + user.encode(), "sha256").hex()


@final
@dataclass(frozen=True, slots=True)
class LastErasures:
    """When each person was last erased, by hash."""

    ledger: ErasureLedger
    by_hash: dict[str, datetime]

    def erased_since(self, user: str, created: datetime) -> bool:
        """Whether somebody who came at a time was erased afterwards. Who has come again since is somebody new."""
        at = self.by_hash.get(self.ledger._hash(user))
        return at is not None and at >= created


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
