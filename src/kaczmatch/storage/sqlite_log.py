"""SQLite's write-ahead log: commits write there alone, a thread moves it into the database, and it stays short.

SQLite empties the log only at a moment at which all of it is in the database and nobody reads from it. A checkpoint that waits
for such a moment keeps others from writing meanwhile. So nothing here waits that way, but for one commit now and then.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock, Thread
from typing import Final, final

SYNCED: Final = "PRAGMA synchronous = FULL"
MOVE_EVERY: Final = 2.0  # seconds after which the log is moved into the database: pages written often move once
LONG_LOG: Final = 256 * 2**20  # bytes beyond which a commit waits for readers, so that the log can be emptied
READER_WAIT: Final = 50  # milliseconds that it waits for them
LITTLE: Final = 4 * 2**20  # bytes: a commit waits only where the log is in the database but for so much
PATIENCE: Final = 5.0  # seconds for which it is tried to empty the log
EMPTY_AGAIN: Final = 0.02  # seconds between two tries
_TOO_LONG: Final = "the write-ahead log is long and cannot be emptied: somebody reads for too long, or the disk is full"


@final
class WriteAheadLog:
    """The log beside a database file."""

    def __init__(self, database: Path) -> None:
        self.file = database.with_name(f"{database.name}-wal")
        self._uri = f"{database.absolute().as_uri()}?mode=rw"
        self._too_long = LONG_LOG
        self._moving, self._moved = Lock(), time.monotonic()
        self._left = 0  # bytes that were not in the database when the log was last moved
        self.problem = ""  # why it cannot be kept short; empty: it is

    def after_commit(self) -> None:
        """A thread moves the log from time to time. Where short readers overlap all the time, a commit waits for a moment without
        any. It does not wait for a long reader: the log grows beside it."""
        try:
            length = self.file.stat().st_size
        except FileNotFoundError:
            return
        if not self._moving.acquire(blocking=False):
            return  # the thread is at it
        handed_over = False
        try:
            if length <= LONG_LOG:
                self._too_long = LONG_LOG  # another process may have emptied it
            if length > self._too_long and self._left <= LITTLE:
                emptied = self._shorten()
                self._too_long, self._left = LONG_LOG if emptied else 2 * length, length
                self.problem = "" if emptied else _TOO_LONG
            elif length > self._too_long or time.monotonic() - self._moved > MOVE_EVERY:
                Thread(target=self._move_and_release, args=(length,), name="kaczmatch write-ahead log", daemon=True).start()
                handed_over = True
        finally:
            if not handed_over:
                self._moving.release()

    def empty(self) -> bool:
        """Empty it while commits go on. False: a reader is there that began before the last of them, or the disk is full."""
        until = time.monotonic() + PATIENCE
        with suppress(sqlite3.Error), self._moving, self._connected() as connection:
            while _move(connection) or not _emptied(connection):
                if time.monotonic() >= until:
                    return False
                time.sleep(EMPTY_AGAIN)
            return True
        return False

    def _move_and_release(self, length: int) -> None:
        problem, self._left = "", length
        try:
            with self._connected() as connection:
                self._left = _move(connection)
        except sqlite3.Error as error:  # the log has it all the same
            problem = f"the write-ahead log cannot be moved into the database: {error}"
        finally:
            if length > self._too_long and self._left > LITTLE:
                self._too_long = 2 * length
                problem = problem or _TOO_LONG
            if problem or length <= LONG_LOG:
                self.problem = problem
            self._moved = time.monotonic()
            self._moving.release()

    def _shorten(self) -> bool:
        """Empty the log, if readers end soon and the disk allows it; what is committed is safe in the log."""
        try:
            with self._connected() as connection:
                connection.execute(f"PRAGMA busy_timeout = {READER_WAIT}").close()
                return _emptied(connection)
        except sqlite3.Error:  # a full disk, mostly
            return False

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """A connection of its own: whoever writes has another one. It waits for nobody."""
        with closing(sqlite3.connect(self._uri, timeout=0.0, uri=True)) as connection:
            connection.execute(SYNCED).close()
            yield connection


def _move(connection: sqlite3.Connection) -> int:
    """Move what readers allow of the log into the database, while commits go on. How many bytes are left."""
    busy, length, moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    (page,) = connection.execute("PRAGMA page_size").fetchone()
    return int(page * (max(length - moved, 0) + busy))


def _emptied(connection: sqlite3.Connection) -> bool:
    """Whether the log could be emptied. It keeps others from writing while it moves what is left of it."""
    return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
