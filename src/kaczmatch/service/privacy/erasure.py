"""Erasure: first the person is gone, at once; then every trace in other people's logs, and states are folded without it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, final

from kaczmatch.service.access.erased_tokens import Farewells
from kaczmatch.service.domain.appeal import less
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.counting import recounted
from kaczmatch.service.domain.outbox import announce
from kaczmatch.service.domain.records import (
    Audit,
    Block,
    Change,
    Dealt,
    Delivery,
    Event,
    Fact,
    Impression,
    Learned,
    Match,
    Message,
    Pair,
    Person,
    Record,
    Report,
    Standing,
)
from kaczmatch.service.domain.refusals import nobody
from kaczmatch.service.domain.scrubbing import LOCK, Scrubbing, soiled
from kaczmatch.service.domain.store import Unit
from kaczmatch.service.meeting.profiles import ERASING, HELD, being_erased, checked_id
from kaczmatch.service.meeting.undo import refold

# Where a person can stand: every field that names one. A test walks all records to see that none is missing.
TRACES: tuple[tuple[type[Record], str], ...] = (
    (Person, "id"),
    (Standing, "user"),
    (Learned, "user"),
    (Dealt, "user"),
    (Impression, "user"),
    (Impression, "other"),
    (Match, "user"),
    (Match, "other"),
    (Block, "user"),
    (Block, "other"),
    (Report, "user"),
    (Report, "other"),
    (Message, "user"),
    (Message, "other"),
    (Change, "user"),
    (Audit, "user"),
    (Event, "user"),
    (Event, "candidate"),
    (Pair, "user"),
    (Pair, "other"),
)
_LATER = {(Event, "candidate"), (Pair, "user"), (Pair, "other")}  # those touch other people, who are taken one at a time


@final
@dataclass(frozen=True, slots=True)
class Erasing:
    """Bytes in the files of the database go at once where that costs little, and otherwise when `resume` finds it is time."""

    context: Context
    scrubbing: Scrubbing
    farewells: Farewells

    def erase(self, user: str) -> None:
        """Leave nothing of a person. If it is interrupted, `resume` goes on, and so does asking again."""
        checked_id(user)
        self.context.store.write(lambda unit: self._remove(unit, user), people=[user]).result()
        self._clean(user)
        if not self.scrubbing.delay:
            self.scrubbing.run()

    def resume(self) -> int:
        """Finish erasures that were interrupted, and scrub if it is time."""
        with self.context.store.read() as reader:
            jobs = being_erased(reader)
        for user in jobs:
            self._clean(user)
        self.scrubbing.run()
        return len(jobs)

    def _remove(self, unit: Unit, user: str) -> None:
        """From now on nobody meets this person, and nothing new can be said of them."""
        if unit.get(Person, user) is None:
            if unit.get(Fact, ERASING + user) is not None:
                return  # it was begun, and goes on
            raise nobody(user)
        found: list[Record] = []
        for kind, field in TRACES:
            equal: dict[str, Any] = {field: user}
            found += [] if (kind, field) in _LATER else unit.find(kind, **equal)
        for record in found:
            unit.drop(type(record), *record.identity())
            if isinstance(record, Message):
                unit.drop(Delivery, record.id)
        self.farewells.note(unit, user)
        unit.drop(Fact, HELD + user)
        unit.put(Fact(name=ERASING + user, value=""))
        unit.append(Change(id=self.context.new_id(), user=user, at=self.context.clock()))

    def _clean(self, user: str) -> None:
        """Everybody who swiped on this person, or on whom they swiped, one at a time."""
        with self.context.store.read() as reader:
            others = {event.user for event in reader.find(Event, candidate=user)}
            others |= {pair.other for pair in reader.find(Pair, user=user)} | {
                pair.user for pair in reader.find(Pair, other=user)
            }
        for other in sorted(others):
            self.context.store.write(partial(self._forget, user=user, other=other), people=[user, other]).result()

        def finished(unit: Unit) -> None:
            if unit.get(Fact, ERASING + user) is None:
                return  # somebody else was at it too, and has told
            unit.drop(Fact, ERASING + user)
            soiled(unit, self.context)
            announce(unit, self.context, "profile.erased", user, {"user": user})

        self.context.store.write(finished, people=[user, LOCK]).result()

    def _forget(self, unit: Unit, user: str, other: str) -> None:
        """One person's log and state without the other, and their appeal without what the other thought."""
        if unit.get(Fact, ERASING + user) is None:
            return  # another process has finished it: whoever has the name by now is somebody new
        events = unit.find(Event, user=other)
        gone = {event.id for event in events if event.candidate == user}
        kept = [event for event in events if event.id not in gone and event.undoes not in gone]
        given, standing = unit.get(Pair, user, other), unit.get(Standing, other)
        for event in events:
            if event.id in gone or event.undoes in gone:
                unit.drop(Event, *event.identity())
        if gone:
            refold(unit, self.context, self.context.catalogue.current(unit), other, kept)
        if gone and standing is not None:
            standing = recounted(standing, kept)
            unit.put(standing)
        if given is not None and given.weighed is not None and standing is not None:
            unit.put(less(standing, given.excess, given.information, given.weighed, self.context.rules.appeal))
        unit.drop(Pair, user, other)
        unit.drop(Pair, other, user)
        if standing is not None:  # processes remember the state and appeal that were
            unit.append(Change(id=self.context.new_id(), user=other, at=self.context.clock()))
