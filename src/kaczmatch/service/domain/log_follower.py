"""Reading a log as it grows: every line once, also those that are committed after later ones."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import final

from kaczmatch.service.domain.records import Change, Event
from kaczmatch.service.domain.store import Reader

_FURTHEST = 20_000  # lines at a time; what is missing further back is not waited for: a restored log goes on a million later
_GIVEN_UP = timedelta(seconds=10)  # a number that has not come by then belongs to a commit that never was


@final
@dataclass(slots=True)
class LogFollower:
    """How far a log has been read. Numbers are given before commits, so one may turn up after a later one: it is waited for."""

    kind: type[Change] | type[Event]
    read_to: int = 0
    missing: dict[int, datetime] | None = None

    @property
    def next(self) -> int:
        """The first number that has not come."""
        return min(self.missing or (), default=self.read_to + 1)

    def new(self, reader: Reader, now: datetime) -> list[Change | Event]:
        missing = self.missing or {}
        lines: list[Change | Event] = [*reader.find(self.kind, after=(self.next - 1,), limit=_FURTHEST)]
        fresh = [line for line in lines if line.number > self.read_to or line.number in missing]
        seen = {line.number for line in lines}
        highest = max((line.number for line in fresh), default=self.read_to)
        since = dict.fromkeys(range(max(self.read_to, highest - _FURTHEST) + 1, highest + 1), now) | missing
        self.missing = {number: at for number, at in since.items() if number not in seen and now - at < _GIVEN_UP}
        self.read_to = max(highest, self.read_to)
        return fresh
