"""Group commit: one thread takes the works that are waiting and commits them together.

A commit that fails is rolled back whole. If the error is transient, all works run again. If a work is at fault, the halves of the
batch are tried, and halves of those, until the work is alone. So the others are kept, in their order.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from itertools import chain
from threading import Condition, Thread
from typing import Any, Final, NamedTuple, final

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from kaczmatch.service.domain.records import Record
from kaczmatch.service.domain.store import OutcomeUnknown, StoreUnavailable
from kaczmatch.storage.batch import CommitBatch, SqlTransaction
from kaczmatch.storage.codec import Row
from kaczmatch.storage.database import Database, ErrorKind
from kaczmatch.storage.errors import DuplicateKey

PAUSES: Final = (0.01, 0.1, 0.5)  # seconds before a commit is tried again
LARGE_COMMIT: Final = 8  # works; after a commit of so many, as many are expected again
LINGER: Final = 0.008  # seconds that the next commit waits for them


@final
class QueuedWork(NamedTuple):
    """A work that waits to be run, and the future of whoever waits for it."""

    work: Callable[[SqlTransaction], Any]
    locks: tuple[str, ...]
    prefetch: tuple[tuple[type[Record], tuple[Any, ...], Row], ...]  # a kind, a key, and the key as it is stored
    future: Future[Any]


@final
class WorkResult(NamedTuple):
    """What a work returned or raised."""

    value: Any = None
    error: BaseException | None = None

    def give(self, future: Future[Any]) -> None:
        if self.error is None:
            future.set_result(self.value)
        else:
            future.set_exception(self.error)


class _CommitFailed(Exception):
    """A commit was rolled back, for the reason that this was raised from."""


@final
class GroupCommit:
    """The thread, and the queue before it."""

    def __init__(self, database: Database, *, waiting: int, together: int) -> None:
        self._database = database
        self._most_waiting = waiting
        self._together = together
        self._waiting: deque[QueuedWork] = deque()
        self._changed = Condition()
        self._closing = False
        self._expected = 0
        self._untidy = ""
        self.last_outage: float | None = None  # when a commit last failed for want of a disk or server, by the monotonic clock
        self.observe_commit: Callable[[int], None] = _nobody_observes
        self._thread = Thread(target=self._run, name="kaczmatch group commit", daemon=True)
        self._thread.start()

    def add(self, job: QueuedWork) -> None:
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
                self._commit_all(running)
            except BaseException as error:
                for job in running:
                    if not job.future.done():
                        job.future.set_exception(error)

    def _next(self) -> list[QueuedWork]:
        """Works in the order they came; none: the store is closing.

        Whoever was just answered comes again in a moment. To take the first of them at once would make two small commits out of
        one large one, which costs half as much again.
        """
        with self._changed:
            while not self._waiting and not self._closing:
                self._changed.wait()
            self._changed.wait_for(lambda: len(self._waiting) >= self._expected or self._closing, LINGER)
            jobs = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._together))]
            self._expected = len(jobs) if len(jobs) >= LARGE_COMMIT else 0
            return jobs

    def _commit_all(self, jobs: Sequence[QueuedWork]) -> None:
        if not jobs:
            return
        try:
            results = self._commit_with_retries(jobs)
        except _CommitFailed as failure:
            cause = failure.__cause__
            if len(jobs) == 1:
                jobs[0].future.set_exception(_error_of_work(cause))
            else:
                half = len(jobs) // 2
                self._commit_all(jobs[:half])
                self._commit_all(jobs[half:])
        except StoreUnavailable as error:
            self.last_outage = time.monotonic()
            for job in jobs:
                job.future.set_exception(error)
        else:
            self.observe_commit(len(jobs))
            for job, result in zip(jobs, results, strict=True):
                result.give(job.future)

    def _commit_with_retries(self, jobs: Sequence[QueuedWork]) -> list[WorkResult]:
        """Commit, and try again after a transient error."""
        pauses = iter(PAUSES)
        while True:
            try:
                return self._commit(jobs)
            except DBAPIError as error:
                kind = self._database.kind_of(error)
                if kind is ErrorKind.WORK_AT_FAULT:
                    raise _CommitFailed from error
                pause = next(pauses, None) if kind is ErrorKind.TRANSIENT else None
                if pause is None:
                    raise StoreUnavailable(f"the database: {error.orig}") from error
                time.sleep(pause)
            except (StoreUnavailable, _CommitFailed):
                raise
            except SQLAlchemyError as error:
                raise StoreUnavailable(f"the database: {error}") from error
            except Exception as error:
                raise _CommitFailed from error

    def _commit(self, jobs: Sequence[QueuedWork]) -> list[WorkResult]:
        with self._database.writer.connect() as connection:
            transaction = connection.begin()
            try:
                self._database.start(connection, list(chain.from_iterable(job.locks for job in jobs)))
                batch = CommitBatch(self._database, connection)
                batch.prefetch(chain.from_iterable(job.prefetch for job in jobs))
                results = [_run_work(job, batch) for job in jobs]
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
            self._check_committed(lost)
        self._tidy()
        return results

    def _tidy(self) -> None:
        """The works are committed whatever comes of it, and a later commit has this to do again."""
        try:
            self._database.after_commit()
        except Exception as error:
            self._untidy = f"after a commit: {type(error).__name__}: {error}"
        else:
            self._untidy = ""

    @property
    def problem(self) -> str:
        """Why what is to be done after commits or beside them cannot be done; empty: it can."""
        return self._untidy or self._database.problem

    def _check_committed(self, lost: DBAPIError) -> None:
        committed = self._database.was_committed()
        if committed is None:
            raise OutcomeUnknown("the connection was lost while committing") from lost
        if not committed:
            raise lost

    def _uncertain(self, error: DBAPIError) -> Exception:
        """A disk that fails while a commit is synced may have it all the same."""
        outage = self._database.kind_of(error) is ErrorKind.OUTAGE
        return OutcomeUnknown(f"the database, while committing: {error.orig}") if outage else error


def _nobody_observes(works: int) -> None:
    pass


def _run_work(job: QueuedWork, batch: CommitBatch) -> WorkResult:
    """Run a work. An error of the database is not its result: it ends the batch."""
    transaction = SqlTransaction(batch)
    try:
        result = WorkResult(job.work(transaction))
    except BaseException as error:
        result = WorkResult(error=error)
    if batch.failure is not None:
        raise batch.failure
    if result.error is None:
        transaction.join()
    return result


def _error_of_work(cause: BaseException | None) -> BaseException:
    if isinstance(cause, IntegrityError):
        return DuplicateKey("the key of a line is there already")  # the database's own message would name the key
    return cause or RuntimeError("a commit failed without a reason")
