"""Records in dictionaries: what the other stores are compared with, and what quick tests run on.

A commit makes new dictionaries, so a reader keeps the moment that it started at by keeping the ones it has.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from operator import attrgetter
from threading import Lock
from typing import Any, TypeVar, cast, final

from kaczmatch.service.domain.records import (
    PARTS,
    RECORDS,
    SINGLE_ROW,
    LastPersonNumber,
    LogRecord,
    Person,
    PersonNumber,
    Record,
    part_of,
)
from kaczmatch.service.domain.store import LINES_AT_ONCE, Cursor, RecordKey, StoreUnavailable
from kaczmatch.storage.codec import codec
from kaczmatch.storage.database import PlacesOfPages
from kaczmatch.storage.errors import DuplicateKey, SearchAfterWrite
from kaczmatch.storage.searching import check_place

R = TypeVar("R", bound=Record)
L = TypeVar("L", bound=LogRecord)
T = TypeVar("T")

Tables = Mapping[type[Record], Mapping[tuple[Any, ...], Record]]


@final
class MemoryReader:
    """What was committed at one moment. `places` are former numbers, `pages` those with which pages ended (`searching`)."""

    def __init__(self, tables: Tables, places: Mapping[int, int], pages: PlacesOfPages, *, committed: bool = True) -> None:
        self._tables = tables
        self._places = places
        self._pages = pages
        self.committed = committed

    def get(self, kind: type[R], *key: Any) -> R | None:
        codec(kind).key(key)
        return cast("R | None", self._tables[kind].get(key))

    def many(self, kind: type[R], keys: Iterable[tuple[Any, ...]]) -> dict[tuple[Any, ...], R]:
        return {key: record for key in keys if (record := self.get(kind, *key)) is not None}

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
        for name, value in equal.items():
            codec(kind).value(name, value)

        order = [(name, codec(kind).column(name).person) for name in kind.listed_by()]

        def place(record: Record) -> tuple[Any, ...]:
            return tuple(self._number(getattr(record, name)) if person else getattr(record, name) for name, person in order)

        records: Iterable[Record] = self._tables[kind].values()
        for name, value in equal.items():
            field = attrgetter(name)
            records = [record for record in records if field(record) == value]
        found = list(records)
        found.sort(key=place, reverse=newest)
        start: list[Any] = []
        for value, (_, person) in zip(after, order, strict=False):
            start.append(self._pages.get(hash(value), self._number(value)) if person else value)
            if start[-1] is None:  # erased, and nobody knows where: some may come again, and none is left out
                return cast("list[R]", [r for r in found if _beyond(place(r), tuple(start[:-1]), newest, True)][skip:][:limit])
        page = [r for r in found if _beyond(place(r), tuple(start), newest, not start)][skip:][:limit]
        for value, (name, person) in zip(place(page[-1]) if page and limit else (), order, strict=False):
            if person and self.committed:
                self._pages.put(hash(getattr(page[-1], name)), value)
        return cast("list[R]", page)

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
        found = self.find(kind, after=after, newest=newest, limit=limit, **equal)
        return [tuple(getattr(record, name) for name in names) for record in found]

    def named_with(self, person: str, fields: Sequence[tuple[type[Record], str, str]]) -> frozenset[str]:
        return frozenset(
            getattr(record, other) for kind, own, other in fields for record in self.find(kind, **dict[str, Any]([(own, person)]))
        )

    def count_of_nobody(self, kind: type[Record], **equal: Any) -> int:
        return sum((record.user,) not in self._tables[Person] for record in self.find(cast("type[Any]", kind), **equal))

    def became_visible(self, kind: type[L], since: Cursor | None, limit: int = LINES_AT_ONCE) -> tuple[list[L], Cursor]:
        """Commits are in the order of their numbers."""
        lines = self.find(kind, newest=True, limit=1) if since is None else self.find(kind, after=(since.settled,), limit=limit)
        last = lines[-1].number if lines else 0 if since is None else since.settled
        return ([] if since is None else lines), Cursor(last, last)

    def _number(self, person: str) -> int | None:
        known = self._tables[PersonNumber].get((part_of(person), person))
        if known is None:
            return self._places.get(hash(person)) if person else 0
        return cast("PersonNumber", known).number

    def of_people(self, kind: type[R], field: str, people: Collection[str]) -> dict[str, list[R]]:
        return {person: self.find(kind, **dict[str, Any]([(field, person)])) for person in people}

    def count(self, kind: type[R], **equal: Any) -> int:
        return len(self.find(kind, **equal))

    def numbers_of(self, people: Collection[str]) -> dict[str, int]:
        keys = [(part_of(person), person) for person in people]
        return {one.id: one.number for one in self.many(PersonNumber, keys).values()}

    def people_with(self, numbers: Collection[int]) -> dict[int, str]:
        known = {one.number: one.id for one in cast("Iterable[PersonNumber]", self._tables[PersonNumber].values())}
        return {number: known[number] for number in numbers if number in known}

    def with_profile(self, numbers: Collection[int]) -> set[int]:
        return {number for number, person in self.people_with(numbers).items() if (person,) in self._tables[Person]}


def _beyond(place: tuple[Any, ...], start: tuple[Any, ...], newest: bool, inclusive: bool) -> bool:
    here = place[: len(start)]
    return (inclusive and here == start) or (here < start if newest else here > start)


@final
class MemoryTransaction:
    """A work's own copy of the tables, which becomes the store's if the work returns."""

    committed = False

    def __init__(self, tables: Tables, places: Mapping[int, int], pages: PlacesOfPages) -> None:
        self.tables = {kind: dict(records) for kind, records in tables.items()}
        self.appended: list[LogRecord] = []
        self.places = dict(places)
        self._reader = MemoryReader(self.tables, self.places, pages, committed=False)
        self._written = False

    def get(self, kind: type[R], *key: Any) -> R | None:
        return self._reader.get(kind, *key)

    def many(self, kind: type[R], keys: Iterable[tuple[Any, ...]]) -> dict[tuple[Any, ...], R]:
        return self._reader.many(kind, keys)

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
        return self._reader.find(kind, after=after, newest=newest, skip=skip, limit=limit, **equal)

    def of_people(self, kind: type[R], field: str, people: Collection[str]) -> dict[str, list[R]]:
        self._before_a_search()
        return self._reader.of_people(kind, field, people)

    def count(self, kind: type[R], **equal: Any) -> int:
        self._before_a_search()
        return self._reader.count(kind, **equal)

    def numbers_of(self, people: Collection[str]) -> dict[str, int]:
        return self._reader.numbers_of(people)

    def people_with(self, numbers: Collection[int]) -> dict[int, str]:
        return self._reader.people_with(numbers)

    def with_profile(self, numbers: Collection[int]) -> set[int]:
        self._before_a_search()
        return self._reader.with_profile(numbers)

    def _before_a_search(self) -> None:
        if self._written:
            raise SearchAfterWrite("a work cannot search once it has written")

    def put(self, record: Record) -> None:
        if isinstance(record, LogRecord):
            raise TypeError(f"{type(record).__name__} is a log: append to it")
        self._set(record)

    def append(self, record: LogRecord) -> None:
        if not isinstance(record, LogRecord):
            raise TypeError(f"{type(record).__name__} is no log: put it")
        if record.identity() in self.tables[type(record)]:
            raise DuplicateKey(f"{type(record).__name__} is there already")
        self._set(replace(record, number=0))
        self.appended.append(record)

    def _set(self, record: Record) -> None:
        code = codec(type(record))
        row = code.row(record)  # refuses what no database could keep
        for place in code.people:
            self._give_number(row[place])
        self.tables[type(record)][record.identity()] = replace(record, **code.not_stored) if code.not_stored else record
        self._written = True

    def _give_number(self, person: str | None) -> None:
        if not person or (part_of(person), person) in self.tables[PersonNumber]:
            return
        last = cast("LastPersonNumber | None", self.tables[LastPersonNumber].get((SINGLE_ROW,)))
        given = 1 if last is None else last.given + 1
        part = part_of(person)
        self.tables[LastPersonNumber][SINGLE_ROW,] = LastPersonNumber(given=given)
        self.tables[PersonNumber][part, person] = PersonNumber(part=part, id=person, number=given * PARTS + part)

    def drop(self, kind: type[Record], *key: Any) -> None:
        codec(kind).key(key)
        gone = self.tables[kind].pop(key, None)
        if isinstance(gone, PersonNumber):
            self.places[hash(gone.id)] = gone.number
        self._written = True

    def drop_through(self, kind: type[Record], *last: Any) -> None:
        check_place(kind, last)
        self.tables[kind] = {one.identity(): one for one in self._reader.find(kind, after=last)}
        self._written = True


@final
class MemoryStore:
    """Keeps records until the process ends. One work at a time, in the caller's thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._tables: Tables = {kind: {} for kind in RECORDS}
        self._places: Mapping[int, int] = {}
        self._pages = PlacesOfPages()
        self._number = 0
        self._closed = False

    def write(self, work: Callable[[Any], T], *, locks: Collection[str] = (), prefetch: Iterable[RecordKey] = ()) -> Future[T]:
        del locks, prefetch  # everything is at hand, and nobody else is at work
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise StoreUnavailable("the store is closed")
            transaction = MemoryTransaction(self._tables, self._places, self._pages)
            try:
                answer = work(transaction)
            except Exception as error:
                future.set_exception(error)
                return future
            for line in transaction.appended:
                lines = transaction.tables[type(line)]
                if line.identity() in lines:
                    self._number += 1
                    lines[line.identity()] = replace(line, number=self._number, **codec(type(line)).not_stored)
            self._tables, self._places = transaction.tables, transaction.places
        future.set_result(answer)
        return future

    @contextmanager
    def read(self) -> Iterator[MemoryReader]:
        if self._closed:
            raise StoreUnavailable("the store is closed")
        yield MemoryReader(self._tables, self._places, self._pages)

    def close(self) -> None:
        self._closed = True
