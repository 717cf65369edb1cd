"""Bring the tables of a database up to date, by Alembic."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from kaczmatch.storage.connecting import connected
from kaczmatch.storage.database import Database
from kaczmatch.storage.errors import SchemaOutOfDate

FOLDER = Path(__file__).parent / "migrations"


def configured(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.set_main_option("file_template", "v%%(rev)s_%%(slug)s")
    config.attributes["connection"] = connection
    return config


def migrate(url: str, revision: str = "head") -> tuple[str, ...]:
    """Bring a database to a revision; which ones that took."""
    database = connected(url, sorts=True)
    try:
        with database.writer.begin() as connection:
            return _migrate(database, connection, revision)
    finally:
        database.close()


def pending(url: str) -> tuple[str, ...]:
    """The revisions that a database lacks, the first one first."""
    database = connected(url)
    try:
        with database.readers.connect() as connection:
            return _pending(connection)
    finally:
        database.close()


def prepare(database: Database) -> None:
    """Before a store opens: set up an empty file, or say what a database lacks."""
    with database.readers.connect() as connection:
        lacking = _pending(connection)
        empty = _revision(connection) is None
    if lacking and empty and database.may_set_up():
        with database.writer.begin() as connection:
            _migrate(database, connection, "head")
    elif lacking:
        raise _lacks(lacking)
    database.adopt()


def is_up_to_date(database: Database, connection: Connection) -> bool:
    """Whether all tables are there. If not, a file is brought up to date when it is served, and a server must be before."""
    lacking = _pending(connection)
    if lacking and not database.may_set_up():
        raise _lacks(lacking)
    return not lacking


def _lacks(lacking: Sequence[str]) -> SchemaOutOfDate:
    return SchemaOutOfDate(f"the database lacks {', '.join(lacking)}: run `kaczmatch migrate`")


def _migrate(database: Database, connection: Connection, revision: str) -> tuple[str, ...]:
    database.lock_out_others(connection)
    before = _pending(connection)
    command.upgrade(configured(connection), revision)
    database.after_migration(connection)
    after = _pending(connection)
    return tuple(name for name in before if name not in after)


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


@cache  # to look for them takes longer than to open a store
def _known() -> tuple[str, ...]:
    """The revisions of this release, the first one first."""
    scripts = ScriptDirectory.from_config(configured())
    return tuple(script.revision for script in scripts.walk_revisions())[::-1]


def _pending(connection: Connection) -> tuple[str, ...]:
    known, revision = _known(), _revision(connection)
    if revision is None:
        return known
    if revision not in known:
        raise SchemaOutOfDate(f"the database is at {revision}, which a later release made: upgrade kaczmatch")
    return known[known.index(revision) + 1 :]
