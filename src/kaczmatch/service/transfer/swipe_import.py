"""The rows of a swipe table become swipes that were made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any, NamedTuple, final

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
class ReadSwipe(NamedTuple):
    """A row as it waits to be written."""

    user: str
    id: str
    candidate: str
    decision: str
    at: datetime


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

    def packed(self, row: SwipeRow) -> ReadSwipe:
        identifier = row.id or _id_of(row.user, row.candidate, row.decision, row.at)
        return ReadSwipe(row.user, identifier, row.candidate, row.decision, row.at)

    def accept(self, number: int, values: Mapping[str, Any], item: ReadSwipe) -> ReadSwipe:
        del values
        user, _, candidate, _, at = item
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
        return item

    def check(self, reader: Reader, rows: Sequence[SwipeRow]) -> list[list[InvalidInput] | bool]:
        """Whether both people are there; what was imported before is found when it is written."""
        unknown = {name for row in rows for name in (row.user, row.candidate) if name not in self._people}
        here = reader.many(Person, [(name,) for name in unknown])
        self._people |= {name: (name,) in here for name in unknown}
        return [self._people_exist(row) for row in rows]

    def write(self, item: ReadSwipe) -> Future[RecordedSwipe]:
        swipe = Swipe(user=item.user, id=item.id, candidate=item.candidate, decision=item.decision, deck="")
        return Swipes(self.context).import_swipe(swipe, item.at)

    def is_new(self, written: RecordedSwipe) -> bool:
        return not written.repeated

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
