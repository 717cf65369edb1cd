"""What has to be done now and then: end silent sessions, drop what has been kept long enough.

Old records are dropped in short ranges, one statement and one commit each, with a rest after each: swipes wait for none for long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import takewhile
from typing import Any, TypeVar, final

from kaczmatch.service.access.erased_tokens import drop_expired
from kaczmatch.service.domain.appearances import file_decks
from kaczmatch.service.domain.changes import SILENCE, last_dropped_change, live_processes
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.leases import Lease
from kaczmatch.service.domain.locks import CHANGES
from kaczmatch.service.domain.records import (
    AuditEntry,
    Change,
    DeckAppearances,
    Delivery,
    LastDroppedChange,
    OutboxMessage,
    PersonCounters,
    RequestMinute,
    ServiceStart,
    ServingProcess,
    StoredDeck,
)
from kaczmatch.service.domain.store import Reader, Transaction
from kaczmatch.service.meeting.swipes import Swipes
from kaczmatch.service.operations.request_log import KEPT

Dated = TypeVar("Dated", Change, OutboxMessage, AuditEntry, DeckAppearances, StoredDeck, RequestMinute, ServiceStart)

_AT_ONCE = 250
_SESSIONS = 50  # each is a work of its own
_CHANGES_KEPT = timedelta(minutes=5)  # and longer, until all live processes have read them


@final
@dataclass(frozen=True, slots=True)
class Maintenance:
    """Every process offers to run it from time to time; one at a time does."""

    context: Context
    _lease: Lease = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_lease", Lease(self.context, "maintenance"))

    def run(self) -> dict[str, int]:
        """What was done, by name; nothing where another process is at it."""
        if not self._lease.take():
            return {}
        now, rules = self.context.clock(), self.context.config
        try:
            return {
                "silent processes dropped": self._drop_silent_processes(now),
                "changes dropped": self._drop_before(Change, now - _CHANGES_KEPT),
                "erased tokens dropped": drop_expired(self.context),
                "sessions ended": self.end_silent_sessions(),
                "messages dropped": self._drop_messages(now - rules.keep_messages),
                "audit lines dropped": self._drop_before(AuditEntry, now - rules.keep_audit),
                "decks filed": file_decks(self.context),
                "decks dropped": self._drop_before(StoredDeck, now - rules.keep_impressions),
                "filed decks dropped": self._drop_before(DeckAppearances, now - rules.keep_impressions),
                "minutes dropped": self._drop_before(RequestMinute, now - KEPT),
                "starts dropped": self._drop_before(ServiceStart, now - KEPT),
            }
        finally:
            self._lease.let_go()

    def end_silent_sessions(self) -> int:
        """Sessions without a swipe for a while have ended: block rules learn from them then."""
        silent_since = self.context.clock() - self.context.config.session_silence
        ended = 0
        while True:
            with self.context.store.read() as reader:
                page = reader.find(PersonCounters, in_session=True, limit=_SESSIONS)  # the longest silent first
            silent = [one for one in page if one.last_swipe_at <= silent_since]
            done = [Swipes(self.context).end_session(one.user, at=silent_since) for one in silent]
            now_ended = sum(one.result() for one in done)
            ended += now_ended
            if not now_ended:
                return ended
            self.context.rest()

    def _drop_silent_processes(self, now: datetime) -> int:
        """They load everybody again, should they come back."""

        def work(transaction: Transaction) -> int:
            silent = [one.id for one in transaction.find(ServingProcess) if now - one.seen >= SILENCE]
            for process in silent:
                transaction.drop(ServingProcess, process)
            return len(silent)

        return self.context.store.write(work, locks=[CHANGES]).result()

    def _drop_before(self, kind: type[Dated], limit: datetime) -> int:
        """Records that are older than that; they are listed by age."""
        dropped = 0
        while self._lease.take():
            with self.context.store.read() as reader:
                last, number = _oldest(reader, kind, limit)
            if last is None:
                break
            place = getattr(last, kind.listed_by()[0])  # its number or its time
            locks = (CHANGES,) if kind is Change else ()
            if not self.context.store.write(partial(self._drop_through, kind, place), locks=locks).result():
                break
            dropped += number
            self.context.rest()
        return dropped

    def _drop_through(self, kind: type[Dated], place: Any, transaction: Transaction) -> bool:
        """False: a process has not read these changes yet."""
        if kind is Change:
            if any(process.changes_read < place for process in live_processes(transaction, self.context.clock())):
                return False
            transaction.put(LastDroppedChange(change=max(last_dropped_change(transaction), place)))
        transaction.drop_through(kind, place)
        return True

    def _drop_messages(self, limit: datetime) -> int:
        """Each has a delivery under its id, so messages are loaded."""
        dropped = 0
        while self._lease.take():
            with self.context.store.read() as reader:
                old = [one for one in reader.find(OutboxMessage, limit=_AT_ONCE) if one.at < limit]
            if not old:
                break
            self.context.store.write(partial(_drop_all, old)).result()
            dropped += len(old)
            self.context.rest()
        return dropped


def _oldest(reader: Reader, kind: type[Dated], limit: datetime) -> tuple[Dated | None, int]:
    """The last of the oldest records, a batch of them at most, that are older than a moment; and how many that are."""
    edge = reader.find(kind, skip=_AT_ONCE - 1, limit=1)
    if edge and _time(edge[0]) < limit:
        return edge[0], _AT_ONCE
    old = list(takewhile(lambda one: _time(one) < limit, reader.find(kind, limit=_AT_ONCE)))
    return (old[-1], len(old)) if old else (None, 0)


def _time(record: Dated) -> datetime:
    return record.until if isinstance(record, DeckAppearances) else record.at


def _drop_all(messages: Sequence[OutboxMessage], transaction: Transaction) -> None:
    for message in messages:
        transaction.drop(OutboxMessage, *message.identity())
        transaction.drop(Delivery, message.id)
