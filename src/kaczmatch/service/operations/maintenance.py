"""What has to be done now and then: end silent sessions, drop what has been kept long enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar, final

from kaczmatch.service.access.erased_tokens import drop_expired
from kaczmatch.service.domain.changes import last_dropped_change
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.locks import CHANGES
from kaczmatch.service.domain.records import (
    AuditEntry,
    Change,
    Delivery,
    Impression,
    LastDroppedChange,
    OutboxMessage,
    PersonCounters,
    Record,
    StoredDeck,
)
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.meeting.swipes import Swipes

Dated = TypeVar("Dated", Change, OutboxMessage, AuditEntry, Impression, StoredDeck)

_AT_ONCE = 1_000
_CHANGES_KEPT = timedelta(minutes=5)  # every process reads them within two seconds; one that was away loads everybody again


@final
@dataclass(frozen=True, slots=True)
class Maintenance:
    """Run by every process from time to time; running it twice does no harm."""

    context: Context

    def run(self) -> dict[str, int]:
        """What was done, by name."""
        now, rules = self.context.clock(), self.context.config
        return {
            "erased tokens dropped": drop_expired(self.context),
            "sessions ended": self.end_silent_sessions(),
            "changes dropped": self._drop_before(Change, now - _CHANGES_KEPT),
            "messages dropped": self._drop_before(OutboxMessage, now - rules.keep_messages),
            "audit lines dropped": self._drop_before(AuditEntry, now - rules.keep_audit),
            "cards dropped": self._drop_before(Impression, now - rules.keep_impressions),
            "decks dropped": self._drop_before(StoredDeck, now - rules.keep_impressions),
        }

    def end_silent_sessions(self) -> int:
        """Sessions without a swipe for a while have ended: block rules learn from them then."""
        silent_since = self.context.clock() - self.context.config.session_silence
        ended = 0
        while True:
            with self.context.store.read() as reader:
                page = reader.find(PersonCounters, in_session=True, limit=_AT_ONCE)  # the longest silent first
            silent = [one for one in page if one.last_swipe_at <= silent_since]
            done = [Swipes(self.context).end_session(one.user, at=silent_since) for one in silent]
            now_ended = sum(one.result() for one in done)
            ended += now_ended
            if not now_ended:
                return ended

    def _drop_before(self, kind: type[Dated], limit: datetime) -> int:
        """Records older than that; they are listed by age."""
        dropped = 0
        while True:
            with self.context.store.read() as reader:
                old = [one for one in reader.find(kind, limit=_AT_ONCE) if one.at < limit]
            if not old:
                return dropped
            locks = (CHANGES,) if kind is Change else ()
            self.context.store.write(partial(_drop_all, old), locks=locks).result()
            dropped += len(old)


def _drop_all(records: Sequence[Record], transaction: Transaction) -> None:
    changes = [record for record in records if isinstance(record, Change)]
    if changes:
        transaction.put(LastDroppedChange(change=max(last_dropped_change(transaction), *(one.number for one in changes))))
    for record in records:
        transaction.drop(type(record), *record.identity())
        if isinstance(record, OutboxMessage):
            transaction.drop(Delivery, record.id)
