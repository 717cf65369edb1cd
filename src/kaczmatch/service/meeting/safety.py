"""Blocks and reports. Whoever is blocked is gone at the next request and cannot tell it from "not found"."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import datetime
from typing import final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.outbox import announce
from kaczmatch.service.domain.records import Audit, Block, Match, Person, Report
from kaczmatch.service.domain.refusals import NotFound
from kaczmatch.service.domain.store import Unit
from kaczmatch.service.meeting.profiles import present

_LONGEST_WORDS = 2_000


@final
@dataclass(frozen=True, slots=True)
class Safety:
    """The use cases of keeping people apart."""

    context: Context

    def block(self, user: str, other: str) -> Future[None]:
        """Keep two people apart for good; a match between them ends."""

        def work(unit: Unit) -> None:
            self._block(unit, user, other, self.context.clock())

        return self.context.store.write(work, people=[user, other], reads=self._reads(user, other))

    def unblock(self, user: str, other: str) -> Future[None]:
        """Take one's own block back; what the other side blocked stays blocked, and a match that ended stays ended."""

        def work(unit: Unit) -> None:
            present(unit, user)
            unit.drop(Block, user, other)

        return self.context.store.write(work, people=[user, other], reads=self._reads(user, other))

    def blocks(self, user: str, *, after: Sequence[object] = (), limit: int = 50) -> list[Block]:
        """Whom somebody has blocked, the newest first."""
        with self.context.store.read() as reader:
            return reader.find(Block, user=user, after=after, newest=True, limit=limit)

    def report(self, user: str, other: str, reason: str, words: str = "") -> Future[Report]:
        """Tell an operator, and block."""
        if not reason or len(reason) > 80 or len(words) > _LONGEST_WORDS:
            raise InvalidInput("reason", f"must have 1 to 80 characters, and words at most {_LONGEST_WORDS:,}")

        def work(unit: Unit) -> Report:
            now = self.context.clock()
            self._block(unit, user, other, now)
            report = Report(id=self.context.new_id(), user=user, other=other, reason=reason, words=words, at=now)
            unit.put(report)
            announce(unit, self.context, "report.created", user, {"report": report.id, "user": user, "other": other}, other=other)
            return report

        return self.context.store.write(work, people=[user, other], reads=self._reads(user, other))

    def open_reports(self, *, after: Sequence[object] = (), limit: int = 50) -> list[Report]:
        with self.context.store.read() as reader:
            return reader.find(Report, closed=None, after=after, limit=limit)

    def close(self, report: str, resolution: str, actor: str) -> Future[Report]:
        """An operator has looked at a report."""

        def work(unit: Unit) -> Report:
            found = unit.get(Report, report)
            if found is None:
                raise NotFound(f"there is no report {report!r}")
            now = self.context.clock()
            closed = replace(found, closed=found.closed or now, resolution=resolution)
            unit.put(closed)
            action = f"closed report {report}"
            unit.append(Audit(id=self.context.new_id(), at=now, actor=actor, action=action, user=found.other))
            return closed

        with self.context.store.read() as reader:
            known = reader.get(Report, report)
        both = [] if known is None else [known.user, known.other]  # erased meanwhile, neither may come back
        return self.context.store.write(work, people=both, reads=[(Report, (report,))])

    def _block(self, unit: Unit, user: str, other: str, now: datetime) -> None:
        present(unit, user)
        if user == other:
            raise InvalidInput("other", "nobody blocks themselves")
        # Somebody whom the other side has blocked may block in turn: to them nothing looks different.
        present(unit, other)
        if unit.get(Block, user, other) is None:
            unit.put(Block(user=user, other=other, at=now))
        for mine, theirs in ((user, other), (other, user)):
            match = unit.get(Match, mine, theirs)
            if match is not None and match.ended is None:
                unit.put(replace(match, ended=now))
                body = {"match": match.id, "user": mine, "other": theirs}
                announce(unit, self.context, "match.ended", mine, body, other=theirs)

    def _reads(self, user: str, other: str) -> list[tuple[type, tuple[str, ...]]]:
        pairs = ((user, other), (other, user))
        return [
            *((Person, (one,)) for one in (user, other)),
            *((Block, pair) for pair in pairs),
            *((Match, pair) for pair in pairs),
        ]
