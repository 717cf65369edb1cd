"""A store of each kind, and records to put into one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from threading import Event as Signal
from typing import Any

import pytest

from kaczmatch.service.domain.records import Event, LogRecord, Person
from kaczmatch.service.domain.store import Store, Transaction
from kaczmatch.storage import MemoryStore, SqlStore, migrating
from kaczmatch.storage.sqlite import Sqlite

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
PERSON = Person(
    id="ann", version=3, name="Ännchen 🙂 \u202e", i_am=("woman",), i_look_for=("man", "woman"), born=date(2000, 2, 29),
    youngest=18, oldest=99, row=-3, column=None, within_km=0.1, features=bytes(range(256)), features_version=2,
    paused=True, created=NOW, changed=NOW, seen=date(2026, 11, 15),
)  # fmt: skip

MIGRATE = migrating._migrate  # in earnest


def copying(migrated: Path) -> Callable[..., tuple[str, ...]]:
    """A new file gets the tables that another one has, and does not go through all migrations, which take five times as long."""
    SqlStore(f"sqlite:///{migrated}").close()
    with closing(sqlite3.connect(migrated)) as made:
        written = made.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'").fetchall()
        ((last,),) = made.execute("SELECT version_num FROM alembic_version").fetchall()

    def migrate(database: Any, connection: Any, revision: str) -> tuple[str, ...]:
        if revision != "head" or not isinstance(database, Sqlite) or migrating._revision(connection) is not None:
            return MIGRATE(database, connection, revision)
        for (statement,) in written:
            connection.exec_driver_sql(statement)
        connection.exec_driver_sql("INSERT INTO alembic_version VALUES (?)", (last,))
        return migrating._known()

    return migrate


def open_store(kind: str, request: pytest.FixtureRequest, folder: Path) -> Store:
    """In memory, in a file of `folder`, or in a database of the test's PostgreSQL server."""
    if kind == "memory":
        return MemoryStore()
    return SqlStore(request.getfixturevalue("postgres_url") if kind == "postgres" else f"sqlite:///{folder}/store.db")


def event(user: str, id: str, **fields: Any) -> Event:
    return Event(**{"user": user, "id": id, "kind": "swiped", "at": NOW} | fields)


def put(store: Store, *records: Any) -> None:
    def work(transaction: Transaction) -> None:
        for record in records:
            transaction.append(record) if isinstance(record, LogRecord) else transaction.put(record)

    store.write(work).result()


@contextmanager
def held(store: SqlStore) -> Iterator[None]:
    """What is written meanwhile waits."""
    entered, go = Signal(), Signal()

    def work(transaction: Transaction) -> None:
        entered.set()
        go.wait(30)

    future = store.write(work)
    entered.wait(30)
    try:
        yield
    finally:
        go.set()
        future.result()
