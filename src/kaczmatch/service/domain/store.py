"""The port to whatever keeps records: two ways in, writing and reading.

A **work** is a function that reads, decides and then writes. Works that are waiting at the same time are committed together,
so one sync to disk pays for many. A work may be run more than once (after a lost race or a failed commit). Only what it returned
in the run that was committed is handed on. So it must not touch anything but its transaction.

A **lock** is a name: the id of a person, or a name of `locks.py`. Works that name the same lock never overlap, in any process. So
a work names everybody whose records it changes, and everything that it decides from and others may change. A work that names no
lock may overlap with all others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar, final

from kaczmatch.service.domain.records import LogRecord, Record

R = TypeVar("R", bound=Record)
L = TypeVar("L", bound=LogRecord)
T = TypeVar("T")

LINES_AT_ONCE: Final = 20_000

RecordKey = tuple[type[Record], tuple[Any, ...]]  # a kind and a key


class StoreUnavailable(Exception):
    """The store cannot take this now (a full queue, a full disk, a lost connection); nothing of it was kept. Try again."""


class OutcomeUnknown(StoreUnavailable):
    """The store was lost while it was committing: this may have been kept, or not. Look, or do it again if that does no harm."""


@final
@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a log has been read.

    Lines are numbered before their commit, and PostgreSQL may commit a higher number first. So `newest` is no place to go on
    from; `settled` is, even in another process: no line up to it can still turn up. Between the two, `seen` is exact.
    """

    settled: int = 0  # every line up to this number has been read
    newest: int = 0  # the highest number there was; between two pages, that has been read
    seen: str = ""  # what else was visible, in the store's own words; empty: lines beyond `settled` are read, perhaps again


class Reader(Protocol):
    """Records as of one moment."""

    @property
    def committed(self) -> bool:
        """Whether all that is seen here has been committed. Only then may anything outlive the reader, such as in a cache."""

    def get(self, kind: type[R], *key: Any) -> R | None:
        """The record with this key."""

    def many(self, kind: type[R], keys: Iterable[tuple[Any, ...]]) -> dict[tuple[Any, ...], R]:
        """Those there are, by key."""

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
        """Records whose fields equal `equal`, in the order of `kind.listed_by()`, or in the opposite order with `newest`.

        People are in the order in which they were first written about. `after` are values of the first fields of that order, or
        of all: only records beyond them are found. A person among them may have been erased since: none is left out then. The
        first `skip` of what is found are passed over, and not loaded.
        """

    def of_people(self, kind: type[R], field: str, people: Collection[str]) -> dict[str, list[R]]:
        """What `find` finds for each of many people whose id is the value of `field`, by one look."""

    def count(self, kind: type[R], **equal: Any) -> int:
        """How many there are."""

    def numbers_of(self, people: Collection[str]) -> Mapping[str, int]:
        """The numbers of those who have one (see `PersonNumber`), for records that pack many people into one field."""

    def people_with(self, numbers: Collection[int]) -> Mapping[int, str]:
        """Who has these numbers; whoever was erased has none."""

    def with_profile(self, numbers: Collection[int]) -> set[int]:
        """Which of these are the number of a `Person`. Whoever is being erased is none any more."""


class Snapshot(Reader, Protocol):
    """Records as of one moment, or only some of their fields."""

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
        """These fields of what `find` finds, where it is much: whole records cost several times as much."""

    def named_with(self, person: str, fields: Sequence[tuple[type[Record], str, str]]) -> frozenset[str]:
        """Who is named in the second field of records whose first field names a person, over several kinds, by one look."""

    def count_of_nobody(self, kind: type[Record], **equal: Any) -> int:
        """How many there are of a `user` who is no `Person`."""

    def became_visible(self, kind: type[L], since: Cursor | None, limit: int = LINES_AT_ONCE) -> tuple[list[L], Cursor]:
        """The lines of a log that were committed since a cursor, and the next cursor. None: no lines; from now on.

        A commit that hangs holds up no other, and its lines come once, whenever it ends. After `limit` lines there may be more.
        """


class Transaction(Reader, Protocol):
    """A work's view: it sees what it has written. Once it has written, it cannot `find` or `count` any more."""

    def put(self, record: Record) -> None:
        """Add a record, or replace the one with its key."""

    def append(self, record: LogRecord) -> None:
        """Add a line to a log; the store numbers it. A key that is there already is an error."""

    def drop(self, kind: type[Record], *key: Any) -> None:
        """Delete a record; it need not exist. Lines of a log are deleted only when they are old or their person is erased."""

    def drop_through(self, kind: type[Record], *last: Any) -> None:
        """Delete all records up to a place in the order of `kind.listed_by()`, and the one there, in one statement.

        `last` are values of the first fields of that order, or of all. A work that does so reads nothing of that kind afterwards.
        """


class Store(Protocol):
    """Keeps records."""

    def write(
        self, work: Callable[[Transaction], T], *, locks: Collection[str] = (), prefetch: Iterable[RecordKey] = ()
    ) -> Future[T]:
        """Run a work and commit what it wrote; the future is done when that is on disk.

        `locks` are held from before the first read until the commit. `prefetch` are read beforehand, for all works of a commit
        together: a work that gets only these is fast. An exception that a work raises goes to the future, and nothing that the
        work wrote is kept.
        """

    def read(self) -> AbstractContextManager[Snapshot]:
        """A consistent view of what is committed."""

    def close(self) -> None:
        """Finish what is waiting, then let go."""
