"""What an operator may do: see one person's timeline, where every look leaves an audit line, and hold somebody back."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from typing import final

from kaczmatch.schemas.operators import Overview, Timeline, TimelineEntry
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import AbuseReport, AuditEntry, Event, HeldPerson, MatchSide, Person, StoredDeck
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.meeting.profiles import require_person, set_paused
from kaczmatch.service.operations.overview import overview


@final
@dataclass(frozen=True, slots=True)
class OperatorActions:
    """The use cases of an operator."""

    context: Context

    def timeline(self, user: str, actor: str, *, limit: int = 200) -> Timeline:
        """What one person did and what was done about them. That it was looked at is written down first."""

        def work(transaction: Transaction) -> tuple[Person, bool]:
            person, held = require_person(transaction, user), transaction.get(HeldPerson, user) is not None
            transaction.append(self._audit(actor, "looked at timeline", user))
            return person, held

        reads = [(Person, (user,)), (HeldPerson, (user,))]
        person, held = self.context.store.write(work, locks=[user], prefetch=reads).result()
        with self.context.store.read() as reader:
            entries = [
                TimelineEntry(at=one.at, kind=one.decision or one.kind, other=one.candidate or "", detail=one.deck or "")
                for one in reader.find(Event, user=user, newest=True, limit=limit)
            ]
            entries += [
                TimelineEntry(at=one.at, kind="deck dealt", detail=f"{one.policy}: {one.reason}")
                for one in reader.find(StoredDeck, user=user, newest=True, limit=limit)
            ]
            entries += [
                TimelineEntry(at=one.at, kind="matched", other=one.other)
                for one in reader.find(MatchSide, user=user, newest=True, limit=limit)
            ]
            made = reader.find(AbuseReport, newest=True, limit=limit, user=user)
            received = reader.find(AbuseReport, newest=True, limit=limit, other=user)
            for found, kind, other in ((made, "reported", "other"), (received, "was reported by", "user")):
                entries += [TimelineEntry(at=one.at, kind=kind, other=getattr(one, other), detail=one.reason) for one in found]
            looks = reader.find(AuditEntry, user=user, newest=True, limit=limit)
            entries += [TimelineEntry(at=one.at, kind=one.action, detail=one.actor) for one in looks]
        newest = sorted(entries, key=lambda one: one.at, reverse=True)[:limit]
        return Timeline(name=person.name, paused=person.paused, held=held, entries=tuple(newest))

    def hold(self, user: str, actor: str, held: bool) -> Future[None]:
        """Somebody who is held is paused and cannot resume; released, they stay paused until they do."""

        def work(transaction: Transaction) -> None:
            person = require_person(transaction, user)
            if held:
                transaction.put(HeldPerson(user=user, actor=actor))
                if not person.paused:
                    set_paused(transaction, self.context, person, paused=True)
            else:
                transaction.drop(HeldPerson, user)
            transaction.append(self._audit(actor, "held back" if held else "released", user))

        return self.context.store.write(work, locks=[user], prefetch=[(Person, (user,)), (HeldPerson, (user,))])

    def overview(self) -> Overview:
        return overview(self.context)

    def _audit(self, actor: str, action: str, user: str) -> AuditEntry:
        return AuditEntry(id=self.context.new_id(), at=self.context.clock(), actor=actor, action=action, user=user)
