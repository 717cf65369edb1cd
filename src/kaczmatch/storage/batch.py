"""One commit: what its works have read and written, until it goes to the database in a few statements."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from enum import Enum
from typing import Any, Final, ParamSpec, TypeVar, final

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from kaczmatch.service.domain.records import RECORDS, LogRecord, Person, PersonNumber, Record
from kaczmatch.storage.codec import Row, codec
from kaczmatch.storage.database import Database
from kaczmatch.storage.errors import DuplicateKey, SearchAfterWrite
from kaczmatch.storage.people import PeopleByNumber
from kaczmatch.storage.searching import check_place, count, delete_through, search, search_people

R = TypeVar("R", bound=Record)
T = TypeVar("T")
P = ParamSpec("P")

Key = tuple[Any, ...]


class _Mark(Enum):
    UNKNOWN = "never looked up"
    UNNUMBERED = "appended, and not numbered yet"
    THROUGH = "everything up to here is dropped"


UNKNOWN: Final = _Mark.UNKNOWN
UNNUMBERED: Final = _Mark.UNNUMBERED
THROUGH: Final = _Mark.THROUGH

Known = dict[Key, Record | _Mark | None]


@final
class CommitBatch:
    """Works that are committed together see each other's writes through this."""

    def __init__(self, database: Database, connection: Connection) -> None:
        self._database = database
        self._connection = connection
        self._people = PeopleByNumber(database, connection)
        self._named: dict[str | None, None] = {}  # in what was written, in the order in which they came
        self.known: dict[type[Record], Known] = {kind: {} for kind in RECORDS}
        self._puts: dict[type[Record], dict[Key, Row]] = {}
        self._appends: dict[type[Record], dict[Key, Row]] = {}
        self._drops: dict[type[Record], dict[Key, Row]] = {}
        self.failure: BaseException | None = None  # an error of the database: it ends the batch, even where a work has caught it

    def prefetch(self, wanted: Iterable[tuple[type[Record], Key, Row]]) -> None:
        """Read records, one statement per kind. `wanted` are kinds, keys, and the keys as they are stored."""
        keys: dict[type[Record], dict[Key, Row]] = {}
        for kind, key, stored in wanted:
            if kind in keys:
                keys[kind][key] = stored
            else:
                keys[kind] = {key: stored}
        named = [
            stored[place] for kind, of_kind in keys.items() for place in codec(kind).people_of_key for stored in of_kind.values()
        ]
        self._guarded(self._people.look_up, named)  # all of them by one statement
        for kind, of_kind in keys.items():
            self._fetch(kind, of_kind)

    def look_up(self, kind: type[Record], keys: Iterable[Key]) -> None:
        known, code = self.known[kind], codec(kind)
        if missing := {key: code.key(key) for key in keys if known.get(key, UNKNOWN) is UNKNOWN}:
            self._guarded(self._people.look_up_keys, code, missing.values())
            self._fetch(kind, missing)

    def _fetch(self, kind: type[Record], keys: dict[Key, Row]) -> None:
        """Records whose people were looked up."""
        known, code = self.known[kind], codec(kind)
        wanted = self._people.numbered_keys(code, keys.values())
        rows = self._guarded(self._database.fetch, self._connection, kind, wanted)
        known.update(dict.fromkeys(keys))
        for record in self._guarded(self._people.records, code, rows):
            known[code.identity(record)] = record

    def get(self, kind: type[R], key: Key) -> R | None:
        """A record that may not be known yet."""
        if self.known[kind].get(key) is UNNUMBERED:
            self.flush()
        self.look_up(kind, (key,))
        return self.known[kind][key]  # type: ignore[return-value]

    def taken(self, kind: type[Record], key: Key) -> bool:
        """Whether a key is known to be in use. Where it is not known, the database finds out when the line is appended."""
        return self.known[kind].get(key, UNKNOWN) not in (None, UNKNOWN)

    def find(
        self, kind: type[R], after: Sequence[Any], newest: bool, skip: int, limit: int | None, equal: dict[str, Any]
    ) -> list[R]:
        self.flush()
        return self._guarded(search, self._people, kind, after=after, newest=newest, skip=skip, limit=limit, equal=equal)

    def of_people(self, kind: type[R], field: str, people: Collection[str]) -> dict[str, list[R]]:
        self.flush()
        return self._guarded(search_people, self._people, kind, field, people)

    def count(self, kind: type[Record], equal: dict[str, Any]) -> int:
        self.flush()
        return self._guarded(count, self._people, kind, equal)

    def numbers_of(self, people: Collection[str]) -> dict[str, int]:
        return self._guarded(self._people.numbers_of, people)

    def people_with(self, numbers: Collection[int]) -> dict[int, str]:
        return self._guarded(self._people.people_with, numbers)

    def with_profile(self, numbers: Collection[int]) -> set[int]:
        if self._drops.get(Person):
            self.flush()
        return self._guarded(self._people.with_profile, numbers)

    def put(self, kind: type[Record], key: Key, record: Record, row: Row) -> None:
        self.known[kind][key] = record
        self._puts.setdefault(kind, {})[key] = row
        self._name(kind, row)
        if kind in self._drops:
            self._drops[kind].pop(key, None)

    def append(self, kind: type[Record], key: Key, row: Row) -> None:
        self.known[kind][key] = UNNUMBERED
        self._appends.setdefault(kind, {})[key] = row
        self._name(kind, row)

    def _name(self, kind: type[Record], row: Row) -> None:
        for place in codec(kind).people:
            self._named[row[place]] = None

    def drop(self, kind: type[Record], key: Key) -> None:
        if key in self._appends.get(kind, ()):
            self.flush()
        if kind in self._puts:
            self._puts[kind].pop(key, None)
        self.known[kind][key] = None
        self._drops.setdefault(kind, {})[key] = codec(kind).key(key)

    def drop_through(self, kind: type[Record], last: Key) -> None:
        self.flush()
        self.known[kind].clear()
        self._guarded(delete_through, self._people, kind, last)

    def flush(self) -> None:
        """Send what was written to the database."""
        drops = {
            kind: self._guarded(self._people.keys, codec(kind), [of_kind[key] for key in sorted(of_kind)])
            for kind, of_kind in self._drops.items()
            if of_kind
        }
        for kind, keys in drops.items():
            self._guarded(self._database.delete, self._connection, kind, keys)
        self._people.forget(drops.get(PersonNumber, ()))
        if self._named:
            self._guarded(self._people.look_up, self._named)
            self._guarded(self._people.give_numbers, self._named)
            self.known[PersonNumber] = {}
        for kind, puts in self._puts.items():
            if puts:
                rows = self._people.rows(codec(kind), [puts[key] for key in sorted(puts)])
                self._guarded(self._database.upsert, self._connection, kind, rows)
        for kind, appends in self._appends.items():
            if appends:
                rows = self._people.rows(codec(kind), list(appends.values()))
                self._guarded(self._database.append, self._connection, kind, rows)
                self.known[kind].update(dict.fromkeys(appends, UNKNOWN))
        self._drops, self._puts, self._appends, self._named = {}, {}, {}, {}

    def _guarded(self, act: Callable[P, T], *values: P.args, **named: P.kwargs) -> T:
        try:
            return act(*values, **named)
        except DBAPIError as error:
            self.failure = error
            raise


