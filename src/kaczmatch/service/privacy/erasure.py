"""Erasure: first the person is gone, at once; then every trace in other people's logs, and states are folded without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, final

from kaczmatch.service.access.erased_tokens import ErasedTokens
from kaczmatch.service.domain.appeal import without_evidence
from kaczmatch.service.domain.appearances import decks_with, forget_appearances, remove_cards
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.counting import recounted
from kaczmatch.service.domain.folding import models_that_learn, without_undone
from kaczmatch.service.domain.locks import APPEARANCES, SCRUB
from kaczmatch.service.domain.outbox import announce
from kaczmatch.service.domain.person_ids import checked_id
from kaczmatch.service.domain.records import (
    SINGLE_ROW,
    AbuseReport,
    ActiveVersions,
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
    TraitProgress,
)
from kaczmatch.service.domain.refusals import nobody
from kaczmatch.service.domain.scrubbing import Scrubbing, forget_number
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.domain.traits import with_seen, withdraw
from kaczmatch.service.meeting.profiles import being_erased

# Every field that names a person, but for `PendingErasure`, which goes when the erasure is finished. A test walks all records to
# see that none is missing. Cards of decks name people too, many in one field: see `appearances`.
TRACES: tuple[tuple[type[Record], str], ...] = (
    (Person, "id"),
    (NameSuffix, "user"),
    (FeatureSnapshot, "user"),
    (ErasedId, "user"),
    (PersonCounters, "user"),
    (HeldPerson, "user"),
    (StoredState, "user"),
    (StoredTraits, "user"),
    (SeenTraits, "user"),
    (SeenTraits, "candidate"),
    (StoredDeck, "user"),
    (Pick, "user"),
    (Pick, "candidate"),
    (MatchSide, "user"),
    (MatchSide, "other"),
    (Block, "user"),
    (Block, "other"),
    (AbuseReport, "user"),
    (AbuseReport, "other"),
    (OutboxMessage, "user"),
    (OutboxMessage, "other"),
    (Change, "user"),
    (AuditEntry, "user"),
    (Event, "user"),
    (Event, "candidate"),
    (LatestDecision, "user"),
    (LatestDecision, "candidate"),
)
_AT_ONCE = 100
_DECKS_AT_ONCE = 16
_LATER = {
    (FeatureSnapshot, "user"),  # which others' events name as long as they are there
    (Event, "candidate"),
    (LatestDecision, "user"),
    (LatestDecision, "candidate"),
    (SeenTraits, "user"),
    (SeenTraits, "candidate"),
}  # those touch other people, who are taken one at a time


def _no_ledger(user: str, at: datetime) -> None:
    """Memory has no backups."""


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

    def erase(self, user: str) -> None:
        """Leave nothing of a person. If it is interrupted, `resume` goes on, and so does asking again."""
        checked_id(user)
        self.context.store.write(lambda tx: self._remove(tx, user), locks=[user]).result()
        self._clean(user)
        if not self.scrubbing.delay:
            self.scrubbing.run()

    def resume(self) -> int:
        """Finish erasures that were interrupted, and scrub if it is time."""
        with self.context.store.read() as reader:
            jobs = being_erased(reader, limit=_AT_ONCE)
            told = [one.user for one in reader.find(ErasedId, limit=_AT_ONCE)]
        for user in jobs:
            self._clean(user)
        for user in told:
            self.context.store.write(partial(self._drop_id, user=user), locks=[user, SCRUB]).result()
        self.scrubbing.run()
        return len(jobs)

    def _remove(self, transaction: Transaction, user: str) -> None:
        """From now on nobody meets this person, and nothing new can be said of them."""
        if transaction.get(Person, user) is None:
            if transaction.get(PendingErasure, user) is not None:
                return  # it was begun, and goes on
            raise nobody(user)
        found: list[Record] = []
        for kind, field in TRACES:
            equal: dict[str, Any] = {field: user}
            found += [] if (kind, field) in _LATER else transaction.find(kind, **equal)
        for record in found:
            transaction.drop(type(record), *record.identity())
            if isinstance(record, OutboxMessage):
                transaction.drop(Delivery, record.id)
        self.erased_tokens.record_erasure(transaction, user)
        transaction.put(PendingErasure(user=user))
        transaction.append(Change(id=self.context.new_id(), user=user, at=self.context.clock()))

    def _clean(self, user: str) -> None:
        """Everybody who swiped on this person, or on whom they swiped, one at a time."""
        self.record(user, self.context.clock())  # before it is over: until then nobody can come under this id
        if self.context.snapshot is not None:
            self.context.snapshot.overwrite(user)
        self._take_cards(user)
        with self.context.store.read() as reader:
            others = {event.user for event in reader.find(Event, candidate=user)}
            others |= {pair.candidate for pair in reader.find(LatestDecision, user=user)} | {
                pair.user for pair in reader.find(LatestDecision, candidate=user)
            }
        for other in sorted(others):
            self.context.store.write(partial(self._forget, user=user, other=other), locks=[user, other]).result()
            self.context.rest()

        def finished(transaction: Transaction) -> None:
            if transaction.get(PendingErasure, user) is None:
                return  # another process was at it too, and has announced it
            found = [*transaction.find(Change, user=user), *transaction.find(FeatureSnapshot, user=user)]
            transaction.drop(PendingErasure, user)
            for record in found:
                transaction.drop(type(record), *record.identity())
            forget_number(transaction, self.context, user)
            transaction.append(Change(id=self.context.new_id(), user=user, at=self.context.clock()))
            announce(transaction, self.context, "profile.erased", user, {})
            transaction.put(ErasedId(user=user))

        self.context.store.write(finished, locks=[user, SCRUB]).result()

    def _take_cards(self, user: str) -> None:
        """The person's cards, out of the decks of others and out of what is filed about decks."""
        decks = decks_with(self.context, user)
        for first in range(0, len(decks), _DECKS_AT_ONCE):
            some = decks[first : first + _DECKS_AT_ONCE]
            locks = [user, *{viewer for viewer, _ in some}]
            self.context.store.write(partial(remove_cards, user=user, decks=some), locks=locks).result()
            self.context.rest()
        self.context.store.write(partial(forget_appearances, user=user), locks=[user, APPEARANCES]).result()

    def _drop_id(self, transaction: Transaction, user: str) -> None:
        """The id of an erased person, once nothing names it. If it is used again, it is not ours any more."""
        named = set()
        for kind, field in TRACES:
            equal: dict[str, Any] = {field: user}
            if kind is not ErasedId and transaction.find(kind, limit=1, **equal):
                named.add(kind)
        if named and named <= {Change, OutboxMessage}:
            return
        transaction.drop(ErasedId, user)
        if not named:
            forget_number(transaction, self.context, user)

    def _forget(self, transaction: Transaction, user: str, other: str) -> None:
        """One person's log and state without the other, and their appeal and traits without what the other thought."""
        if transaction.get(PendingErasure, user) is None:
            return  # another process has finished it: whoever has the name by now is somebody new
        events = transaction.find(Event, user=other)
        gone = {event.id for event in events if event.candidate == user}
        kept = [event for event in events if event.id not in gone and event.undoes not in gone]
        said = transaction.find(SeenTraits, user=user, candidate=other) + transaction.find(SeenTraits, user=other, candidate=user)
        given, counters = transaction.get(LatestDecision, user, other), transaction.get(PersonCounters, other)
        if counters is not None:  # a match with the erased person is gone
            counters = replace(counters, open_matches=transaction.count(MatchSide, user=other, ended=None))
        for event in events:
            if event.id in gone or event.undoes in gone:
                transaction.drop(Event, *event.identity())
        for one in said:  # of either about the other
            withdraw(transaction, one)
        if gone:
            refold(transaction, self.context, self.context.catalogue.current(transaction), other, kept)
        if counters is not None:
            counters = recounted(counters, kept) if gone else counters
            transaction.put(counters)
        if given is not None and given.appeal_as_of is not None and counters is not None:
            transaction.put(
                without_evidence(counters, given.excess, given.information, given.appeal_as_of, self.context.config.appeal)
            )
        transaction.drop(LatestDecision, user, other)
        transaction.drop(LatestDecision, other, user)
        if counters is not None:  # every process has the old state and appeal in memory
            transaction.append(Change(id=self.context.new_id(), user=other, at=self.context.clock()))


def refold(transaction: Transaction, context: Context, current: ActiveVersions, user: str, events: list[Event]) -> None:
    """The states of a person anew from their events, of every model that learns."""
    for model in models_that_learn(transaction, current, user):
        fold = context.catalogue.fold(transaction, model)
        transaction.put(fold.encode(user, fold.replay(with_seen(transaction, fold, events))))
    if current.building_traits and transaction.get(StoredState, current.building, user) is not None:
        # The pass has come to an event of theirs, which may be gone by now. So the progress is that of this model.
        fold, progress = context.catalogue.fold(transaction, current.building), transaction.get(TraitProgress, SINGLE_ROW)
        last = 0 if progress is None else progress.event
        passed = [event for event in without_undone(events) if 0 < event.number <= last]
        transaction.put(fold.encode(user, fold.replay(with_seen(transaction, fold, passed))))
