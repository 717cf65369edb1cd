"""SQLite: a file, one writer, readers beside it.

The write-ahead log is synced at every commit (`synchronous=FULL`), so what was acknowledged survives a power cut. A statement
reads or writes many rows, a power of two of them, so that few statements serve all sizes. A statement is one step of SQLite, and
between steps other threads of Python may take over.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, Final, final

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError

from kaczmatch.service.domain.records import LogRecord, Record
from kaczmatch.service.domain.store import Cursor, StoreUnavailable
from kaczmatch.storage.codec import Row, codec
from kaczmatch.storage.database import Database, ErrorKind, PlacesOfPages, count_numbers, drive, execute, quoted, rows_of
from kaczmatch.storage.sqlite_log import SYNCED, WriteAheadLog
from kaczmatch.storage.sqlite_statements import STATEMENTS, append, delete, select, select_own, upsert

LARGEST: Final = 256  # rows per statement; with the columns of the widest table far below SQLite's 32,766 values
WAIT: Final = 5.0  # seconds for another process that writes
WAIT_AGAIN: Final = 0.1  # and as long as it goes on writing, so that a queue of works is not told after one time each
LOOK_AGAIN: Final = 0.0005  # seconds until it looks again, and later a twentieth of what it has waited: SQLite's own is longer
LATEST: Final = 0.01  # seconds, so that nobody who has waited long is passed by all who come later
TRANSIENT_CODES: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
OUTAGE_CODES: Final = {
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_PROTOCOL,
}


def parts(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Powers of two, the largest first."""
    start, size = 0, LARGEST
    while start < len(rows):
        while size > len(rows) - start:
            size //= 2
        yield rows[start : start + size]
        start += size


