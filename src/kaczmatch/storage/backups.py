"""Backups: one SQLite file, whichever database it is of. It is called a backup once it has been checked.

Because the file is the same for both, it also takes a service from SQLite to PostgreSQL, and back.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from sqlalchemy.engine import make_url

from kaczmatch.core.errors import InvalidInput
from kaczmatch.storage.connecting import connected
from kaczmatch.storage.copying import copy, counts, empty, forget_processes, go_on_from, last_numbers
from kaczmatch.storage.database import count_numbers
from kaczmatch.storage.errors import SchemaOutOfDate
from kaczmatch.storage.migrating import migrate, pending
from kaczmatch.storage.sql import SqlStore
from kaczmatch.storage.sqlite import Sqlite

Progress = Callable[[str, int, int], None]  # a stage, steps done, steps in all

_PAGES: Final = 1_000  # of the file between two calls of `progress`
_BEYOND: Final = 1_000_000  # numbers that are skipped after a restore: some may have been given after the backup was made


@final
@dataclass(frozen=True, slots=True)
class Replayed:
    """How many people and events a check has gone through."""

    people: int
    events: int


Check = Callable[[SqlStore, Progress], Replayed]  # raises where what is stored is not sound


@final
@dataclass(frozen=True, slots=True)
class Backup:
    """What a checked file holds."""

    file: Path
    rows: int
    people: int
    events: int


def back_up(url: str, file: Path, check: Check, progress: Progress, *, force: bool = False) -> Backup:
    """The database as of one moment, while it is in use."""
    if file.exists() and not force:
        raise InvalidInput("file", f"{file} is there already; choose another name, or --force to replace it")
    with _new_beside(file) as made:
        database = connected(url)
        try:
            expected = (
                _from_sqlite(database, made, progress) if isinstance(database, Sqlite) else _from_server(url, made, progress)
            )
        finally:
            database.close()
        checked = _checked(made, check, progress, expected)
        _in_place(made, file)
    return Backup(file, checked.rows, checked.people, checked.events)


def restore(file: Path, url: str, check: Check, progress: Progress, *, force: bool = False) -> Backup:
    """A checked copy of a backup takes the place of a database; the backup stays as it is."""
    if not file.is_file():
        raise InvalidInput("file", f"there is no file {file}")
    target = make_url(url)
    place = Path(target.database or "") if target.get_backend_name() == "sqlite" else None
    if place is not None and place.exists() and not force:
        raise InvalidInput("database", f"{place} is there already; stop the service and use --force to replace it")
    if place is not None:
        _not_in_use(place)  # said now, and asked again once the backup was checked
    with _new_beside(place or Path(tempfile.gettempdir()) / "restoring") as made:
        with file.open("rb") as source, made.open("wb") as sink:
            while piece := source.read(1 << 20):
                sink.write(piece)
        checked = _checked(made, check, progress, None)
        if place is None:
            _into_server(made, url, progress, force=force)
        else:
            _skip_numbers(made)
            _not_in_use(place)
            for ending in ("-wal", "-shm"):
                place.with_name(place.name + ending).unlink(missing_ok=True)
            _in_place(made, place)
    return Backup(file, checked.rows, checked.people, checked.events)


def _from_sqlite(database: Sqlite, made: Path, progress: Progress) -> dict[str, int]:
    """SQLite's own online backup, within one read transaction: others may write meanwhile, and it does not start over."""
    with database.readers.connect() as connection:
        expected = counts(connection)
        raw = connection.connection.driver_connection
        if not isinstance(raw, sqlite3.Connection):
            raise TypeError("SQLite comes by Python's own driver")

        with closing(sqlite3.connect(made)) as copied, made.open("rb") as written:

            def copied_pages(status: int, remaining: int, total: int) -> None:
                del status
                os.fsync(written.fileno())  # all at once in the end, commits of the service would wait for it
                progress("copying", total - remaining, total)

            raw.backup(copied, pages=_PAGES, progress=copied_pages)
    return expected


def _from_server(url: str, made: Path, progress: Progress) -> dict[str, int]:
    migrate(f"sqlite:///{made}")
    source, target = connected(url), connected(f"sqlite:///{made}")
    try:
        with source.readers.connect() as reading, target.writer.begin() as writing:
            expected = copy(reading, target, writing, lambda done, total: progress("copying", done, total))
            go_on_from(target, writing, last_numbers(source, reading))
    finally:
        source.close()
        target.close()
    return expected


