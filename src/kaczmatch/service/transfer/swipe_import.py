"""The rows of a swipe table become swipes that were made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any, final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.columns import LIKE, PASS, SKIP, SWIPE_COLUMNS, time_text
from kaczmatch.schemas.transfer import NewTags
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Person
from kaczmatch.service.domain.store import Reader
from kaczmatch.service.meeting.swipes import RecordedSwipe, Swipe, Swipes
from kaczmatch.service.transfer.cell_rules import CellRules
from kaczmatch.service.transfer.rows import BadRow, SwipeRow, UnreadValues, swipe_row


@final
@dataclass(slots=True)
class SwipeImport:
    """One row per swipe, each user's in the order of time. A swipe without an id gets one that follows from its values."""

    context: Context
    name: str = "swipes"
    fields: Sequence[str] = SWIPE_COLUMNS
    required: Sequence[str] = ("user", "candidate", "decision", "at")
    new_tags: Sequence[str] = ()
    unread: UnreadValues = field(default_factory=UnreadValues)
    _rules: CellRules = field(default_factory=CellRules)
    _last: dict[str, tuple[datetime, int]] = field(default_factory=dict)
    _people: dict[str, bool] = field(default_factory=dict)

    def begin(self, reader: Reader, rules: CellRules, new_tags: NewTags) -> None:
        del reader, new_tags
        self._rules, self.unread, self._last, self._people = rules, UnreadValues(), {}, {}

    def is_read(self, column: str) -> bool:
        del column
        return False

    def read(self, values: Mapping[str, Any]) -> SwipeRow:
        return swipe_row(values, self._rules, self.unread)

    def accept(self, number: int, values: Mapping[str, Any], row: SwipeRow) -> tuple[Swipe, datetime]:
        del values
        user, candidate, at = row.user, row.candidate, row.at
        before, where = self._last.get(user, (at, number))
        wrong = []
        if user == candidate:
            wrong.append(InvalidInput("candidate", "nobody swipes on themselves"))
        if at > self.context.clock():
            wrong.append(InvalidInput("at", f"{time_text(at)} has not come yet"))
        elif at < before:
            wrong.append(InvalidInput("at", f"is earlier than the same user's swipe in row {where}; sort the file by time"))
        if wrong:
            raise BadRow(wrong)
        self._last[user] = at, number
        identifier = row.id or _id_of(user, candidate, row.decision, at)
        return Swipe(user=user, id=identifier, candidate=candidate, decision=row.decision, deck=""), at

    def check(self, reader: Reader, rows: Sequence[SwipeRow]) -> list[list[InvalidInput] | bool]:
        """Whether both people are there; what was imported before is found when it is written."""
        unknown = {name for row in rows for name in (row.user, row.candidate) if name not in self._people}
        here = reader.many(Person, [(name,) for name in unknown])
        self._people |= {name: (name,) in here for name in unknown}
        return [self._people_exist(row) for row in rows]

    def write(self, item: tuple[Swipe, datetime]) -> Future[bool]:
        done: Future[bool] = Future()

        def finish(future: Future[RecordedSwipe]) -> None:
            error = future.exception()
            done.set_result(not future.result().repeated) if error is None else done.set_exception(error)

        Swipes(self.context).import_swipe(*item).add_done_callback(finish)
        return done

    def values(self) -> dict[str, Sequence[str]]:
        return {"decision": (LIKE, PASS, SKIP)}

    def before_writing(self) -> None:
        pass

    def _people_exist(self, row: SwipeRow) -> list[InvalidInput] | bool:
        named = (("user", row.user), ("candidate", row.candidate))
        missing = [(name, person) for name, person in named if not self._people[person]]
        return [InvalidInput(name, f"there is no person {person!r}; import profiles first") for name, person in missing] or True


def _id_of(user: str, candidate: str, decision: str, at: datetime) -> str:
    said = "\0".join((user, candidate, decision, at.isoformat()))
    return f"imported-{blake2b(said.encode(), digest_size=16).hexdigest()}"
