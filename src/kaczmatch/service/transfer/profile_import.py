"""The rows of a user table become profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.columns import PROFILE_COLUMNS
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Person
from kaczmatch.service.domain.store import Reader
from kaczmatch.service.meeting.profiles import Profiles, new_person
from kaczmatch.service.transfer.rows import ProfileRow, profile_row


@final
@dataclass(slots=True)
class ProfileImport:
    """One row per person. Beside our fields, a column can be named like a tag (1 or 0) or a feature (a number)."""

    context: Context
    name: str = "profiles"
    fields: Sequence[str] = PROFILE_COLUMNS
    _vocabulary: Vocabulary | None = None
    _terms: dict[str, bool] = field(default_factory=dict)  # tags and features: whether it is a tag
    _rows: dict[str, int] = field(default_factory=dict)  # the row of each id

    def begin(self, reader: Reader) -> None:
        self._vocabulary = self.context.catalogue.vocabulary(reader, self.context.catalogue.current(reader).vocabulary)
        terms = self._vocabulary.terms
        self._terms = {term.name: term.is_tag for term in terms if not term.retired and term.name not in PROFILE_COLUMNS}

    def is_read(self, column: str) -> bool:
        return column in self._terms

    def parse(self, row: int, values: Mapping[str, Any]) -> ProfileRow:
        parsed = profile_row(values, self._terms)
        before = self._rows.setdefault(parsed.id, row)
        if before != row:
            raise InvalidInput("id", f"{parsed.id!r} stands in row {before} already")
        return parsed

    def check(self, reader: Reader, items: Sequence[ProfileRow]) -> list[InvalidInput | bool]:
        known = reader.many(Person, [(item.id,) for item in items])
        return [self._differs(item, known.get((item.id,))) for item in items]

    def write(self, item: ProfileRow) -> Future[bool]:
        done: Future[bool] = Future()

        def finish(future: Future[Person]) -> None:
            error = future.exception()
            done.set_result(True) if error is None else done.set_exception(error)

        written = Profiles(self.context).put(item.id, item.profile, paused=item.paused, limited=False)
        written.add_done_callback(finish)
        return done

    def _differs(self, item: ProfileRow, known: Person | None) -> InvalidInput | bool:
        """Whether a row says anything new."""
        if self._vocabulary is None:
            raise RuntimeError("call begin first")
        schema, now = self.context.config.schema, self.context.clock()
        try:
            new = new_person(item.id, item.profile, self._vocabulary, schema, now, known, paused=item.paused)
        except InvalidInput as error:
            return error
        return known is None or replace(new, version=known.version, changed=known.changed) != known
