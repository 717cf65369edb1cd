"""The migrations lead to the tables of the records, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect

from kaczmatch.service.domain.records import RECORDS, HeldPerson, LogRecord
from kaczmatch.storage import SchemaOutOfDate, SqlStore
from kaczmatch.storage.connecting import connected
from kaczmatch.storage.database import Database
from kaczmatch.storage.migrating import configured, migrate, pending
from kaczmatch.storage.schema import METADATA

STEPS = [script.revision for script in ScriptDirectory.from_config(configured()).walk_revisions()][::-1]


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/100% new.db"
    else:
        server = request.getfixturevalue("postgres")
        address = server.new("template0")
        yield address
        server.drop(address)


def no_part(name: str | None, kind: str, _: object) -> bool:
    """PostgreSQL lists the parts of a table as tables."""
    return kind != "table" or name in METADATA.tables


def same_as_the_records(url: str) -> None:
    database = connected(url)
    try:
        with database.readers.connect() as connection:
            options = {"compare_type": True, "compare_server_default": True, "include_name": no_part}
            context = MigrationContext.configure(connection, opts=options)
            assert compare_metadata(context, METADATA) == []
            for kind in RECORDS:
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
