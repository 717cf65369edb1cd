"""What the store needs from a database, and the SQL that all databases share.

Statements are text with placeholders. A swipe reads and writes some fifteen rows; to build or compile statements for each would
cost more than the database does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any, Final, TypeVar, final

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from kaczmatch.service.domain.records import Record
from kaczmatch.storage.codec import LARGEST, Codec, Row, codec

R = TypeVar("R", bound=Record)


class ErrorKind(Enum):
    """What an error of the database means, and so what to do about it."""

    TRANSIENT = "a lost race or connection: try again"
    OUTAGE = "no disk or no server: the store is unavailable"
    WORK_AT_FAULT = "the work wrote what the database refuses"


def quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


class Database(ABC):
    """One kind of database: how to connect, how to read and write many rows at once, what its errors mean."""

    placeholder: str  # for a value in a statement
    writer: Engine
    readers: Engine

    @abstractmethod
    def fetch(self, connection: Connection, kind: type[Record], keys: Sequence[Row]) -> Sequence[Sequence[Any]]:
        """The rows with these keys; those there are."""

    @abstractmethod
    def upsert(self, connection: Connection, kind: type[Record], rows: Sequence[Row]) -> None:
        """Rows whose keys differ, added or replaced."""

    @abstractmethod
    def append(self, connection: Connection, kind: type[Record], rows: Sequence[Row]) -> None:
        """Lines of a log, numbered in their order. The first value of each row is ignored: it is the number."""

    @abstractmethod
    def delete(self, connection: Connection, kind: type[Record], keys: Sequence[Row]) -> None:
        """The rows with these keys are gone."""

    @abstractmethod
    def start(self, connection: Connection, locks: Sequence[str]) -> None:
        """Begin a commit and take these locks until it ends."""

    @abstractmethod
    def after_commit(self) -> None:
        """What the database needs done after a commit."""

    @abstractmethod
    def was_committed(self) -> bool | None:
        """Whether a commit that was cut off is in the database. None: nobody can tell."""

    @abstractmethod
    def kind_of(self, error: DBAPIError) -> ErrorKind:
        """What an error means."""

    @abstractmethod
    def scrub(self) -> None:
        """Overwrite what deleted rows have left in the files of the database."""

    @abstractmethod
    def lock_out_others(self, connection: Connection) -> None:
        """Until the transaction ends, no other process writes."""

    @abstractmethod
    def may_set_up(self) -> bool:
        """Whether a store may set up an empty database without being asked."""

    @final
    def close(self) -> None:
        self.writer.dispose()
        self.readers.dispose()


def rows_of(connection: Connection, statement: str, values: Sequence[Any]) -> Sequence[Sequence[Any]]:
    return connection.exec_driver_sql(statement, tuple(values)).fetchall()


SEARCHES: Final = 512


@lru_cache(SEARCHES)
def _search(
    code: Codec[Any],
    placeholder: str,
    equal: tuple[tuple[str, bool], ...],
    after: int,
    newest: bool,
    limited: bool,
    skipping: bool,
) -> str:
    """The text of a search; `equal` are names, and whether they are to be null."""
    kind = code.kind
    order = kind.listed_by()
    conditions = [f'"{name}" IS NULL' if null else f'"{name}" = {placeholder}' for name, null in equal]
    if after:
        conditions.append(f"({quoted(order[:after])}) {'<' if newest else '>'} ({', '.join([placeholder] * after)})")
    direction = " DESC" if newest else ""
    return (
        f'SELECT {quoted(code.names)} FROM "{kind.table}"'
        + (f" WHERE {' AND '.join(conditions)}" if conditions else "")
        + " ORDER BY "
        + ", ".join(f'"{name}"{direction}' for name in order)
        + (f" LIMIT {placeholder}" if limited else "")
        + (f" OFFSET {placeholder}" if skipping else "")
    )


def search(
    database: Database,
    connection: Connection,
    kind: type[R],
    *,
    after: Sequence[Any],
    newest: bool,
    skip: int,
    limit: int | None,
    equal: dict[str, Any],
) -> list[R]:
    """`Reader.find`."""
    code = codec(kind)
    compared = [(name, code.value(name, value)) for name, value in equal.items()]
    values = [value for _, value in compared if value is not None]
    values += listed_values(code, after)
    if skip and limit is None:
        limit = LARGEST  # SQLite skips only where there is a limit
    values += [*([] if limit is None else [limit]), *([skip] if skip else [])]
    nulls = tuple((name, value is None) for name, value in compared)
    statement = _search(code, database.placeholder, nulls, len(after), newest, limit is not None, skip > 0)
    return [code.record(row) for row in rows_of(connection, statement, values)]


def delete_through(database: Database, connection: Connection, kind: type[Record], last: Row) -> None:
    """`Transaction.drop_through`, to a place as it is stored."""
    places = ", ".join([database.placeholder] * len(last))
    connection.exec_driver_sql(f'DELETE FROM "{kind.table}" WHERE ({quoted(kind.listed_by()[: len(last)])}) <= ({places})', last)


def listed_values(code: Codec[Any], place: Sequence[Any]) -> list[Any]:
    """A place in the order of a kind, as it is stored."""
    order = code.kind.listed_by()
    if len(place) > len(order):
        raise TypeError(f"{code.kind.__name__} is listed by {', '.join(order)}; {len(place)} values were given")
    return [code.value(name, value) for name, value in zip(order, place, strict=False)]


def count(database: Database, connection: Connection, kind: type[Record], equal: dict[str, Any]) -> int:
    """`Reader.count`."""
    compared = [(name, codec(kind).value(name, value)) for name, value in equal.items()]
    conditions = " AND ".join(
        f'"{name}" IS NULL' if value is None else f'"{name}" = {database.placeholder}' for name, value in compared
    )
    statement = f'SELECT count(*) FROM "{kind.table}"' + (f" WHERE {conditions}" if conditions else "")
    return int(rows_of(connection, statement, [value for _, value in compared if value is not None])[0][0])
