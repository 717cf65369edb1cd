"""Rows of a swipe log as swipes that were made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any, Final, final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.columns import DECISIONS, SWIPE_COLUMNS
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.person_ids import checked_id
from kaczmatch.service.domain.records import Decision, Person
from kaczmatch.service.domain.store import Reader
from kaczmatch.service.meeting.swipes import Swipe, SwipeResult, Swiping
from kaczmatch.service.transfer import fields as cells

FIELDS: Final = SWIPE_COLUMNS


@final
@dataclass(slots=True)
class SwipeImport:
    """One row a swipe, each user's in the order of time. Without an id of its own a swipe is known by what it says."""

    context: Context
    name: str = "swipes"
    fields: Sequence[str] = FIELDS
    _last: dict[str, tuple[datetime, int]] = field(default_factory=dict)
    _people: dict[str, bool] = field(default_factory=dict)

    def begin(self, reader: Reader) -> None:
        del reader
        self._last, self._people = {}, {}

    def means(self, column: str) -> bool:
        del column
        return False

    def parsed(self, row: int, values: Mapping[str, Any]) -> tuple[Swipe, datetime]:
        for needed in FIELDS[:-1]:
            if cells.empty(values.get(needed)):
                raise InvalidInput(needed, "is missing" if needed in values else "is missing: there is no such column")
        user = checked_id(cells.text("user", values["user"]))
        candidate = checked_id(cells.text("candidate", values["candidate"]))
        if user == candidate:
            raise InvalidInput("candidate", "nobody swipes on themselves")
        decision, at = _decision(values["decision"]), cells.moment("at", values["at"])
        if at > self.context.clock():
            raise InvalidInput("at", f"{at.isoformat()} has not come yet")
        before, where = self._last.get(user, (at, row))
        if at < before:
            raise InvalidInput("at", f"is earlier than the same user's swipe in row {where}; sort the file by time")
        self._last[user] = at, row
        identifier = values.get("id")
        named = _named(user, candidate, decision, at) if cells.empty(identifier) else checked_id(cells.text("id", identifier))
        return Swipe(user=user, id=named, candidate=candidate, decision=decision, deck=""), at

    def checked(self, reader: Reader, items: Sequence[tuple[Swipe, datetime]]) -> list[InvalidInput | bool]:
        """Whether both people are there; what was imported before is found when it is written."""
        unknown = {name for swipe, _ in items for name in (swipe.user, swipe.candidate) if name not in self._people}
        here = reader.many(Person, [(name,) for name in unknown])
        self._people |= {name: (name,) in here for name in unknown}
        return [self._present(swipe) for swipe, _ in items]

    def write(self, item: tuple[Swipe, datetime]) -> Future[bool]:
        done: Future[bool] = Future()

        def finished(future: Future[SwipeResult]) -> None:
            error = future.exception()
            done.set_result(not future.result().repeated) if error is None else done.set_exception(error)

        Swiping(self.context).imported(*item).add_done_callback(finished)
        return done

    def _present(self, swipe: Swipe) -> InvalidInput | bool:
        for name, who in (("user", swipe.user), ("candidate", swipe.candidate)):
            if not self._people[who]:
                return InvalidInput(name, f"there is no person {who!r}; import profiles first")
        return True


def _decision(value: Any) -> Decision:
    word = f"{value:g}" if isinstance(value, float) else str(value).strip().lower()[:8]
    if word not in DECISIONS:
        raise InvalidInput("decision", f"must be like, pass or skip (or 1/0), got {str(value)[:40]!r}")
    return Decision(DECISIONS[word])


def _named(user: str, candidate: str, decision: str, at: datetime) -> str:
    said = "\0".join((user, candidate, decision, at.isoformat()))
    return f"imported-{blake2b(said.encode(), digest_size=16).hexdigest()}"
