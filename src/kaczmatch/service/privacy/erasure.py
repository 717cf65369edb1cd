"""Erasure: a request commits that the person is gone, and a job removes every trace, from other people's logs too.

Gone is one commit of a few rows: no profile, no name, no state, no appeal, and a `PendingErasure`, which answers look at that
name people (see `leaving`). The job goes in steps, each a commit of a bounded number of rows. Whatever it reads to find them, and
the logs that it folds without the person, it reads beside the commits. It can be killed anywhere, and begins again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Final, TypeVar, final

from kaczmatch.service.access.erased_tokens import ErasedTokens
from kaczmatch.service.domain.appeal import without_evidence
from kaczmatch.service.domain.appearances import decks_with, filed_with, forget_appearances, remove_cards
from kaczmatch.service.domain.capacity import count_match
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.folding import undo_of
from kaczmatch.service.domain.leases import Lease
from kaczmatch.service.domain.leaving import being_erased
from kaczmatch.service.domain.locks import APPEARANCES, SCRUB
from kaczmatch.service.domain.outbox import announce
from kaczmatch.service.domain.person_ids import checked_id
from kaczmatch.service.domain.records import (
    AbuseReport,
    AuditEntry,
    Block,
    Change,
    Delivery,
    ErasedId,
    Event,
    FeatureSnapshot,
    HeldPerson,
    LatestDecision,
    MatchSide,
    NameSuffix,
    OutboxMessage,
    PendingErasure,
    Person,
    PersonCounters,
    Pick,
    Record,
    SeenTraits,
    StoredDeck,
    StoredState,
    StoredTraits,
)
from kaczmatch.service.domain.refolding import FoldedLog, refolding
from kaczmatch.service.domain.refusals import nobody
from kaczmatch.service.domain.scrubbing import Scrubbing, forget_number
from kaczmatch.service.domain.store import Reader, Snapshot, StoreUnavailable, Transaction
from kaczmatch.service.domain.traits import withdraw

T = TypeVar("T")
Field = tuple[type[Record], str]
Watch = Callable[[int, int], None]
Rest = Callable[..., None]  # called after each commit, with what `Watch` is told where it is known

# Every field that names a person, but for `PendingErasure`, which goes when the erasure is finished. A test walks all records to
# see that none is missing. Cards of decks name people too, many in one field: see `appearances`.
_AT_ONCE: Final[tuple[Field, ...]] = (
    (Person, "id"),
    (NameSuffix, "user"),
    (PersonCounters, "user"),
    (HeldPerson, "user"),
    (StoredState, "user"),
    (StoredTraits, "user"),
    (ErasedId, "user"),
)  # a few rows, with which the person is gone
_ROWS: Final[tuple[Field, ...]] = (
    (OutboxMessage, "user"),
    (OutboxMessage, "other"),
    (StoredDeck, "user"),
    (Pick, "user"),
    (Pick, "candidate"),
    (MatchSide, "user"),
    (MatchSide, "other"),
    (Block, "user"),
    (Block, "other"),
    (AbuseReport, "user"),
    (AbuseReport, "other"),
    (AuditEntry, "user"),
    (Event, "user"),
)
_PAIRS: Final[tuple[Field, ...]] = (
    (Event, "candidate"),
    (LatestDecision, "user"),
    (LatestDecision, "candidate"),
)  # what the person and others thought of each other, from which others' states, appeal and traits follow
_AFTER_PAIRS: Final[tuple[Field, ...]] = (
    (SeenTraits, "user"),
    (SeenTraits, "candidate"),
    (FeatureSnapshot, "user"),  # which others' events name as long as they are there
)
TRACES: Final[tuple[Field, ...]] = (*_AT_ONCE, *_ROWS, *_PAIRS, *_AFTER_PAIRS, (Change, "user"))

_AT_A_TIME: Final = 100  # rows, or people who are looked at together
_DECKS: Final = 16  # whose cards are taken in one commit
_OTHERS: Final = 16  # whose decisions are, where no log has to be folded
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
                return ErasureProgress(done=False, people_left=len(_others(reader, user, _COUNTED)))
            if not self.erased_tokens.was_erased_in(reader, user):
                raise nobody(user)
        return ErasureProgress(done=True, people_left=0)

    def erase(self, user: str) -> None:
        """All of it before this returns, for commands. A service on the same store leaves it to the command meanwhile."""
        begun = self.begin(user)
        if begun.done:
            raise nobody(user)
        mine = self._lease.take()
        try:
            self._clean(user, _never, _unwatched)
        finally:
            if mine:
                self._lease.let_go()
        if not self.scrubbing.delay:
            self.scrubbing.run()

    def work(self, stopping: Callable[[], bool] = _never, watch: Watch = _unwatched) -> int:
        """Finish all erasures, in one process at a time. Returns how many were finished.

        A rater whose log changes all the time is left for the next call, and so is whatever the store cannot take now. `watch` is
        told how many people are done of those who have traces of the person whose turn it is.
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
                        self._clean(user, ends, watch)
                        finished += 1
                    except StoreUnavailable as error:
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
        found = [one for kind, name in _AT_ONCE for one in transaction.find(kind, **_equal(name, user))]
        for one in found:
            transaction.drop(type(one), *one.identity())
        self.erased_tokens.record_erasure(transaction, user)
        transaction.put(PendingErasure(user=user))
        transaction.append(Change(id=self.context.new_id(), user=user, at=self.context.clock()))
        return True

    def _clean(self, user: str, ends: Callable[[], bool], watch: Watch) -> None:
        """Everything that is left of a person."""

        def rest(done: int = 0, people: int = 0) -> None:
            if people:
                watch(done, people)
            self.context.rest()
            if ends():
                raise _Stopped

        self.record(user, self.context.clock())  # before it is over: until then nobody can come under this id
        if self.context.snapshot is not None:
            self.context.snapshot.overwrite(user)
        self._take_cards(user, rest)
        while self._drop_rows(user, _ROWS, rest) + self._forget_others(user, rest) + self._drop_rows(user, _AFTER_PAIRS, rest):
            pass  # until there is nothing
        while not self.context.store.write(partial(self._finish, user), locks=[user, SCRUB]).result():
            rest()

    def _take_cards(self, user: str, rest: Rest) -> None:
        """The person's cards, out of the decks of others and out of what is filed about decks."""
        for decks in _some(decks_with(self.context, user), _DECKS):
            locks = [user, *{viewer for viewer, _ in decks}]
            self.context.store.write(partial(remove_cards, user=user, decks=decks), locks=locks).result()
            rest()
        for until in filed_with(self.context, user):
            self.context.store.write(partial(forget_appearances, user=user, until=until), locks=[user, APPEARANCES]).result()
            rest()

    def _drop_rows(self, user: str, fields: Iterable[Field], rest: Rest) -> int:
        """Rows that name the person, some at a time. Returns how many there were."""
        dropped = 0
        for kind, name in fields:
            while True:
                with self.context.store.read() as reader:
                    rows = reader.find(kind, limit=_AT_A_TIME, **_equal(name, user))
                if not rows:
                    break
                named = {getattr(row, of) for row in rows for one, of in TRACES if one is kind} - {"", None}
                reads = [(kind, row.identity()) for row in rows]
                self.context.store.write(partial(self._drop, user, rows), locks=sorted({user, *named}), prefetch=reads).result()
                dropped += len(rows)
                rest()
        return dropped

    def _drop(self, user: str, rows: Sequence[Record], transaction: Transaction) -> None:
        if transaction.get(PendingErasure, user) is None:
            return  # another process has finished it: whoever has the name by now is somebody new
        for row in rows:
            now = transaction.get(type(row), *row.identity())
            if isinstance(now, SeenTraits):
                withdraw(transaction, now)
                self._changed(transaction, now.candidate)
                continue
            transaction.drop(type(row), *row.identity())
            if isinstance(now, OutboxMessage):
                transaction.drop(Delivery, now.id)
            if isinstance(now, MatchSide) and now.other == user and now.ended is None:
                count_match(transaction, self.context, now.user, -1)

    def _forget_others(self, user: str, rest: Rest) -> int:
        """Take the person out of what others decided and learned, and their decisions out of others' appeal and traits."""
        with self.context.store.read() as reader:
            judged = {str(rater) for (rater,) in reader.values(Event, ("user",), candidate=user)}
            raters = {rater for (rater,) in reader.many(Person, [(rater,) for rater in judged])}  # others have no state any more
            others = (_others(reader, user) | judged) - raters
        people, failure = len(others) + len(raters), None
        for some in _some(sorted(others), _OTHERS):
            work = partial(self._forget, user, some, self._seen(user, some))
            self.context.store.write(work, locks=[user, *some]).result()
            rest()
        for done, rater in enumerate(sorted(raters), len(others)):
            while self._drop_newest(user, rater):
                rest()
            commit = partial(self._forget_rater, user, rater, self._seen(user, [rater]))
            try:
                for _ in refolding(self.context, rater, lambda event: event.candidate == user, commit, locks=[user]):
                    rest()
            except StoreUnavailable as error:  # their log changes all the time: the others go on
                failure = error
            rest(done + 1, people)
        if failure is not None:
            raise failure
        return people + self._drop_rows(user, ((Event, "candidate"),), rest)

    def _drop_newest(self, user: str, rater: str) -> bool:
        """Whether a rater had more swipes on the person than one commit takes. The newest are dropped first: the first answer,
        which is the one that counts, goes with what was learned from it."""
        with self.context.store.read() as reader:
            swipes = reader.find(Event, user=rater, candidate=user, newest=True, limit=2 * _AT_A_TIME)
        if len(swipes) <= _AT_A_TIME:
            return False

        def work(transaction: Transaction) -> None:
            if transaction.get(PendingErasure, user) is not None:
                for swipe in swipes[:_AT_A_TIME]:
                    transaction.drop(Event, *swipe.identity())
                    transaction.drop(Event, *undo_of(swipe))
                self._changed(transaction, rater)

        self.context.store.write(work, locks=[user, rater]).result()
        return True

    def _seen(self, user: str, others: Iterable[str]) -> dict[str, list[SeenTraits]]:
        """What the person and others said of each other's traits, by the other. Nothing is added to it any more."""
        with self.context.store.read() as reader:
            return {
                other: reader.find(SeenTraits, user=user, candidate=other, limit=_AT_A_TIME)
                + reader.find(SeenTraits, user=other, candidate=user, limit=_AT_A_TIME)
                for other in others
            }

    def _forget_rater(
        self, user: str, rater: str, seen: dict[str, list[SeenTraits]], transaction: Transaction, log: FoldedLog
    ) -> None:
        """The swipes of a rater on the person, and what was learned from them."""
        counters = transaction.get(PersonCounters, rater)
        if transaction.get(PendingErasure, user) is not None:
            for key in log.left_out:
                transaction.drop(Event, *key)
            if counters is not None:
                transaction.put(log.recounted(counters))
        self._forget(user, [rater], seen, transaction)

    def _forget(self, user: str, others: Sequence[str], seen: dict[str, list[SeenTraits]], transaction: Transaction) -> None:
        """What the person and others decided on each other."""
        if transaction.get(PendingErasure, user) is None:
            return  # another process has finished it: whoever has the name by now is somebody new
        for other in others:
            for one in seen[other]:
                if transaction.get(SeenTraits, *one.identity()) is not None:
                    withdraw(transaction, one)
            given, counters = transaction.get(LatestDecision, user, other), transaction.get(PersonCounters, other)
            if given is not None and given.appeal_as_of is not None and counters is not None:
                how = self.context.config.appeal
                transaction.put(without_evidence(counters, given.excess, given.information, given.appeal_as_of, how))
            transaction.drop(LatestDecision, user, other)
            transaction.drop(LatestDecision, other, user)
            self._changed(transaction, other)

    def _changed(self, transaction: Transaction, other: str) -> None:
        """Every process has the old state, appeal and traits in memory; a fold of their log that is under way has old events."""
        if transaction.get(Person, other) is not None:
            transaction.append(Change(id=self.context.new_id(), user=other, at=self.context.clock()))

    def _finish(self, user: str, transaction: Transaction) -> bool:
        """Whether that was all. What tells of the erasure names the id, and nothing else does."""
        if transaction.get(PendingErasure, user) is None:
            return True  # another process was at it too, and has announced it
        changes = transaction.find(Change, user=user, limit=_AT_A_TIME)
        for one in changes:
            transaction.drop(Change, one.id)
        last = len(changes) < _AT_A_TIME
        if last:
            transaction.drop(PendingErasure, user)
            forget_number(transaction, self.context, user)
            announce(transaction, self.context, "profile.erased", user, {})
            transaction.put(ErasedId(user=user))
        transaction.append(Change(id=self.context.new_id(), user=user, at=self.context.clock()))
        return last

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
        named = _named_in(transaction, user)
        if named and named <= {Change, OutboxMessage}:
            return
        transaction.drop(ErasedId, user)
        if not named:
            forget_number(transaction, self.context, user)


def _some(of: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (of[first : first + size] for first in range(0, len(of), size))


def _equal(name: str, user: str) -> dict[str, Any]:
    return {name: user}


def _others(reader: Snapshot, user: str, most: int | None = None) -> set[str]:
    """Who decided on a person, and on whom the person decided."""
    given = reader.values(LatestDecision, ("candidate",), user=user, limit=most)
    taken = reader.values(LatestDecision, ("user",), candidate=user, limit=most)
    return {str(other) for (other,) in (*given, *taken)}


def _named_in(reader: Reader, user: str) -> set[type[Record]]:
    """In which tables somebody is named, but for `ErasedId`."""
    return {kind for kind, name in TRACES if kind is not ErasedId and reader.find(kind, limit=1, **_equal(name, user))}


def _only_told_of(reader: Reader, user: str) -> bool:
    """Whether an erased id is named by what tells of the erasure, and by nothing else."""
    return bool(named := _named_in(reader, user)) and named <= {Change, OutboxMessage}