def padded(keys: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Keys in parts of a power of two, filled up with nothing, which no key equals."""
    for start in range(0, len(keys), LARGEST):
        part = keys[start : start + LARGEST]
        yield [*part, *[(None,) * len(part[0])] * ((1 << (len(part) - 1).bit_length()) - len(part))]


@final
class Sqlite(Database):
    """One file, and its log beside it."""

    placeholder = "?"

    def __init__(self, url: URL, readers: int, *, look_only: bool = False, sorts: bool = False) -> None:
        """`look_only`: there is a file, and it is only read. Neither it nor anything beside it is made or changed."""
        if not url.database or url.database == ":memory:":
            raise ValueError("SQLite needs a file; tests without one use MemoryStore")
        self.file = Path(url.database)
        self.log = WriteAheadLog(self.file)
        self._waited_in_vain = False
        if not look_only:
            self._keep_private()
        self._opened = self.file.stat() if self.file.exists() else None
        # MEMORY: what a statement of many rows notes to undo itself goes to no file. FILE: a sort may exceed memory.
        self._temp_store = "FILE" if sorts else "MEMORY"
        self.writer = self._engine(url, 1, writes=True)
        self.readers = create_engine(url, creator=self._looking) if look_only else self._engine(url, readers)
        self.places = PlacesOfPages()

    def _keep_private(self) -> None:
        """Only the owner reads the file. SQLite gives its log and index the same rights."""
        if self.file.parent.is_dir():
            self.file.touch(mode=0o600)
        for file in (self.file, self.log.file, self.file.with_name(f"{self.file.name}-shm")):
            with suppress(FileNotFoundError, PermissionError):  # nor can it be helped where somebody else owns it
                if file.stat().st_mode & 0o077:
                    file.chmod(0o600)

    def _engine(self, url: URL, size: int, *, writes: bool = False) -> Engine:
        arguments = {"timeout": WAIT, "cached_statements": STATEMENTS, "check_same_thread": False}
        # parameters are people's data: they stay out of errors, and so out of logs
        engine = create_engine(url, pool_size=size, max_overflow=0, connect_args=arguments, hide_parameters=True)

        @event.listens_for(engine, "connect")
        def connect(connection: Any, _: Any) -> None:
            connection.isolation_level = None  # SQLAlchemy begins, not the driver
            connection.execute("PRAGMA journal_mode = WAL").close()
            connection.execute(SYNCED).close()
            connection.execute("PRAGMA secure_delete = ON").close()
            # The writer's lasts. A reader's is emptied by every commit, and there are many readers.
            connection.execute(f"PRAGMA cache_size = -{65_536 if writes else 4_096}").close()
            connection.execute("PRAGMA wal_autocheckpoint = 0").close()  # in a commit, everybody would wait for it
            if writes:
                connection.execute(f"PRAGMA temp_store = {self._temp_store}").close()
            # The writer waits before it begins, and has nobody to wait for afterwards.
            connection.execute("PRAGMA busy_timeout = 0" if writes else "PRAGMA query_only = ON").close()

        @event.listens_for(engine, "begin")
        def start(connection: Connection) -> None:
            if writes:
                self._begin_writing(connection)
            else:
                drive(connection, "BEGIN")

        return engine

    def _begin_writing(self, connection: Connection) -> None:
        """Wait for other processes that write, and go on as soon as one of them has ended."""
        began, patience = time.monotonic(), min(WAIT, WAIT_AGAIN) if self._waited_in_vain else WAIT
        while True:
            try:
                drive(connection, "BEGIN IMMEDIATE")
            except DBAPIError as error:
                waited = time.monotonic() - began
                if self.kind_of(error) is not ErrorKind.TRANSIENT:
                    raise
                if waited > patience:  # it was tried often enough
                    self._waited_in_vain = True
                    raise StoreUnavailable("the database is locked: another process has been writing for seconds") from error
                time.sleep(min(max(LOOK_AGAIN, waited / 20), LATEST))
            else:
                self._waited_in_vain = False
                return

    def _looking(self) -> sqlite3.Connection:
        """Without a log nobody has the file open, and no lock is needed, for which SQLite would make files."""
        unused = "" if self.log.file.exists() else "&immutable=1"
        return sqlite3.connect(f"{self.file.absolute().as_uri()}?mode=ro{unused}", uri=True, check_same_thread=False)

    def fetch(
        self,
        connection: Connection,
        kind: type[Record],
        keys: Sequence[Row],
        by: tuple[str, ...] = (),
        only: tuple[str, ...] = (),
    ) -> Sequence[Sequence[Any]]:
        found: list[Sequence[Any]] = []
        for part in padded(keys):
            found += rows_of(connection, select(codec(kind), len(part), by, only), tuple(chain.from_iterable(part)))
        return found

    def fetch_own(self, connection: Connection, kind: type[Record], people: Sequence[Row]) -> Sequence[Sequence[Any]]:
        found: list[Sequence[Any]] = []
        for part in padded(people):
            found += rows_of(connection, select_own(codec(kind), len(part)), tuple(chain.from_iterable(part)))
        return found

    def count(self, connection: Connection, kind: type[Record], keys: Sequence[Row]) -> int:
        """One row for all: between two rows another thread may take over, and this one then waits for it."""
        return sum(
            rows_of(connection, select(codec(kind), len(part), counted=True), tuple(chain.from_iterable(part)))[0][0]
            for part in padded(keys)
        )

    def upsert(self, connection: Connection, kind: type[Record], rows: Sequence[Row], *, replace: bool = True) -> None:
        for part in parts(rows):
            execute(connection, upsert(codec(kind), len(part), replace), tuple(chain.from_iterable(part)))

    def new_numbers(self, connection: Connection, many: int) -> Sequence[int]:
        return count_numbers(connection, self.placeholder, many)

    def append(self, connection: Connection, kind: type[Record], rows: Sequence[Row]) -> None:
        for part in parts(rows):
            execute(connection, append(codec(kind), len(part)), tuple(chain.from_iterable(row[1:] for row in part)))

    def became_visible(
        self, connection: Connection, kind: type[LogRecord], since: Cursor | None, limit: int
    ) -> tuple[Sequence[Sequence[Any]], Cursor]:
        """There is one writer at a time, so commits are in the order of their numbers."""
        names = quoted(codec(kind).names)
        if since is None:
            ((last,),) = rows_of(connection, f'SELECT COALESCE(max("number"), 0) FROM "{kind.table}"', ())
            return (), Cursor(last, last)
        statement = f'SELECT {names} FROM "{kind.table}" WHERE "number" > ? ORDER BY "number" LIMIT ?'
        rows = rows_of(connection, statement, (since.settled, limit))
        last = rows[-1][0] if rows else since.settled
        return rows, Cursor(last, last)

    def delete(self, connection: Connection, kind: type[Record], keys: Sequence[Row]) -> None:
        connection.exec_driver_sql(delete(codec(kind)), list(keys))

    def start(self, connection: Connection, locks: Sequence[str]) -> None:
        """The file has one writer at a time, so every lock is held already.

        A file that was deleted or replaced could be written to until it is closed, and would then be gone.
        """
        del connection, locks
        try:
            found = self.file.stat()
        except OSError as error:
            raise StoreUnavailable(f"the database file cannot be found: {error.strerror}") from error
        if self._opened is not None and not os.path.samestat(found, self._opened):
            raise StoreUnavailable("the database file was replaced: restart the service")

    def after_commit(self) -> None:
        self.log.after_commit()

    @property
    def problem(self) -> str:
        return self.log.problem

    def was_committed(self) -> bool | None:
        return None

    def kind_of(self, error: DBAPIError) -> ErrorKind:
        code = getattr(error.orig, "sqlite_errorcode", None)
        if code is None:
            return ErrorKind.WORK_AT_FAULT
        if code & 0xFF in TRANSIENT_CODES:
            return ErrorKind.TRANSIENT
        return ErrorKind.OUTAGE if code & 0xFF in OUTAGE_CODES else ErrorKind.WORK_AT_FAULT

    def after_migration(self, connection: Connection) -> None:
        """Nothing."""

    def bytes_used(self) -> int:
        return sum(file.stat().st_size for file in (self.file, self.log.file) if file.exists())

    def scrub(self, numbers: Collection[int]) -> None:
        """Deleted rows are overwritten at once (`secure_delete`); copies of their pages in the log go with the log."""
        del numbers  # the log is emptied as a whole
        if not self.log.empty():
            raise StoreUnavailable("somebody reads the database for too long, or its disk is full")

    def adopt(self) -> None:
        """A file is the same everywhere."""

    def lock_out_others(self, connection: Connection) -> None:
        """BEGIN IMMEDIATE has done so."""

    def may_set_up(self) -> bool:
        return True
