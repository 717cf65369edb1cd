"""What the store needs from a database.

Statements are text with placeholders. A swipe reads and writes some fifteen rows; to build or compile statements for each would
cost more than the database does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from enum import Enum
from threading import Lock
from typing import Any, Final, TypeVar, final

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from kaczmatch.service.domain.records import SINGLE_ROW, LastPersonNumber, LogRecord, Record
from kaczmatch.service.domain.store import Cursor
from kaczmatch.storage.codec import Row

Otherwise = TypeVar("Otherwise")

MOST_PLACES: Final = 4_096


class ErrorKind(Enum):
    """What an error of the database means, and so what to do about it."""

    TRANSIENT = "a lost race or connection: try again"
    OUTAGE = "no disk or no server: the store is unavailable"
    WORK_AT_FAULT = "the work wrote what the database refuses"


def quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


@final
class PlacesOfPages:
    """With which people the last pages ended, by a hash that only this process knows: memory names nobody."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._lock = Lock()

    def put(self, person: int, number: int) -> None:
        with self._lock:
            self._numbers.pop(person, None)
            self._numbers[person] = number
            if len(self._numbers) > MOST_PLACES:
                del self._numbers[next(iter(self._numbers))]

    def get(self, person: int, otherwise: Otherwise) -> int | Otherwise:
        return self._numbers.get(person, otherwise)


class Database(ABC):
    """One kind of database: how to connect, how to read and write many rows at once, what its errors mean."""

    placeholder: str  # for a value in a statement
    writer: Engine
    readers: Engine
    places: PlacesOfPages

    @abstractmethod
    def fetch(
        self,
        connection: Connection,
        kind: type[Record],
        keys: Sequence[Row],
        by: tuple[str, ...] = (),
        only: tuple[str, ...] = (),
    ) -> Sequence[Sequence[Any]]:
        """The rows with these keys; those there are. With `by`, the keys are values of those columns. `only`: these columns."""

    @abstractmethod
    def fetch_own(self, connection: Connection, kind: type[Record], people: Sequence[Row]) -> Sequence[Sequence[Any]]:
        """Rows of a kind whose key is a person, each after the person's id. `people` are keys of `PersonNumber`."""

    @abstractmethod
    def count(self, connection: Connection, kind: type[Record], keys: Sequence[Row]) -> int:
        """How many of these keys have a row."""

    @abstractmethod
    def upsert(self, connection: Connection, kind: type[Record], rows: Sequence[Row], *, replace: bool = True) -> None:
        """Rows whose keys differ, added; those that are there already are replaced, or stay as they are."""

    @abstractmethod
    def new_numbers(self, connection: Connection, many: int) -> Sequence[int]:
        """So many that were never given before, in their order."""

    @abstractmethod
    def append(self, connection: Connection, kind: type[Record], rows: Sequence[Row]) -> None:
        """Lines of a log, numbered in their order. The first value of each row is ignored: it is the number."""

    @abstractmethod
    def became_visible(
        self, connection: Connection, kind: type[LogRecord], since: Cursor | None, limit: int
    ) -> tuple[Sequence[Sequence[Any]], Cursor]:
        """`Snapshot.became_visible`, as rows."""

    @abstractmethod
    def delete(self, connection: Connection, kind: type[Record], keys: Sequence[Row]) -> None:
        """The rows with these keys are gone."""

    @abstractmethod
    def start(self, connection: Connection, locks: Sequence[str]) -> None:
        """Begin a commit and take these locks until it ends."""

    @abstractmethod
    def after_commit(self) -> None:
        """What the database needs done after a commit."""

    @property
    @abstractmethod
    def problem(self) -> str:
        """Why what is to be done beside commits cannot be done; empty: it can. Commits go on all the same."""

    @abstractmethod
    def was_committed(self) -> bool | None:
        """Whether a commit that was cut off is in the database. None: nobody can tell."""

    @abstractmethod
    def kind_of(self, error: DBAPIError) -> ErrorKind:
        """What an error means."""

    @abstractmethod
    def bytes_used(self) -> int:
        """What the database takes on its disk."""

    @abstractmethod
    def scrub(self, numbers: Collection[int]) -> None:
        """Overwrite what deleted rows of people who had these numbers have left in the files of the database."""

    @abstractmethod
    def after_migration(self, connection: Connection) -> None:
        """What the tables need besides what the records say."""

    @abstractmethod
    def adopt(self) -> None:
        """Before a store opens: lines that another server has marked come before all that is written here."""

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


def count_numbers(connection: Connection, placeholder: str, many: int) -> range:
    """Takes so many from the counter of `LastPersonNumber`."""
    statement = (
        f'INSERT INTO "{LastPersonNumber.table}" ("id", "given") VALUES ({placeholder}, {placeholder}) '
        f'ON CONFLICT ("id") DO UPDATE SET "given" = "{LastPersonNumber.table}"."given" + excluded."given" RETURNING "given"'
    )
    ((given,),) = rows_of(connection, statement, (SINGLE_ROW, many))
    return range(given - many + 1, given + 1)


def rows_of(connection: Connection, statement: str, values: Sequence[Any]) -> Sequence[Sequence[Any]]:
    """What a statement finds."""
    return _driven(connection, statement, values, find=True)


def execute(connection: Connection, statement: str, values: Sequence[Any]) -> None:
    """Run a statement that finds nothing."""
    _driven(connection, statement, values, find=False)


def _driven(connection: Connection, statement: str, values: Sequence[Any], *, find: bool) -> Sequence[Sequence[Any]]:
    """By the driver itself: SQLAlchemy prepares for results of any kind, which takes longer than most statements do.

    Errors are those of SQLAlchemy all the same.
    """
    if not connection.in_transaction():
        connection.begin()
    return drive(connection, statement, values, find=find)


def drive(connection: Connection, statement: str, values: Sequence[Any] = (), *, find: bool = False) -> Sequence[Sequence[Any]]:
    """The same, whether or not a transaction has begun."""
    driver: Any = connection.connection.driver_connection
    try:
        cursor = driver.execute(statement, values)
        return cursor.fetchall() if find else ()
    except Exception as error:
        errors = connection.dialect.loaded_dbapi.Error
        if not isinstance(error, errors):
            raise
        lost = connection.dialect.is_disconnect(error, driver, None)
        if lost:
            connection.invalidate(error)
        raise DBAPIError.instance(
            statement,
            None,
            error,
            errors,
            hide_parameters=True,
            connection_invalidated=lost,
            dialect=connection.dialect,
        ) from error
