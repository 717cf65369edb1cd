"""The migrations lead to the tables of the records, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import BIGINT, inspect
from sqlalchemy.dialects.postgresql.base import ischema_names

from kaczmatch.service.domain.records import RECORDS, HeldPerson, LogRecord
from kaczmatch.storage import SchemaOutOfDate, SqlStore, migrating
from kaczmatch.storage.connecting import connected
from kaczmatch.storage.database import Database
from kaczmatch.storage.migrating import FOLDER, configured, migrate, pending
from kaczmatch.storage.schema import METADATA
from worlds.stores import MIGRATE

STEPS = [script.revision for script in ScriptDirectory.from_config(configured()).walk_revisions()][::-1]


@pytest.fixture(autouse=True)
def in_earnest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrating, "_migrate", MIGRATE)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/100% new.db"
    else:
        server = request.getfixturevalue("postgres")
        address = server.new("template0")
        yield address
        server.drop(address)


ischema_names["xid8"] = BIGINT  # SQLAlchemy does not know the type


def of_the_records(name: str | None, kind: str, _: object) -> bool:
    """PostgreSQL lists the parts of a table as tables, and its logs have a column of their own."""
    return name in METADATA.tables if kind == "table" else "txid" not in (name or "")


def same_as_the_records(url: str) -> None:
    database = connected(url)
    try:
        with database.readers.connect() as connection:
            options = {"compare_type": True, "compare_server_default": True, "include_name": of_the_records}
            context = MigrationContext.configure(connection, opts=options)
            assert compare_metadata(context, METADATA) == []
            for kind in RECORDS:
                names = {column["name"] for column in inspect(connection).get_columns(kind.table)}
                assert ("txid" in names) == (issubclass(kind, LogRecord) and url.startswith("postgresql"))
                key = inspect(connection).get_pk_constraint(kind.table)["constrained_columns"]
                assert key == (["number"] if issubclass(kind, LogRecord) else list(kind.key))
    finally:
        database.close()


def test_from_nothing(url: str) -> None:
    assert pending(url) == tuple(STEPS)
    assert migrate(url) == tuple(STEPS)
    assert pending(url) == migrate(url) == ()
    same_as_the_records(url)


def test_step_by_step(url: str) -> None:
    for step in STEPS:
        assert migrate(url, step) == (step,)
    same_as_the_records(url)


def test_what_a_new_index_sorts_goes_to_a_file_and_what_a_commit_notes_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite sorts in memory otherwise, and a log may be larger."""
    kept, url = list[int](), f"sqlite:///{tmp_path}/new.db"

    def upgrade(config: Config, revision: str) -> None:
        kept.append(config.attributes["connection"].exec_driver_sql("PRAGMA temp_store").scalar())
        command.upgrade(config, revision)

    monkeypatch.setattr(migrating, "command", SimpleNamespace(upgrade=upgrade))
    migrate(url)
    with closing(SqlStore(url)) as store, store.database.writer.connect() as connection:
        kept.append(connection.exec_driver_sql("PRAGMA temp_store").scalar() or 0)
    assert kept == [1, 2]


def test_a_migration_that_is_in_use_is_not_edited() -> None:
    """Tables that somebody has are brought to the next release by a further migration: make migration words="what changes"."""
    file = FOLDER / "versions" / "v0001_first_tables.py"
    assert sha256(file.read_bytes()).hexdigest() == "b9763a723252656e19a8150b010be85c4dae1eeeb91565c8d4bb44398dbc17eb"


def columns_of(url: str) -> dict[str, dict[str, tuple[str, bool]]]:
    """Every table with its columns: what they hold, and whether they may be empty."""
    database = connected(url)
    with closing(database), database.readers.connect() as connection:
        found = inspect(connection)
        return {
            table: {column["name"]: (str(column["type"]), bool(column["nullable"])) for column in found.get_columns(table)}
            for table in found.get_table_names()
        }


def not_expanded(before: dict[str, dict[str, tuple[str, bool]]], after: dict[str, dict[str, tuple[str, bool]]]) -> list[str]:
    """What code of the release before would stumble over."""
    found = [f"{table} is gone" for table in before if table not in after]
    for table in before.keys() & after.keys():
        was, now = before[table], after[table]
        found += [f"{table}.{name} is gone or has changed" for name in was if now.get(name) != was[name]]
        found += [f"{table}.{name} is new and may not be empty" for name in now.keys() - was.keys() if not now[name][1]]
    return found


def test_migrations_only_expand(url: str) -> None:
    """So that the release before goes on serving while machines are upgraded one by one (docs/several-machines.md)."""
    migrate(url, STEPS[0])
    scripts, before = ScriptDirectory.from_config(configured()), columns_of(url)
    for step in STEPS[1:]:
        migrate(url, step)
        before, last = columns_of(url), before
        script = scripts.get_revision(step)
        if not getattr(script and script.module, "CONTRACTS", ""):
            assert not_expanded(last, before) == [], step


def test_what_does_not_expand_is_noticed() -> None:
    before = {"events": {"id": ("TEXT", False), "at": ("BIGINT", True)}, "old": {}}
    after = {
        "events": {"id": ("BIGINT", False), "new": ("TEXT", False), "maybe": ("TEXT", True)},
        "more": {"id": ("TEXT", False)},
    }
    assert sorted(not_expanded(before, after)) == [
        "events.at is gone or has changed",
        "events.id is gone or has changed",
        "events.new is new and may not be empty",
        "old is gone",
    ]


def test_an_empty_file_is_set_up_and_an_empty_server_says_how(url: str) -> None:
    if url.startswith("sqlite"):
        store = SqlStore(url)
        store.write(lambda tx: tx.put(HeldPerson(user="a", actor="1"))).result()
        store.close()
        same_as_the_records(url)
    else:
        with pytest.raises(SchemaOutOfDate, match="kaczmatch migrate"):
            SqlStore(url)
        migrate(url)
        SqlStore(url).close()


def statement(database: Database, text: str) -> None:
    with database.writer.begin() as connection:
        connection.exec_driver_sql(text)


def test_a_database_of_a_later_release_is_left_alone(url: str) -> None:
    migrate(url)
    database = connected(url)
    statement(database, "UPDATE alembic_version SET version_num = '9999'")
    database.close()
    with pytest.raises(SchemaOutOfDate, match="upgrade kaczmatch"):
        SqlStore(url)


def test_migrated_sqlite_is_what_the_records_would_create(tmp_path: Path) -> None:
    """Letter by letter, apart from the order of columns' constraints, which Alembic writes in its own way."""
    made, migrated = f"sqlite:///{tmp_path}/made.db", f"sqlite:///{tmp_path}/migrated.db"
    migrate(migrated)
    texts = []
    for url in (made, migrated):
        database = connected(url)
        with database.writer.begin() as connection:
            if url == made:
                METADATA.create_all(connection)
            rows = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE '%alembic%'").fetchall()
        database.close()
        texts.append({name: sorted(" ".join(text.split()).split(", ")) for name, text in rows if text})
    assert texts[0] == texts[1]
