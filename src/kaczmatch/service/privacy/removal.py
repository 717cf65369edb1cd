"""Removes every trace of a person who is gone, in steps. Each is a commit of a bounded number of rows.

What it reads to find them, and the logs of others that it folds without the person, it reads beside the commits. It can be
stopped or killed after any step, and begins again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar, final

from kaczmatch.service.domain.appeal import without_evidence
from kaczmatch.service.domain.appearances import decks_with, filed_with, forget_appearances, remove_cards
from kaczmatch.service.domain.capacity import count_match
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.folding import undo_of
from kaczmatch.service.domain.locks import APPEARANCES, SCRUB
from kaczmatch.service.domain.outbox import announce
from kaczmatch.service.domain.records import (
    Change,
    Delivery,
    ErasedId,
    Event,
    LatestDecision,
    MatchSide,
    OutboxMessage,
    PendingErasure,
    Person,
    PersonCounters,
    Record,
    SeenTraits,
)
from kaczmatch.service.domain.refolding import FoldedLog, refolding
from kaczmatch.service.domain.scrubbing import forget_number
from kaczmatch.service.domain.store import StoreUnavailable, Transaction
from kaczmatch.service.domain.traits import withdraw
from kaczmatch.service.privacy.traces import AFTER_PAIRS, ROWS, Field, others_with_decisions, people_named, rows_naming

T = TypeVar("T")

_AT_A_TIME: Final = 100  # rows
_DECKS: Final = 16  # whose cards are taken in one commit
_OTHERS: Final = 16  # whose decisions are, where no log has to be folded


@final
class Overtaken(Exception):
    """Another process has finished this erasure."""


@final
@dataclass(frozen=True, slots=True)
class Removal:
    """Of one person. `rest` is called after each commit, with how many are done of how many people where that is known."""

    context: Context
    user: str
    rest: Callable[..., None]

    def run(self) -> None:
        """A rater whose log changes all the time is left, and `StoreUnavailable` raised when all others are done."""
        if self.context.snapshot is not None:
            self.context.snapshot.overwrite(self.user)
        self._take_cards()
        while self._drop_rows(ROWS) + self._forget_others() + self._drop_rows(AFTER_PAIRS):
            pass  # until there is nothing
        while not self.context.store.write(self._finish, locks=[self.user, SCRUB]).result():
            self.rest()

    def _take_cards(self) -> None:
        """The person's cards, out of the decks of others and out of what is filed about decks."""
        for decks in _some(decks_with(self.context, self.user, self.rest), _DECKS):
            locks = [self.user, *{viewer for viewer, _ in decks}]
            self.context.store.write(partial(remove_cards, user=self.user, decks=decks), locks=locks).result()
            self.rest()
        for until in filed_with(self.context, self.user):
            self.context.store.write(
                partial(forget_appearances, user=self.user, until=until), locks=[self.user, APPEARANCES]
            ).result()
            self.rest()

    def _drop_rows(self, fields: Iterable[Field]) -> int:
        """Rows that name the person, some at a time. Returns how many there were."""
        dropped = 0
        for field in fields:
            while True:
                with self.context.store.read() as reader:
                    rows = rows_naming(reader, self.user, field, _AT_A_TIME)
                if not rows:
                    break
                reads = [(type(row), row.identity()) for row in rows]
                locks = sorted({self.user, *people_named(rows)})
                self.context.store.write(partial(self._drop, rows), locks=locks, prefetch=reads).result()
                dropped += len(rows)
                self.rest()
        return dropped

    def _drop(self, rows: Sequence[Record], transaction: Transaction) -> None:
        self._check(transaction)
        for row in rows:
            now = transaction.get(type(row), *row.identity())
            if isinstance(now, SeenTraits):
                withdraw(transaction, now)
                self._changed(transaction, now.candidate)
                continue
            transaction.drop(type(row), *row.identity())
            if isinstance(now, OutboxMessage):
                transaction.drop(Delivery, now.id)
            if isinstance(now, MatchSide) and now.other == self.user and now.ended is None:
                count_match(transaction, self.context, now.user, -1)

    def _forget_others(self) -> int:
        """Take the person out of what others decided and learned, and their decisions out of others' appeal and traits."""
        with self.context.store.read() as reader:
            judged = {str(rater) for (rater,) in reader.values(Event, ("user",), candidate=self.user)}
            raters = {rater for (rater,) in reader.many(Person, [(rater,) for rater in judged])}  # others have no state any more
            others = (others_with_decisions(reader, self.user) | judged) - raters
        people, failure = len(others) + len(raters), None
        for some in _some(sorted(others), _OTHERS):
            work = partial(self._forget, some, self._seen(some))
            self.context.store.write(work, locks=[self.user, *some]).result()
            self.rest()
        for done, rater in enumerate(sorted(raters), len(others)):
            while self._drop_newest(rater):
                self.rest()
            commit = partial(self._forget_rater, rater, self._seen([rater]))
            try:
                for _ in refolding(self.context, rater, lambda event: event.candidate == self.user, commit, locks=[self.user]):
                    self.rest()
            except StoreUnavailable as error:  # their log changes all the time: the others go on
                failure = error
            self.rest(done + 1, people)
        if failure is not None:
            raise failure
        return people + self._drop_rows([(Event, "candidate")])

    def _drop_newest(self, rater: str) -> bool:
        """Whether a rater had more swipes on the person than one commit takes. The newest are dropped first: the first answer,
        which is the one that counts, goes with what was learned from it."""
        with self.context.store.read() as reader:
            swipes = reader.find(Event, user=rater, candidate=self.user, newest=True, limit=2 * _AT_A_TIME)
        if len(swipes) <= _AT_A_TIME:
            return False

        def work(transaction: Transaction) -> None:
            self._check(transaction)
            for swipe in swipes[:_AT_A_TIME]:
                transaction.drop(Event, *swipe.identity())
                transaction.drop(Event, *undo_of(swipe))
            self._changed(transaction, rater)

        self.context.store.write(work, locks=[self.user, rater]).result()
        return True

    def _seen(self, others: Iterable[str]) -> dict[str, list[SeenTraits]]:
        """What the person and others said of each other's traits, by the other. Nothing is added to it any more."""
        with self.context.store.read() as reader:
            return {
                other: reader.find(SeenTraits, user=self.user, candidate=other, limit=_AT_A_TIME)
                + reader.find(SeenTraits, user=other, candidate=self.user, limit=_AT_A_TIME)
                for other in others
            }

    def _forget_rater(self, rater: str, seen: dict[str, list[SeenTraits]], transaction: Transaction, log: FoldedLog) -> None:
        """The swipes of a rater on the person, and what was learned from them."""
        self._check(transaction)
        counters = transaction.get(PersonCounters, rater)
        for key in log.left_out:
            transaction.drop(Event, *key)
        if counters is not None:
            transaction.put(log.recounted(counters))
        self._forget([rater], seen, transaction)

    def _forget(self, others: Sequence[str], seen: dict[str, list[SeenTraits]], transaction: Transaction) -> None:
        """What the person and others decided on each other."""
        self._check(transaction)
        for other in others:
            for one in seen[other]:
                if transaction.get(SeenTraits, *one.identity()) is not None:
                    withdraw(transaction, one)
            given, counters = transaction.get(LatestDecision, self.user, other), transaction.get(PersonCounters, other)
            if given is not None and given.appeal_as_of is not None and counters is not None:
                how = self.context.config.appeal
                transaction.put(without_evidence(counters, given.excess, given.information, given.appeal_as_of, how))
            transaction.drop(LatestDecision, self.user, other)
            transaction.drop(LatestDecision, other, self.user)
            self._changed(transaction, other)

    def _check(self, transaction: Transaction) -> None:
        """Another process may have finished it, and whoever has the name by now is somebody new."""
        if transaction.get(PendingErasure, self.user) is None:
            raise Overtaken

    def _changed(self, transaction: Transaction, other: str) -> None:
        """Every process has the old state, appeal and traits in memory; a fold of their log that is under way has old events."""
        if transaction.get(Person, other) is not None:
            transaction.append(Change(id=self.context.new_id(), user=other, at=self.context.clock()))

    def _finish(self, transaction: Transaction) -> bool:
        """Whether that was all. What tells of the erasure names the id, and nothing else does."""
        self._check(transaction)
        changes = transaction.find(Change, user=self.user, limit=_AT_A_TIME)
        for one in changes:
            transaction.drop(Change, one.id)
        last = len(changes) < _AT_A_TIME
        if last:
            transaction.drop(PendingErasure, self.user)
            forget_number(transaction, self.context, self.user)
            announce(transaction, self.context, "profile.erased", self.user, {})
            transaction.put(ErasedId(user=self.user))
        transaction.append(Change(id=self.context.new_id(), user=self.user, at=self.context.clock()))
        return last


def _some(of: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (of[first : first + size] for first in range(0, len(of), size))
