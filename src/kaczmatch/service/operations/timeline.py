"""What an operator may do: see one person's timeline, where every look leaves an audit line, and hold somebody back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, final

from kaczmatch.schemas.operators import (
    FoundPerson,
    GroupComparison,
    Overview,
    PersonBlock,
    ServiceHealth,
    Timeline,
    TimelineEntry,
    TimeMark,
)
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.leaving import leaving
from kaczmatch.service.domain.records import (
    AbuseReport,
    AuditEntry,
    Block,
    Event,
    HeldPerson,
    MatchSide,
    Model,
    OutboxMessage,
    Person,
    ServiceStart,
    StoredDeck,
)
from kaczmatch.service.domain.store import Reader, Transaction
from kaczmatch.service.domain.traits import with_seen
from kaczmatch.service.meeting.preferences import certainty_after
from kaczmatch.service.meeting.profiles import require_person, set_paused
from kaczmatch.service.operations.groups import compare_group
from kaczmatch.service.operations.overview import overview, webhook_status
from kaczmatch.service.operations.request_log import RequestHistory

HELD_BACK: Final = "held back"
_MOST_MODELS: Final = 10  # changes of the model that are looked at: each is two replays of the person's events


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
            entries += self._model_changes(reader, person)
            blocks = [
                *reader.find(Block, user=user, newest=True, limit=limit),
                *reader.find(Block, other=user, newest=True, limit=limit),
            ]
            looks = reader.find(AuditEntry, user=user, newest=True, limit=limit)
            entries += [TimelineEntry(at=one.at, kind=one.action, detail=one.actor) for one in looks]
            gone = leaving(
                reader, {*(one.other for one in entries), *(one.user for one in blocks), *(one.other for one in blocks)}
            )
        entries = [one for one in entries if one.other not in gone]
        blocks = [one for one in blocks if not gone & {one.user, one.other}]
        newest = sorted(entries, key=lambda one: one.at, reverse=True)[:limit]
        blocked = tuple(
            PersonBlock(user=one.user, other=one.other, at=one.at, reported=one.reported)
            for one in sorted(blocks, key=lambda one: one.at, reverse=True)
        )
        return Timeline(name=person.name, paused=person.paused, held=held, blocks=blocked, entries=tuple(newest))

    def _model_changes(self, reader: Reader, person: Person) -> list[TimelineEntry]:
        """When everybody was learned anew, and how sure the service was of this person's taste before and after."""
        catalogue = self.context.catalogue
        current = catalogue.current(reader)
        vocabulary = catalogue.vocabulary(reader, current.vocabulary)
        used = [model for model in reader.find(Model) if model.id == 1 or model.used_from is not None]
        pairs = list(pairwise(sorted(used, key=lambda model: model.id)))[-_MOST_MODELS:]
        changes = [(old, new, at) for old, new in pairs if (at := new.used_from) is not None and at >= person.created]
        log, entries = reader.find(Event, user=person.id) if changes else [], []
        for old, new, at in changes:
            events = [event for event in log if event.at < at]
            folds = [catalogue.fold(reader, model.id) for model in (old, new)]
            # What was seen under a model with traits goes with that model.
            there = all(fold.traits is None or fold.model == current.model for fold in folds)
            seen = [with_seen(reader, fold, [replace(event) for event in events]) if there else [] for fold in folds]
            before, after = (
                certainty_after(fold, known, vocabulary, person) if there else None
                for fold, known in zip(folds, seen, strict=True)
            )
            known = before is not None and after is not None
            change = f", how sure: {before:.0%} before, {after:.0%} after" if known else ""
            kind = "prior fitted again" if new.refit else "learner changed"
            entries.append(TimelineEntry(at=at, kind=kind, detail=f"model {new.id}: {new.learner} from {new.prior}{change}"))
        return entries

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
            transaction.append(self._audit(actor, HELD_BACK if held else "released", user))

        return self.context.store.write(work, locks=[user], prefetch=[(Person, (user,)), (HeldPerson, (user,))])

    def held_people(self, after: Sequence[str], limit: int) -> list[HeldPerson]:
        """Whom operators hold, in the order in which they came."""
        with self.context.store.read() as reader:
            return reader.find(HeldPerson, after=after, limit=limit)

    def found(self, users: Sequence[str]) -> tuple[FoundPerson, ...]:
        """These people as an operator sees them in a list."""
        with self.context.store.read() as reader:
            people = reader.many(Person, [(user,) for user in users])
            holds = reader.many(HeldPerson, [(user,) for user in users])
            audits = reader.of_people(AuditEntry, "user", [user for (user,) in holds])
        since = {user: max((one.at for one in log if one.action == HELD_BACK), default=None) for user, log in audits.items()}
        return tuple(
            FoundPerson(
                id=user,
                name=people[user,].name,
                paused=people[user,].paused,
                held_by=holds[user,].actor if (user,) in holds else None,
                held_at=since.get(user) if (user,) in holds else None,
            )
            for user in users
            if (user,) in people
        )

    def health(self, hours: int, problem: str, gauge: Callable[[str], float | None]) -> ServiceHealth:
        """How requests fared, what waits, and how large the store is. `gauge` reads one of the metrics."""
        now = self.context.clock()
        with self.context.store.read() as reader:
            history = RequestHistory(reader, now, hours)
            starts = [
                TimeMark(at=one.at, kind="start", detail=one.version) for one in reader.find(ServiceStart, after=(history.begin,))
            ]
            models = [
                TimeMark(at=one.used_from, kind="refit" if one.refit else "learner", detail=f"model {one.id}: {one.learner}")
                for one in reader.find(Model)
                if one.used_from is not None and one.used_from > history.begin
            ]
            waiting, store_bytes = gauge("writes_waiting"), gauge("store_bytes")
            return ServiceHealth(
                hours=hours,
                problem=problem,
                seconds_per_step=int(history.step.total_seconds()),
                steps=history.steps(),
                total=history.total(),
                routes=history.routes(),
                marks=tuple(sorted([*starts, *models], key=lambda one: one.at)),
                writes_waiting=None if waiting is None else int(waiting),
                seconds_behind=gauge("change_lag_seconds") or 0.0,
                kept_messages=reader.count(OutboxMessage),
                webhooks=webhook_status(reader),
                store_bytes=None if store_bytes is None else int(store_bytes),
                disk_free_bytes=int(gauge("disk_free_bytes") or 0),
            )

    def overview(self) -> Overview:
        return overview(self.context)

    def group(self, name: str) -> GroupComparison:
        return compare_group(self.context, name)

    def _audit(self, actor: str, action: str, user: str) -> AuditEntry:
        return AuditEntry(id=self.context.new_id(), at=self.context.clock(), actor=actor, action=action, user=user)
