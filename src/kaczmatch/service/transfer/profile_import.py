"""The rows of a user table become profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, NamedTuple, final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.columns import PROFILE_COLUMNS
from kaczmatch.recommend.people.vocabulary import Term, Vocabulary
from kaczmatch.schemas.profiles import OLDEST, Coordinates, ProfileInput
from kaczmatch.schemas.transfer import NewTags
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Person
from kaczmatch.service.domain.store import Reader
from kaczmatch.service.domain.vocabulary_change import change_vocabulary
from kaczmatch.service.meeting.profiles import Profiles, new_person
from kaczmatch.service.transfer.cell_rules import CellRules, folded
from kaczmatch.service.transfer.rows import BadRow, ProfileReader, ProfileRow, UnreadValues, in_order

# Fields of a profile, and the column in which they stand.
_COLUMNS = {"ages": "youngest", "location": "latitude"}


@final
class ReadProfile(NamedTuple):
    """A row as it waits to be written. To store pydantic models as they are takes five times as long."""

    id: str
    paused: bool | None
    place: tuple[float, float] | None  # latitude and longitude
    profile: dict[str, Any]  # everything else, checked


@final
@dataclass(slots=True)
class ProfileImport:
    """One row per person. Beside our fields, a column can be named like a tag (1 or 0) or a feature (a number)."""

    context: Context
    name: str = "profiles"
    fields: Sequence[str] = PROFILE_COLUMNS
    required: Sequence[str] = field(init=False)  # by the schema
    _vocabulary: Vocabulary = field(default_factory=lambda: Vocabulary((Term("none yet"),)))
    _reader: ProfileReader = field(default_factory=lambda: ProfileReader({}, {}, CellRules()))
    _new_tags: dict[str, None] = field(default_factory=dict)  # of good rows
    _rows: dict[str, tuple[int, int]] = field(default_factory=dict)  # of each id: its row, and a hash of what stands there

    def __post_init__(self) -> None:
        schema = self.context.config.schema
        needed = {"born": schema.age_required, "i_look_for": set(schema.looks_for) != set(schema.kinds)}
        self.required = [name for name in ("id", "name", "born", "i_am", "i_look_for") if needed.get(name, True)]

    @property
    def new_tags(self) -> list[str]:
        """Tags that rows have and the vocabulary has not, where they are to be added."""
        return list(self._new_tags)

    @property
    def unread(self) -> UnreadValues:
        return self._reader.unread

    def begin(self, reader: Reader, rules: CellRules, new_tags: NewTags) -> None:
        self._vocabulary = self.context.catalogue.vocabulary(reader, self.context.catalogue.current(reader).vocabulary)
        active_last = sorted(self._vocabulary.terms, key=lambda term: not term.retired)
        terms = {folded(term.name): term for term in active_last} | {term.name: term for term in active_last}
        kinds = {folded(kind): kind for kind in self.context.config.schema.kinds}
        self._reader, self._rows, self._new_tags = ProfileReader(terms, kinds, rules, new_tags), {}, {}

    def is_read(self, column: str) -> bool:
        term = self._reader.term(column)
        return term is not None and not term.retired

    def read(self, values: Mapping[str, Any]) -> ProfileRow:
        try:
            return self._reader.read(values)
        except BadRow as bad:
            if bad.rest is None:
                raise
            seen = {problem.field for problem in bad.problems}
            more = self._problems(bad.rest.profile, seen)
            raise BadRow(in_order([*bad.problems, *more], self.fields)) from None

    def packed(self, row: ProfileRow) -> ReadProfile:
        place = row.profile.location
        return ReadProfile(
            row.id, row.paused, place and (place.latitude, place.longitude), vars(row.profile) | {"location": None}
        )

    def accept(self, number: int, values: Mapping[str, Any], item: ReadProfile) -> ReadProfile | None:
        content = hash(tuple(map(str, values.values())))
        before, known = self._rows.setdefault(item.id, (number, content))
        if before == number:
            return item
        if known == content:
            return None  # the same row once more
        raise BadRow([InvalidInput("id", f"{item.id!r} stands in row {before} already, with other values")])

    def check(self, reader: Reader, rows: Sequence[ProfileRow]) -> list[list[InvalidInput] | bool]:
        known = reader.many(Person, [(row.id,) for row in rows])
        return [self._differs(row, known.get((row.id,))) for row in rows]

    def write(self, item: ReadProfile) -> Future[Person]:
        place = None
        if item.place is not None:
            place = Coordinates.model_construct(latitude=item.place[0], longitude=item.place[1])
        profile = ProfileInput.model_construct(**{**item.profile, "location": place})
        return Profiles(self.context).put(item.id, profile, paused=item.paused, limited=False)

    def is_new(self, written: Person) -> bool:
        del written  # rows that say nothing new were left out before
        return True

    def values(self) -> dict[str, Sequence[str]]:
        return dict.fromkeys(("i_am", "i_look_for"), self.context.config.schema.kinds)

    def before_writing(self) -> None:
        """New tags become part of the vocabulary."""
        if self.new_tags:
            change_vocabulary(self.context, lambda known: known.add(tags=self.new_tags))

    def _differs(self, item: ProfileRow, known: Person | None) -> list[InvalidInput] | bool:
        """Whether a row says anything new, or all that is wrong with it."""
        schema, now = self.context.config.schema, self.context.clock()
        try:
            new = new_person(item.id, item.profile, self._grown(), schema, now, known, paused=item.paused)
        except InvalidInput:
            return in_order(self._problems(item.profile, set()), self.fields)
        if self._reader.new_tags == "add":
            self._new_tags |= dict.fromkeys(sorted(tag for tag in item.profile.tags if self._reader.term(tag) is None))
        return known is None or replace(new, version=known.version, changed=known.changed) != known

    def _grown(self) -> Vocabulary:
        """The vocabulary with the new tags so far."""
        if self._reader.new_tags == "add":
            known = {term.name for term in self._vocabulary.terms}
            tags = [tag for tag in self.unread.tags.values() if tag not in known]
            if tags:
                self._vocabulary = self._vocabulary.add(tags=tags)
        return self._vocabulary

    def _problems(self, profile: ProfileInput, seen: set[str]) -> list[InvalidInput]:
        """Everything that is wrong with a profile: what is wrong is replaced by something harmless until nothing is."""
        schema, now = self.context.config.schema, self.context.clock()
        everybody = frozenset(schema.kinds[:1])
        harmless: dict[str, dict[str, Any]] = {
            "name": {"name": "x"},
            "born": {"born": date(now.year - schema.minimum_age - 1, 1, 1)},
            "i_am": {"i_am": everybody},
            "i_look_for": {"i_look_for": everybody},
            "ages": {"youngest": 0, "oldest": OLDEST},
            "location": {"location": None, "within_km": None},
            "tags": {"tags": frozenset()},
            "features": {"features": {}},
        }
        found: list[InvalidInput] = []
        for _ in range(len(harmless) + 1):
            try:
                new_person("x", profile, self._grown(), schema, now, None)
                break
            except InvalidInput as error:
                if error.field not in seen:
                    found.append(InvalidInput(_COLUMNS.get(error.field, error.field), error.problem))
                if error.field not in harmless:
                    break
                profile = profile.model_copy(update=harmless[error.field])
        return found
