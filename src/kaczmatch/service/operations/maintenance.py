"""What has to be done now and then: end silent sessions, drop what has been kept long enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar, final

from kaczmatch.service.access.erased_tokens import forget_farewells
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Audit, Change, Dealt, Delivery, Fact, Impression, Message, Person, Record, Standing
from kaczmatch.service.domain.scrubbing import LOCK as SCRUB_LOCK
from kaczmatch.service.domain.scrubbing import soiled
from kaczmatch.service.domain.store import Reader, Unit
from kaczmatch.service.meeting.swipes import Swiping

Aging = TypeVar("Aging", Change, Message, Audit, Impression, Dealt)

_AT_ONCE = 1_000
_CHANGES_KEPT = timedelta(minutes=5)  # every process reads them within two seconds; one that was away loads everybody again
_DROPPED = "changes:dropped"  # the highest number of those that are not kept any more


@final
@dataclass(frozen=True, slots=True)
class Upkeep:
    """Run by every process from time to time; running it twice does no harm."""

    context: Context

    def run(self) -> dict[str, int]:
        """What was done, by name."""
        now, rules = self.context.clock(), self.context.rules
        return {
            "farewells dropped": forget_farewells(self.context),
            "sessions ended": self.end_silent_sessions(),
            "changes dropped": self._drop_before(Change, now - _CHANGES_KEPT),
            "messages dropped": self._drop_before(Message, now - rules.keep_messages),
            "audit lines dropped": self._drop_before(Audit, now - rules.keep_audit),
            "cards dropped": self._drop_before(Impression, now - rules.keep_impressions),
            "decks dropped": self._drop_before(Dealt, now - rules.keep_impressions),
        }

    def end_silent_sessions(self) -> int:
        """Sessions without a swipe for a while have ended: block rules learn from them then."""
        silent_since = self.context.clock() - self.context.rules.session_silence
        ended = 0
        while True:
            with self.context.store.read() as reader:
                page = reader.find(Standing, talking=True, limit=_AT_ONCE)  # the longest silent first
            silent = [one for one in page if one.swiped <= silent_since]
            done = [Swiping(self.context).end_session(one.user, at=silent_since) for one in silent]
            now_ended = sum(one.result() for one in done)
            ended += now_ended
            if not now_ended:
                return ended

    def _drop_before(self, kind: type[Aging], limit: datetime) -> int:
        """Records older than that; they are listed by age."""
        dropped = 0
        while True:
            with self.context.store.read() as reader:
                old = [one for one in reader.find(kind, limit=_AT_ONCE) if one.at < limit]
            if not old:
                return dropped
            people = ("~changes", SCRUB_LOCK) if kind in (Change, Message) else ()
            self.context.store.write(partial(_drop_all, self.context, old), people=people).result()
            dropped += len(old)


def changes_dropped(reader: Reader) -> int:
    """The number up to which changes may be missing."""
    fact = reader.get(Fact, _DROPPED)
    return 0 if fact is None else int(fact.value)


def _drop_all(context: Context, records: Sequence[Record], unit: Unit) -> None:
    changes = [record for record in records if isinstance(record, Change)]
    if changes:
        unit.put(Fact(name=_DROPPED, value=str(max(changes_dropped(unit), *(one.number for one in changes)))))
    people = {(record.user,) for record in records if isinstance(record, Change | Message)}
    if len(unit.many(Person, people)) < len(people):
        soiled(unit, context)  # the id of somebody who was erased
    for record in records:
        unit.drop(type(record), *record.identity())
        if isinstance(record, Message):
            unit.drop(Delivery, record.id)
