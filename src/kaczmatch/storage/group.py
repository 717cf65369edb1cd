"""Group commit: one thread takes the works that are waiting and commits them together.

A commit that fails is rolled back whole. If the trouble may pass, all of it runs again; if a work is to blame, halves are tried,
and halves of those, until it is alone, so the others are kept, in their order.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import chain
from threading import Condition, Thread
from typing import Any, Final, final

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from kaczmatch.service.domain.records import Record
from kaczmatch.service.domain.store import OutcomeUnknown, StoreUnavailable
from kaczmatch.storage.batch import Batch, SqlTransaction
from kaczmatch.storage.codec import Row
from kaczmatch.storage.database import Database, Trouble
from kaczmatch.storage.errors import Taken

PAUSES: Final = (0.01, 0.1, 0.5)  # seconds before a commit is tried again
CROWD: Final = 8  # works in a commit from which on as many are expected again
LINGER: Final = 0.008  # seconds that they are waited for


@final
@dataclass(frozen=True, slots=True)
class Job:
    """A work that waits, and who waits for it."""

    work: Callable[[SqlTransaction], Any]
    people: tuple[str, ...]
    reads: tuple[tuple[type[Record], tuple[Any, ...], Row], ...]  # a kind, a key, and the key as it is stored
    future: Future[Any]


@final
@dataclass(frozen=True, slots=True)
class PendingResult:
    """What a work returned or raised."""

    value: Any = None
    error: BaseException | None = None

    def give(self, future: Future[Any]) -> None:
        if self.error is None:
            future.set_result(self.value)
        else:
            future.set_exception(self.error)


class _NotKept(Exception):
    """A commit came to nothing, for the reason it was raised from."""


@final
class GroupCommit:
    """The thread, and the queue before it."""

    def __init__(self, database: Database, *, waiting: int, together: int) -> None:
        self._database = database
        self._most_waiting = waiting
        self._together = together
        self._waiting: deque[Job] = deque()
        self._changed = Condition()
        self._closing = False
        self._expected = 0
        self._thread = Thread(target=self._run, name="kaczmatch group commit", daemon=True)
        self._thread.start()

    def add(self, job: Job) -> None:
        with self._changed:
            if self._closing:
                raise StoreUnavailable("the store is closed")
            if len(self._waiting) >= self._most_waiting:
                raise StoreUnavailable("too much is waiting to be written")
            self._waiting.append(job)
            if len(self._waiting) in (1, self._expected):
                self._changed.notify()

    def waiting(self) -> int:
        return len(self._waiting)

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while jobs := self._next():
            running = [job for job in jobs if job.future.set_running_or_notify_cancel()]
            try:
                self._settle(running)
            except BaseException as error:
                for job in running:
                    if not job.future.done():
                        job.future.set_exception(error)

    def _next(self) -> list[Job]:
        """Works in the order they came; none: it is over.

        Whoever was just answered comes again in a moment. Taking the first of them at once would make two small commits of one
        large one, which costs half as much again.
        """
        with self._changed:
            while not self._waiting and not self._closing:
                self._changed.wait()
            self._changed.wait_for(lambda: len(self._waiting) >= self._expected or self._closing, LINGER)
            jobs = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._together))]
            self._expected = len(jobs) if len(jobs) >= CROWD else 0
            return jobs

    def _settle(self, jobs: Sequence[Job]) -> None:
        if not jobs:
            return
        try:
            answers = self._persistently(jobs)
        except _NotKept as failure:
            cause = failure.__cause__
            if len(jobs) == 1:
                jobs[0].future.set_exception(_blamed(cause))
            else:
                half = len(jobs) // 2
                self._settle(jobs[:half])
                self._settle(jobs[half:])
        except StoreUnavailable as error:
            for job in jobs:
                job.future.set_exception(error)
        else:
            for job, answer in zip(jobs, answers, strict=True):
                answer.give(job.future)

    def _persistently(self, jobs: Sequence[Job]) -> list[PendingResult]:
        """Commit, again if the trouble may pass."""
        pauses = iter(PAUSES)
        while True:
            try:
                return self._commit(jobs)
            except DBAPIError as error:
                trouble = self._database.trouble(error)
                if trouble is Trouble.FAULT:
                    raise _NotKept from error
                pause = next(pauses, None) if trouble is Trouble.PASSING else None
                if pause is None:
                    raise StoreUnavailable(f"the database: {error.orig}") from error
                time.sleep(pause)
            except (StoreUnavailable, _NotKept):
                raise
            except SQLAlchemyError as error:
                raise StoreUnavailable(f"the database: {error}") from error
            except Exception as error:
                raise _NotKept from error

    def _commit(self, jobs: Sequence[Job]) -> list[PendingResult]:
        with self._database.writer.connect() as connection:
            transaction = connection.begin()
            try:
                people = list(chain.from_iterable(job.people for job in jobs))
                self._database.start(connection, people)
                batch = Batch(self._database, connection)
                batch.prefetch(chain.from_iterable(job.reads for job in jobs))
                answers = [_answer(job, batch) for job in jobs]
                batch.flush()
            except BaseException:
                transaction.rollback()
                raise
            lost: DBAPIError | None = None
            try:
                transaction.commit()
            except BaseException as error:
                connection.invalidate()  # whatever is left of the transaction goes with its connection
                if not isinstance(error, DBAPIError):
                    raise
                if not error.connection_invalidated:
                    raise self._uncertain(error) from error
                lost = error
        if lost is not None:
            self._ask_whether_it_survived(lost)
        self._database.committed()
        return answers

    def _ask_whether_it_survived(self, lost: DBAPIError) -> None:
        survived = self._database.survived()
        if survived is None:
            raise OutcomeUnknown("the connection was lost while committing") from lost
        if not survived:
            raise lost

    def _uncertain(self, error: DBAPIError) -> Exception:
        """A disk that fails while a commit is synced may have it all the same."""
        outage = self._database.trouble(error) is Trouble.OUTAGE
        return OutcomeUnknown(f"the database, while committing: {error.orig}") if outage else error


def _answer(job: Job, batch: Batch) -> PendingResult:
    """Run a work. An error of the database is not its answer but the end of the batch."""
    transaction = SqlTransaction(batch)
    try:
        answer = PendingResult(job.work(transaction))
    except BaseException as error:
        answer = PendingResult(error=error)
    if batch.failure is not None:
        raise batch.failure
    if answer.error is None:
        transaction.join()
    return answer


def _blamed(cause: BaseException | None) -> BaseException:
    if isinstance(cause, IntegrityError):
        return Taken("the key of a line is there already")  # the database's own words would name it
    return cause or RuntimeError("a commit failed without a reason")
