"""All records of one database into another, of either kind: logs keep their numbers, and none is given twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from sqlalchemy import Connection

from kaczmatch.service.domain.records import RECORDS, LogRecord, Record, ServingProcess
from kaczmatch.storage.codec import codec
from kaczmatch.storage.database import Database, quoted, rows_of
from kaczmatch.storage.postgres import Postgres

Progress = Callable[[int, int], None]  # rows done, rows in all

_AT_ONCE: Final = 2_000


def counts(connection: Connection) -> dict[str, int]:
    """How many rows each table has."""
    return {kind.table: int(rows_of(connection, f'SELECT count(*) FROM "{kind.table}"', ())[0][0]) for kind in RECORDS}


def copy(reading: Connection, target: Database, writing: Connection, progress: Progress) -> dict[str, int]:
    """Every row, within the two transactions; says how many there were in each table.

    On PostgreSQL all lines of logs get the id of this transaction: they come before everything that is written afterwards.
    """
    expected = counts(reading)
    done, total = 0, sum(expected.values())
    for kind in RECORDS:
        for page in _pages(reading, kind):
            target.upsert(writing, kind, [_same_in_both(kind, row) for row in page])
            done += len(page)
            progress(done, total)
    return expected


def last_numbers(database: Database, connection: Connection) -> dict[str, int]:
    """The last number that each log has given, to a line that may be gone by now."""
    found = {}
    for kind in _logs():
        if isinstance(database, Postgres):
            sequence = rows_of(connection, "SELECT pg_get_serial_sequence(%s, 'number')", (f'"{kind.table}"',))[0][0]
            ((last, called),) = rows_of(connection, f"SELECT last_value, is_called FROM {sequence}", ())
            found[kind.table] = int(last) if called else 0
        else:
            rows = rows_of(connection, "SELECT seq FROM sqlite_sequence WHERE name = ?", (kind.table,))
            found[kind.table] = int(rows[0][0]) if rows else 0
    return found


def go_on_from(database: Database, connection: Connection, numbers: dict[str, int]) -> None:
    """Logs go on beyond these numbers."""
    for table, last in numbers.items():
        if isinstance(database, Postgres):
            statement = "SELECT setval(pg_get_serial_sequence(%s, 'number'), %s, %s)"
            rows_of(connection, statement, (f'"{table}"', max(last, 1), last > 0))
        else:
            connection.exec_driver_sql("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
            connection.exec_driver_sql("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, last))


def _same_in_both(kind: type[Record], row: Sequence[Any]) -> tuple[Any, ...]:
    """SQLite has 0 and 1 where PostgreSQL has false and true."""
    return tuple(bool(value) if column.type is bool else value for column, value in zip(codec(kind).columns, row, strict=True))


def empty(connection: Connection) -> None:
    """Take every row away from a server, and its files with them: what was to be scrubbed there is gone too."""
    connection.exec_driver_sql(f"TRUNCATE {quoted(kind.table for kind in RECORDS)}")


def forget_processes(connection: Connection) -> None:
    """Where the processes of another server stood in its logs says nothing here: snapshots of theirs are not used."""
    connection.exec_driver_sql(f'DELETE FROM "{ServingProcess.table}"')


def _logs() -> Iterator[type[Record]]:
    return (kind for kind in RECORDS if issubclass(kind, LogRecord))


def _pages(connection: Connection, kind: type[Record]) -> Iterator[Sequence[Sequence[Any]]]:
    statement = f'SELECT {quoted(codec(kind).names)} FROM "{kind.table}" ORDER BY {quoted(kind.listed_by())}'
    streaming = connection.execution_options(stream_results=True, max_row_buffer=_AT_ONCE)
    with streaming.exec_driver_sql(statement) as result:
        yield from result.partitions(_AT_ONCE)
