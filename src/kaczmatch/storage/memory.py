"""Records in dictionaries: what the other stores are compared with, and what quick tests run on.

A commit makes new dictionaries, so a reader keeps the moment that it started at by keeping the ones it has.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import Any, TypeVar, cast, final

from kaczmatch.service.domain.records import RECORDS, LogRecord, Record
from kaczmatch.service.domain.store import RecordKey, StoreUnavailable
from kaczmatch.storage.codec import codec
from kaczmatch.storage.database import listed_values
from kaczmatch.storage.errors import DuplicateKey, SearchAfterWrite

R = TypeVar("R", bound=Record)
T = TypeVar("T")

Tables = Mapping[type[Record], Mapping[tuple[Any, ...], Record]]


def _place(record: Record) -> tuple[Any, ...]:
    return tuple(getattr(record, name) for name in record.listed_by())


@final
class MemoryReader:
    """What was committed at one moment."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

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

        found = [r for r in self._tables[kind].values() if all(getattr(r, name) == value for name, value in equal.items())]
        found.sort(key=_place, reverse=newest)
        if after:
            start, length = tuple(after), len(after)
            found = [r for r in found if (_place(r)[:length] < start if newest else _place(r)[:length] > start)]
        return cast("list[R]", found[skip:][:limit])

    def count(self, kind: type[R], **equal: Any) -> int:
        return len(self.find(kind, **equal))


@final
class MemoryTransaction:
    """A work's own copy of the tables, which becomes the store's if the work returns."""

    def __init__(self, tables: Tables) -> None:
        self.tables = {kind: dict(records) for kind, records in tables.items()}
        self.appended: list[LogRecord] = []
        self._reader = MemoryReader(self.tables)
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

    def count(self, kind: type[R], **equal: Any) -> int:
        self._before_a_search()
        return self._reader.count(kind, **equal)

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
        codec(type(record)).row(record)  # refuses what no database could keep
        self.tables[type(record)][record.identity()] = record
        self._written = True

    def drop(self, kind: type[Record], *key: Any) -> None:
        codec(kind).key(key)
        self.tables[kind].pop(key, None)
        self._written = True

    def drop_through(self, kind: type[Record], *last: Any) -> None:
        listed_values(codec(kind), last)
        length = len(last)
        self.tables[kind] = {key: one for key, one in self.tables[kind].items() if _place(one)[:length] > last}
        self._written = True


@final
class MemoryStore:
    """Keeps records until the process ends. One work at a time, in the caller's thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._tables: Tables = {kind: {} for kind in RECORDS}
        self._number = 0
        self._closed = False

    def write(self, work: Callable[[Any], T], *, locks: Collection[str] = (), prefetch: Iterable[RecordKey] = ()) -> Future[T]:
        del locks, prefetch  # everything is at hand, and nobody else is at work
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise StoreUnavailable("the store is closed")
            transaction = MemoryTransaction(self._tables)
            try:
                answer = work(transaction)
            except Exception as error:
                future.set_exception(error)
                return future
            for line in transaction.appended:
                lines = transaction.tables[type(line)]
                if line.identity() in lines:
                    self._number += 1
                    lines[line.identity()] = replace(line, number=self._number)
            self._tables = transaction.tables
        future.set_result(answer)
        return future

    @contextmanager
    def read(self) -> Iterator[MemoryReader]:
        if self._closed:
            raise StoreUnavailable("the store is closed")
        yield MemoryReader(self._tables)

    def close(self) -> None:
        self._closed = True
