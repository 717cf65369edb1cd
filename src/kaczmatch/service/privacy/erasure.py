"""Erasure: a request commits that the person is gone, and a job removes every trace, from other people's logs too.

Gone is one commit of a few rows: no profile, no name, no state, no appeal, and a `PendingErasure`, which answers look at that
name people (see `leaving`). The rest is a `Removal`, in the background.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final, final

from kaczmatch.service.access.erased_tokens import ErasedTokens
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.leases import Lease
from kaczmatch.service.domain.leaving import being_erased
from kaczmatch.service.domain.locks import SCRUB
from kaczmatch.service.domain.person_ids import checked_id
from kaczmatch.service.domain.records import Change, ErasedId, OutboxMessage, PendingErasure, Person
from kaczmatch.service.domain.refusals import nobody
from kaczmatch.service.domain.scrubbing import Scrubbing, forget_number
from kaczmatch.service.domain.store import Reader, StoreUnavailable, Transaction
from kaczmatch.service.privacy.removal import Overtaken, Removal
from kaczmatch.service.privacy.traces import AT_ONCE, others_with_decisions, rows_naming, tables_naming

Watch = Callable[[int, int], None]

_AT_A_TIME: Final = 100  # people who are looked at together
_COUNTED: Final = 1_000  # people, to say how many are left


def _no_ledger(user: str, at: datetime) -> None:
    """Memory has no backups."""


def _never() -> bool:
    return False


def _unwatched(done: int, people: int) -> None:
    """No-op."""


@final
class _Stopped(Exception):
    """The process ends, or another one has the lease."""


@final
@dataclass(frozen=True, slots=True)
class ErasureProgress:
    """Whether nothing of a person is left, and how many others have records of them (at most `_COUNTED` are counted)."""

    done: bool
    people_left: int


@final
@dataclass(frozen=True, slots=True)
class Erasure:
    """Bytes in the files of the database go at once where that costs little, and otherwise when `resume` finds it is time.

    At the end the person's number goes: what is left of it in those files names nobody. The change and the message that tell of
    the erasure name the id by a new number, which was never in another table.
    """

    context: Context
    scrubbing: Scrubbing
    erased_tokens: ErasedTokens
    record: Callable[[str, datetime], None] = _no_ledger  # outside the store, for when a backup is restored
    _lease: Lease = field(init=False)
    _tidying: Lease = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_lease", Lease(self.context, "erasing"))
        object.__setattr__(self, "_tidying", Lease(self.context, "erased ids"))

    def begin(self, user: str) -> ErasureProgress:
        """From now on nobody meets this person, and nothing new can be said of them. `work` does the rest.

        Asking again does no work, and says how far it is.
        """
        checked_id(user)
        with self.context.store.read() as reader:
            here = reader.get(Person, user) is not None
        if here and self.context.store.write(partial(self._gone, user), locks=[user]).result():
            self.record(user, self.context.clock())  # a backup of before must not bring them back
        return self.progress(user)

    def progress(self, user: str) -> ErasureProgress:
        """How far it is. For a day after its end that is still known."""
        with self.context.store.read() as reader:
            if reader.get(PendingErasure, user) is not None:
                return ErasureProgress(done=False, people_left=len(others_with_decisions(reader, user, _COUNTED)))
            if not self.erased_tokens.was_erased_in(reader, user):
                raise nobody(user)
        return ErasureProgress(done=True, people_left=0)

    def erase(self, user: str) -> None:
        """All of it before this returns, for commands. A service on the same store leaves it to the command meanwhile."""
        begun = self.begin(user)
        if begun.done:
            raise nobody(user)

        def ends() -> bool:
            self._lease.take()  # held for as long as it takes; where another process has it, both are at it
            return False

        ends()
        try:
            self._remove(user, ends, _unwatched)
        finally:
            self._lease.let_go()
        if not self.scrubbing.delay:
            self.scrubbing.run()

    def work(self, stopping: Callable[[], bool] = _never, watch: Watch = _unwatched) -> int:
        """Finish all erasures, in one process at a time. Returns how many were finished.

        A rater whose log changes all the time is left for the next call, and so is whatever the store cannot take now. An erasure
        that fails holds up no other: what failed last is raised in the end. `watch` is told how many people are done of those
        who have traces of the person whose turn it is.
        """
        with self.context.store.read() as reader:
            if not being_erased(reader, limit=1):
                return 0
        if not self._lease.take():
            return 0

        def ends() -> bool:
            return stopping() or not self._lease.take()

        finished, tried, failure = 0, set[str](), None
        try:
            while users := self._untried(tried):
                for user in users:
                    tried.add(user)
                    try:
                        self._remove(user, ends, watch)
                        finished += 1
                    except _Stopped:
                        raise
                    except Exception as error:
                        failure = error
        except _Stopped:
            return finished
        finally:
            with suppress(StoreUnavailable):  # then it runs out by itself
                self._lease.let_go()
        if finished and not self.scrubbing.delay:
            self.scrubbing.run()
        if failure is not None:
            raise failure
        return finished

    def resume(self, stopping: Callable[[], bool] = _never) -> int:
        """`work` and `tidy`."""
        finished = self.work(stopping)
        self.tidy(stopping)
        return finished

    def tidy(self, stopping: Callable[[], bool] = _never) -> None:
        """Forget ids that nothing names any more, and scrub if it is time."""
        with self.context.store.read() as reader:
            told = reader.find(ErasedId, limit=1)
        if told and self._tidying.take():
            try:
                self._drop_ids(stopping)
            finally:
                self._tidying.let_go()
        self.scrubbing.run()

    def _untried(self, tried: set[str]) -> list[str]:
        with self.context.store.read() as reader:
            return [user for user in being_erased(reader, limit=len(tried) + _AT_A_TIME) if user not in tried]

    def _gone(self, user: str, transaction: Transaction) -> bool:
        """Whether it begins here."""
        if transaction.get(Person, user) is None:
            return False
        found = [one for field in AT_ONCE for one in rows_naming(transaction, user, field)]
        for one in found:
            transaction.drop(type(one), *one.identity())
        self.erased_tokens.record_erasure(transaction, user)
        transaction.put(PendingErasure(user=user))
        transaction.append(Change(id=self.context.new_id(), user=user, at=self.context.clock()))
        return True

    def _remove(self, user: str, ends: Callable[[], bool], watch: Watch) -> None:
        def rest(done: int = 0, people: int = 0) -> None:
            if people:
                watch(done, people)
            self.context.rest()
            if ends():
                raise _Stopped

        self.record(user, self.context.clock())  # before it is over: until then nobody can come under this id
        with suppress(Overtaken):
            Removal(self.context, user, rest).run()

    def _drop_ids(self, stopping: Callable[[], bool]) -> None:
        """Ids of erased people that nothing names any more."""
        last: tuple[str, ...] = ()
        while not stopping():
            with self.context.store.read() as reader:
                page = [one.user for one in reader.find(ErasedId, after=last, limit=_AT_A_TIME)]
                unnamed = [user for user in page if not _only_told_of(reader, user)]
            for user in unnamed:
                self.context.store.write(partial(self._drop_id, user), locks=[user, SCRUB]).result()
            if len(page) < _AT_A_TIME:
                return
            last = (page[-1],)
            self.context.rest()

    def _drop_id(self, user: str, transaction: Transaction) -> None:
        """If it is used again, it is not ours any more."""
        named = tables_naming(transaction, user)
        if named and named <= {Change, OutboxMessage}:
            return
        transaction.drop(ErasedId, user)
        if not named:
            forget_number(transaction, self.context, user)


def _only_told_of(reader: Reader, user: str) -> bool:
    """Whether an erased id is named by what tells of the erasure, and by nothing else."""
    return bool(named := tables_naming(reader, user)) and named <= {Change, OutboxMessage}