@final
class SqlTransaction:
    """What one work sees and writes. Its writes join the batch when it has returned."""

    committed = False  # other works of the batch may have written what it sees

    __slots__ = ("_batch", "_known", "_own", "_writes")

    def __init__(self, batch: CommitBatch) -> None:
        self._batch = batch
        self._known = batch.known
        self._own: dict[tuple[type[Record], Key], Record | None] = {}
        self._writes: list[tuple[type[Record], Key, Record | _Mark | None, Row]] = []

    def get(self, kind: type[R], *key: Any) -> R | None:
        found: Any = self._own.get((kind, key), UNKNOWN) if self._own else UNKNOWN
        if found is UNKNOWN:
            found = self._known[kind].get(key, UNKNOWN)
        return self._batch.get(kind, key) if found is UNKNOWN or found is UNNUMBERED else found

    def many(self, kind: type[R], keys: Iterable[Key]) -> dict[Key, R]:
        wanted = dict.fromkeys(keys)
        self._batch.look_up(kind, wanted)
        return {key: record for key in wanted if (record := self.get(kind, *key)) is not None}

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
        self._before_a_search()
        return self._batch.find(kind, after, newest, skip, limit, equal)

    def of_people(self, kind: type[R], field: str, people: Collection[str]) -> dict[str, list[R]]:
        self._before_a_search()
        return self._batch.of_people(kind, field, people)

    def count(self, kind: type[R], **equal: Any) -> int:
        self._before_a_search()
        return self._batch.count(kind, equal)

    def numbers_of(self, people: Collection[str]) -> dict[str, int]:
        return self._batch.numbers_of(people)

    def people_with(self, numbers: Collection[int]) -> dict[int, str]:
        return self._batch.people_with(numbers)

    def with_profile(self, numbers: Collection[int]) -> set[int]:
        self._before_a_search()
        return self._batch.with_profile(numbers)

    def _before_a_search(self) -> None:
        if self._writes:
            raise SearchAfterWrite("a work cannot search once it has written")

    def put(self, record: Record) -> None:
        if isinstance(record, LogRecord):
            raise TypeError(f"{type(record).__name__} is a log: append to it")
        self._write(record)

    def append(self, record: LogRecord) -> None:
        if not isinstance(record, LogRecord):
            raise TypeError(f"{type(record).__name__} is no log: put it")
        kind, key = type(record), record.identity()
        if self._own[kind, key] is not None if (kind, key) in self._own else self._batch.taken(kind, key):
            raise DuplicateKey(f"{kind.__name__} is there already")
        self._write(record)

    def _write(self, record: Record) -> None:
        kind = type(record)
        code = codec(kind)
        key = code.identity(record)
        row = code.row(record)  # what cannot be stored is this work's error, here
        self._own[kind, key] = record
        self._writes.append((kind, key, record, row))

    def drop(self, kind: type[Record], *key: Any) -> None:
        self._own[kind, key] = None
        self._writes.append((kind, key, None, codec(kind).key(key)))

    def drop_through(self, kind: type[Record], *last: Any) -> None:
        check_place(kind, last)
        self._writes.append((kind, last, THROUGH, ()))

    def join(self) -> None:
        """The work has returned: the batch may have what it wrote."""
        batch = self._batch
        for kind, key, record, row in self._writes:
            if record is None:
                batch.drop(kind, key)
            elif record is THROUGH:
                batch.drop_through(kind, key)
            elif issubclass(kind, LogRecord):
                batch.append(kind, key, row)
            elif isinstance(record, Record):
                batch.put(kind, key, record, row)