def _into_server(made: Path, url: str, progress: Progress, *, force: bool) -> None:
    migrate(url)
    source, target = connected(f"sqlite:///{made}"), connected(url)
    try:
        with source.readers.connect() as reading, target.writer.begin() as writing:
            target.lock_out_others(writing)
            if any(counts(writing).values()):
                if not force:
                    problem = "the database is not empty; stop the service and use --force to replace what is in it"
                    raise InvalidInput("database", problem)
                empty(writing)
            expected = copy(reading, target, writing, lambda done, total: progress("restoring", done, total))
            if counts(writing) != expected:
                raise InvalidInput("database", "not every row arrived; nothing was changed")
            forget_processes(writing)
            go_on_from(target, writing, _later(last_numbers(source, reading)))
            count_numbers(writing, target.placeholder, _BEYOND)
    finally:
        source.close()
        target.close()


def _checked(made: Path, check: Check, progress: Progress, expected: dict[str, int] | None) -> Backup:
    """A sound file, with the tables of this release, complete, and sound in what it holds."""
    progress("checking the file", 0, 1)
    try:
        with closing(sqlite3.connect(made)) as raw:
            found = [row[0] for row in raw.execute("PRAGMA integrity_check").fetchmany(3)]
            ours = raw.execute("SELECT count(*) FROM sqlite_master WHERE name IN ('alembic_version', 'events')").fetchone()[0]
    except sqlite3.DatabaseError as error:
        found, ours = [str(error)], 0
    if found != ["ok"]:
        raise InvalidInput("backup", f"the file is damaged: {'; '.join(found)}")
    if ours != 2:
        raise InvalidInput("backup", "the file is no database of kaczmatch")
    url = f"sqlite:///{made}"
    try:
        lacking = pending(url)
    except SchemaOutOfDate as error:
        raise InvalidInput("backup", str(error)) from None
    if lacking and expected is not None:
        raise InvalidInput("database", "its tables are not those of this release: run `kaczmatch migrate` first")
    migrate(url)  # an older backup is brought up to date, in the copy
    store = SqlStore(url, readers=2)
    try:
        with store.database.readers.connect() as connection:
            held = counts(connection)
        if expected is not None and held != expected:
            raise InvalidInput("backup", "not every row arrived; there is no backup")
        replayed = check(store, progress)
        with store.database.readers.connect() as connection:
            held = counts(connection)
    finally:
        store.close()
    with closing(sqlite3.connect(made)) as raw:
        raw.execute("PRAGMA journal_mode = DELETE").fetchone()  # a backup is one file, without a log beside it
    return Backup(made, sum(held.values()), replayed.people, replayed.events)


def _skip_numbers(made: Path) -> None:
    database = connected(f"sqlite:///{made}")
    try:
        with database.writer.begin() as connection:
            go_on_from(database, connection, _later(last_numbers(database, connection)))
            count_numbers(connection, database.placeholder, _BEYOND)
    finally:
        database.close()


def _later(numbers: dict[str, int]) -> dict[str, int]:
    return {table: last + _BEYOND for table, last in numbers.items()}


def _not_in_use(place: Path) -> None:
    """Leaving the log mode needs the file for oneself, so it fails while a service has it open."""
    if not place.exists():
        return
    try:
        with closing(sqlite3.connect(place, timeout=0.5)) as raw:
            raw.execute("PRAGMA journal_mode = DELETE").fetchone()
    except sqlite3.OperationalError:
        raise InvalidInput("database", f"{place} is in use: stop the service first") from None
    except sqlite3.DatabaseError:
        pass  # damaged, which may be why it is to be replaced


@contextmanager
def _new_beside(file: Path) -> Iterator[Path]:
    """A name in the same folder for a file in the making, gone afterwards unless it was put in place."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=f".{file.name}-") as folder:  # for its owner's eyes only
        made = Path(folder) / "database"
        made.touch(mode=0o600)
        yield made


def _in_place(made: Path, file: Path) -> None:
    """On disk first, then under its name, then the name on disk."""
    with made.open("rb") as written:
        os.fsync(written.fileno())
    made.replace(file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
