"""The store on SQLite or PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, final

from sqlalchemy import Connection
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from kaczmatch.service.domain.records import LogRecord, Record
from kaczmatch.service.domain.store import LINES_AT_ONCE, Cursor, RecordKey, StoreUnavailable
from kaczmatch.storage.codec import CODECS, codec, text
from kaczmatch.storage.connecting import connected
from kaczmatch.storage.database import Database, ErrorKind, quoted, rows_of
from kaczmatch.storage.group import GroupCommit, QueuedWork
from kaczmatch.storage.migrating import is_up_to_date, prepare
from kaczmatch.storage.people import PeopleByNumber
from kaczmatch.storage.searching import count, named_with, search, search_people, values

R = TypeVar("R", bound=Record)
L = TypeVar("L", bound=LogRecord)
T = TypeVar("T")


@final
class SqlReader:
    """What was committed when the first question was asked."""

    committed = True

    def __init__(self, database: Database, connection: Connection) -> None:
        self._database = database
        self._connection = connection
        self._people = PeopleByNumber(database, connection, committed=True)
        self._known: dict[tuple[type[Record], tuple[Any, ...]], Any] = {}  # nothing changes while it reads

    def get(self, kind: type[R], *key: Any) -> R | None:
        if (kind, key) not in self._known:
            self._known[kind, key] = self.many(kind, (key,)).get(key)
        found: R | None = self._known[kind, key]
        return found

    def many(self, kind: type[R], keys: Iterable[tuple[Any, ...]]) -> dict[tuple[Any, ...], R]:
        code = codec(kind)
        self._people.next_question()
        asked, identity = dict.fromkeys(keys), code.identity
        known = {key: self._known[kind, key] for key in asked if (kind, key) in self._known} if self._known else {}
        fetched = self._people.fetched(code, [code.key(key) for key in asked if key not in known])
        found = {identity(record): record for record in fetched}
        return found | {key: record for key, record in known.items() if record is not None}

    def find(
        self,
        kind: type[R],
        *,
        after: Sequence[Any] = (),
        newest: bool = False,
        skip: int = 0,
        limit: int | None = None,
        **equal: Any,
    ) -> list[R]:
        self._people.next_question()
        return search(self._people, kind, after=after, newest=newest, skip=skip, limit=limit, equal=equal)

    def values(
        self,
        kind: type[Record],
        names: tuple[str, ...],
        *,
        after: Sequence[Any] = (),
        newest: bool = False,
        limit: int | None = None,
        **equal: Any,
    ) -> list[tuple[Any, ...]]:
        self._people.next_question()
        return values(self._people, kind, names, after=after, newest=newest, limit=limit, equal=equal)

    def named_with(self, person: str, fields: Sequence[tuple[type[Record], str, str]]) -> frozenset[str]:
        self._people.next_question()
        return named_with(self._people, person, tuple(fields))

    def of_people(self, kind: type[R], field: str, people: Collection[str]) -> dict[str, list[R]]:
        self._people.next_question()
        return search_people(self._people, kind, field, people)

    def count(self, kind: type[R], **equal: Any) -> int:
        return count(self._people, kind, equal)

    def count_of_nobody(self, kind: type[Record], **equal: Any) -> int:
        return count(self._people, kind, equal, of_nobody=True)

    def became_visible(self, kind: type[L], since: Cursor | None, limit: int = LINES_AT_ONCE) -> tuple[list[L], Cursor]:
        self._people.next_question()
        rows, cursor = self._database.became_visible(self._connection, kind, since, limit)
        return self._people.records(codec(kind), rows), cursor

    def numbers_of(self, people: Collection[str]) -> dict[str, int]:
        return self._people.numbers_of(people)

    def people_with(self, numbers: Collection[int]) -> dict[int, str]:
        self._people.next_question()
        return self._people.people_with(numbers)

    def with_profile(self, numbers: Collection[int]) -> set[int]:
        return self._people.with_profile(numbers)

    def distinct(self, kind: type[Record], *names: str) -> list[tuple[Any, ...]]:
        """The different values that fields have together, none of which names a person. It reads the whole table."""
        forms = [codec(kind).column(name).form.decode or (lambda value: value) for name in names]
        rows = rows_of(self._connection, f'SELECT DISTINCT {quoted(names)} FROM "{kind.table}"', ())
        return [tuple(decode(value) for decode, value in zip(forms, row, strict=True)) for row in rows]


@contextmanager
def looked_at(url: str) -> Iterator[SqlReader | None]:
    """What a database holds, which is neither made nor changed. None: its tables are still to be made or brought up to date."""
    if url.startswith("sqlite") and not Path(make_url(url).database or "").exists():
        yield None
        return
    database = connected(url, look_only=True)
    try:
        with database.readers.connect() as connection:
            yield SqlReader(database, connection) if is_up_to_date(database, connection) else None
    finally:
        database.close()


@final
class SqlStore:
    """Keeps records in a database; `url` is `sqlite:///file` or `postgresql://user@host/name`.

    At most `waiting` works queue, at most `together` are committed at once, and as many as `readers` read side by side.
    """

    def __init__(self, url: str, *, waiting: int = 4_096, together: int = 256, readers: int = 8) -> None:
        self.database = connected(url, readers)
        try:
            prepare(self.database)
            self._group = GroupCommit(self.database, waiting=waiting, together=together)
        except BaseException:
            self.database.close()
            raise

    def write(self, work: Callable[[Any], T], *, locks: Collection[str] = (), prefetch: Iterable[RecordKey] = ()) -> Future[T]:
        future: Future[T] = Future()
        try:
            wanted = tuple([(kind, key, CODECS[kind].key(key)) for kind, key in prefetch])
            names = tuple(map(text, locks))
        except (TypeError, ValueError) as error:
            future.set_exception(error)
        else:
            self._group.add(QueuedWork(work, names, wanted, future))
        return future

    @contextmanager
    def read(self) -> Iterator[SqlReader]:
        with self._outages(), self.database.readers.connect() as connection:
            yield SqlReader(self.database, connection)
            connection.commit()  # psycopg forgets at a rollback what the server has prepared, and it would plan everything anew

    @contextmanager
    def _outages(self) -> Iterator[None]:
        """Errors that are no fault of the caller become `StoreUnavailable`."""
        try:
            yield
        except PoolTimeout as error:
            raise StoreUnavailable("too many are reading at the same time") from error
        except DBAPIError as error:
            if self.database.kind_of(error) is ErrorKind.WORK_AT_FAULT:
                raise
            raise StoreUnavailable(f"the database: {error.orig}") from error

    def waiting(self) -> int:
        """How many works are queued."""
        return self._group.waiting()

    def last_outage(self) -> float | None:
        """When a commit last failed for want of a disk or server, by the monotonic clock."""
        return self._group.last_outage

    def problem(self) -> str:
        """Why what is to be done beside commits cannot be done, such as to keep a log short; empty: it can."""
        return self._group.problem

    def observe_commits(self, observe: Callable[[int], None]) -> None:
        """Call something after every commit with the number of its works."""
        self._group.observe_commit = observe

    def scrub(self, numbers: Collection[int] = ()) -> None:
        """Overwrite what people who had these numbers have left in the files of the database."""
        with self._outages():
            self.database.scrub(numbers)

    def close(self) -> None:
        self._group.close()
        self.database.close()
