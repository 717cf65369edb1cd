"""What an operator may do: see one person's timeline, where every look leaves an audit line, and hold somebody back."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from typing import final

from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Audit, Dealt, Event, Fact, Match, Person, Report
from kaczmatch.service.domain.store import Unit
from kaczmatch.service.meeting.profiles import HELD, changed, present
from kaczmatch.service.operations.overview import Overview, overview


@final
@dataclass(frozen=True, slots=True)
class Moment:
    """One thing that happened to or by somebody."""

    at: datetime
    what: str
    other: str = ""
    detail: str = ""


@final
@dataclass(frozen=True, slots=True)
class Timeline:
    """One person as an operator sees them; the newest moment first."""

    name: str
    paused: bool
    held: bool
    moments: tuple[Moment, ...]


@final
@dataclass(frozen=True, slots=True)
class Operating:
    """The use cases of an operator."""

    context: Context

    def timeline(self, user: str, actor: str, *, limit: int = 200) -> Timeline:
        """What one person did and what was done about them. That it was looked at is written down first."""

        def work(unit: Unit) -> tuple[Person, bool]:
            person, held = present(unit, user), unit.get(Fact, HELD + user) is not None
            unit.append(self._audit(actor, "looked at timeline", user))
            return person, held

        reads = [(Person, (user,)), (Fact, (HELD + user,))]
        person, held = self.context.store.write(work, people=[user], reads=reads).result()
        with self.context.store.read() as reader:
            moments = [
                Moment(one.at, one.kind if one.decision is None else one.decision, one.candidate or "", one.deck or "")
                for one in reader.find(Event, user=user, newest=True, limit=limit)
            ]
            moments += [
                Moment(one.at, "deck dealt", detail=f"{one.policy}: {one.reason}")
                for one in reader.find(Dealt, user=user, newest=True, limit=limit)
            ]
            moments += [Moment(one.at, "matched", one.other) for one in reader.find(Match, user=user, newest=True, limit=limit)]
            made, received = ({"user": user}, "reported", "other"), ({"other": user}, "was reported by", "user")
            for equal, what, other in (made, received):
                found = reader.find(Report, newest=True, limit=limit, **equal)
                moments += [Moment(one.at, what, getattr(one, other), one.reason) for one in found]
            looks = reader.find(Audit, user=user, newest=True, limit=limit)
            moments += [Moment(one.at, one.action, detail=one.actor) for one in looks]
        newest = sorted(moments, key=lambda one: one.at, reverse=True)[:limit]
        return Timeline(person.name, person.paused, held, tuple(newest))

    def hold(self, user: str, actor: str, held: bool) -> Future[None]:
        """Somebody who is held is paused and cannot resume; released, they stay paused until they do."""

        def work(unit: Unit) -> None:
            person = present(unit, user)
            if held:
                unit.put(Fact(name=HELD + user, value=actor))
                if not person.paused:
                    changed(unit, self.context, person, paused=True)
            else:
                unit.drop(Fact, HELD + user)
            unit.append(self._audit(actor, "held back" if held else "released", user))

        return self.context.store.write(work, people=[user], reads=[(Person, (user,)), (Fact, (HELD + user,))])

    def overview(self) -> Overview:
        return overview(self.context)

    def _audit(self, actor: str, action: str, user: str) -> Audit:
        return Audit(id=self.context.new_id(), at=self.context.clock(), actor=actor, action=action, user=user)
