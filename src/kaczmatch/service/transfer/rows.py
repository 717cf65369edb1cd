"""Rows of files as pydantic models. The cells of a file are often texts, so every value may also come as a text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Annotated, Any, Final, Literal, TypeVar, final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from kaczmatch.core.errors import InvalidInput, did_you_mean
from kaczmatch.formats.columns import DECISIONS, PROFILE_COLUMNS, SWIPE_COLUMNS
from kaczmatch.recommend.people.vocabulary import Term
from kaczmatch.schemas.base import Id
from kaczmatch.schemas.profiles import FeatureValue, ProfileInput
from kaczmatch.schemas.transfer import NewTags
from kaczmatch.service.transfer.cell_rules import CellRules, folded

Row = TypeVar("Row", bound=BaseModel)

_MOST_KEPT: Final = 1_000


@final
class BadRow(Exception):
    """Everything that is wrong with one row, in the order of the columns. `rest` is the row without what is wrong."""

    def __init__(self, problems: Sequence[InvalidInput], rest: ProfileRow | None = None) -> None:
        super().__init__(*problems)
        self.problems, self.rest = list(problems), rest


@final
@dataclass(slots=True)
class UnreadValues:
    """What could not be read in a file, for a suggestion that reads it: texts for dates and times, and words by field."""

    dates: dict[str, None] = field(default_factory=dict)
    words: dict[str, dict[str, None]] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)  # unknown ones, by how they are compared

    def add(self, other: UnreadValues) -> None:
        """What another process has found."""
        self.dates |= other.dates
        self.tags = other.tags | self.tags
        for name, words in other.words.items():
            self.words[name] = self.words.get(name, {}) | words

    def add_date(self, cell: Any) -> None:
        if isinstance(cell, str) and len(self.dates) < _MOST_KEPT:
            self.dates[cell.strip()] = None

    def add_word(self, name: str, word: str) -> None:
        known = self.words.setdefault(name, {})
        if len(known) < _MOST_KEPT:
            known[word] = None


def _text(cell: Any) -> Any:
    """Numbers are often identifiers."""
    return str(cell) if isinstance(cell, int) and not isinstance(cell, bool) and abs(cell) < 2**63 else cell


def _object(cell: Any) -> Any:
    """Numbers by name, as JSON where it is a text. A column of a table has a cell for every name, and most are empty."""
    found = from_json(cell) if isinstance(cell, str) else cell
    return {name: value for name, value in found.items() if not is_empty(value)} if isinstance(found, Mapping) else found


def _json(cell: Any) -> Any:
    return from_json(cell) if isinstance(cell, str) else cell


def _decision(cell: Any) -> Any:
    word = f"{cell:g}" if isinstance(cell, float) else str(cell).strip().lower()[:8]
    return DECISIONS.get(word, word)


def _in_utc(moment: datetime) -> datetime:
    """A time without a zone is UTC."""
    try:
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise ValueError("is beyond what a calendar has") from None


TextId = Annotated[Id, BeforeValidator(_text)]


class _FileRow(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True, frozen=True)


@final
class ProfileRow(_FileRow):
    """One person: the profile as in the HTTP API, and whether they are paused. Its cells are brought into shape first."""

    id: TextId
    profile: ProfileInput
    paused: bool | None = None  # None: as it was


@final
class SwipeRow(_FileRow):
    """One swipe."""

    user: TextId
    candidate: TextId
    decision: Annotated[Literal["like", "pass", "skip"], BeforeValidator(_decision)]
    at: Annotated[datetime, AfterValidator(_in_utc)] = Field(description="ISO 8601, or seconds since 1970.")
    id: TextId | None = None


_SHAPED: Final = {"name": _text, "features": _object, "data": _json}
_FLAG: Final = TypeAdapter(bool)
_NUMBER: Final = TypeAdapter(FeatureValue)


@final
@dataclass(slots=True)
class ProfileReader:
    """Rows as profiles. A column can also be named like a tag or a feature. Names are compared without case."""

    terms: Mapping[str, Term]  # by their names, and by how names are compared
    kinds: Mapping[str, str]
    rules: CellRules
    new_tags: NewTags = "refuse"
    unread: UnreadValues = field(default_factory=UnreadValues)

    def read(self, cells: Mapping[str, Any]) -> ProfileRow:
        """Raises BadRow."""
        given = {name: cell for name, cell in cells.items() if not is_empty(cell)}
        profile: dict[str, Any] = {}
        wrong: list[InvalidInput] = []
        for name in PROFILE_COLUMNS:
            if name in given and name in ProfileInput.model_fields:
                try:
                    profile[name] = self._shaped(name, given[name], wrong)
                except (ValueError, RecursionError) as error:
                    wrong.append(self._problem(name, given[name], error))
        location = {name: given[name] for name in ("latitude", "longitude") if name in given}
        if location:
            profile["location"] = location
        self._add_columns(given, profile, wrong)
        shaped = {name: given[name] for name in ("id", "paused") if name in given} | {"profile": profile}
        return _validated(ProfileRow, shaped, wrong)

    def term(self, name: str) -> Term | None:
        return self.terms.get(name) or self.terms.get(folded(name))

    def _shaped(self, name: str, cell: Any, wrong: list[InvalidInput]) -> Any:
        if name == "born":
            return self.rules.day(self.rules.meant(name, cell))
        if name in ("i_am", "i_look_for"):
            return self._known_kinds(name, self.rules.parts(name, cell), wrong)
        if name == "tags":
            return self._known_tags(self.rules.parts(name, cell), wrong)
        cell = self.rules.meant(name, cell)
        return _SHAPED[name](cell) if name in _SHAPED else cell

    def _problem(self, name: str, cell: Any, error: Exception) -> InvalidInput:
        if name == "born":
            self.unread.add_date(cell)
            wanted = self.rules.date_format or "a date such as 1990-12-31"
            return InvalidInput(name, f"must be {wanted}, got {_shown(cell)}")
        return InvalidInput(name, f"is not JSON ({str(error)[:80]}), got {_shown(cell)}")

    def _known_kinds(self, name: str, parts: Any, wrong: list[InvalidInput]) -> Any:
        if not _is_texts(parts):
            return parts
        for part in parts:
            if folded(part) not in self.kinds:
                self.unread.add_word(name, part)
                wrong.append(InvalidInput(name, f"there is no {_shown(part)}; {did_you_mean(part, self.kinds.values())}"))
        return [self.kinds[folded(part)] for part in parts if folded(part) in self.kinds]

    def _known_tags(self, parts: Any, wrong: list[InvalidInput]) -> Any:
        if not _is_texts(parts):
            return parts
        found = []
        for part in parts:
            term = self.term(part)
            if term is not None and term.is_tag and not term.retired:
                found.append(term.name)
                continue
            spelled = part
            if term is None and (self.new_tags == "add" or len(self.unread.tags) < _MOST_KEPT):
                spelled = self.unread.tags.setdefault(folded(part), part)  # one spelling for all rows
            if term is None and self.new_tags == "add":
                found.append(spelled)
            elif self.new_tags != "ignore":
                tags = (known.name for known in self.terms.values() if known.is_tag and not known.retired)
                why = "it was retired" if term is not None and term.retired else did_you_mean(part, tags)
                wrong.append(InvalidInput("tags", f"there is no tag {_shown(part)}; {why}"))
        return found

    def _add_columns(self, given: Mapping[str, Any], profile: dict[str, Any], wrong: list[InvalidInput]) -> None:
        """Columns that are named like a tag (1 or 0) or a feature (a number)."""
        tags, features = [], {}
        for column, cell in given.items():
            term = None if column in PROFILE_COLUMNS else self.term(column)
            if term is None or term.retired:
                continue
            try:
                if not term.is_tag:
                    features[term.name] = _NUMBER.validate_python(cell)
                elif _FLAG.validate_python(cell):
                    tags.append(term.name)
            except ValidationError as error:
                wrong += [InvalidInput(column, _said(one)) for one in error.errors(include_url=False, include_context=False)]
        if tags and isinstance(profile.setdefault("tags", []), list):
            profile["tags"] = [*profile["tags"], *tags]
        if features and isinstance(profile.setdefault("features", {}), dict):
            profile["features"] = profile["features"] | features


def swipe_row(cells: Mapping[str, Any], rules: CellRules, unread: UnreadValues) -> SwipeRow:
    """Raises BadRow."""
    given = {name: rules.meant(name, cells[name]) for name in SWIPE_COLUMNS if not is_empty(cells.get(name))}
    wrong: list[InvalidInput] = []
    try:
        if "at" in given:
            given["at"] = rules.moment(given["at"])
    except ValueError:
        wrong.append(InvalidInput("at", f"must be {rules.date_format}, got {_shown(given.pop('at'))}"))
    try:
        return _validated(SwipeRow, given, wrong)
    except BadRow as bad:
        for error in bad.problems:
            if error.field == "at":
                unread.add_date(cells.get("at"))
            elif error.field == "decision" and not is_empty(cells.get("decision")):
                unread.add_word("decision", str(cells["decision"]).strip()[:80])
        raise


def is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip()) or (isinstance(cell, float) and math.isnan(cell))


def in_order(problems: Sequence[InvalidInput], columns: Sequence[str]) -> list[InvalidInput]:
    """Problems in the order of the columns, the same every time."""
    return sorted(problems, key=lambda one: columns.index(one.field) if one.field in columns else len(columns))


# Values that stand in for bad ones while the rest of a row is looked at.
_HARMLESS: Final[Mapping[str, Any]] = {"id": "x", "name": "x", "born": date(1990, 1, 1), "i_am": ["x"], "i_look_for": ["x"]}


def _validated(model: type[Row], shaped: Mapping[str, Any], wrong: list[InvalidInput]) -> Row:
    """The model, or everything that is wrong, with what was wrong with single cells."""
    try:
        found = model.model_validate(shaped)
        if not wrong:
            return found
    except ValidationError as error:
        known = {problem.field for problem in wrong}
        for one in error.errors(include_url=False, include_context=False):
            named = [str(part) for part in one["loc"] if part in PROFILE_COLUMNS or part in SWIPE_COLUMNS]
            name = named[0] if named else "row"
            if name not in known:
                wrong.append(InvalidInput(name, "is missing" if one["type"] == "missing" else _said(one)))
    columns = PROFILE_COLUMNS if model is ProfileRow else SWIPE_COLUMNS
    raise BadRow(in_order(wrong, columns), _rest(shaped, wrong) if model is ProfileRow else None)


def _rest(shaped: Mapping[str, Any], wrong: Sequence[InvalidInput]) -> ProfileRow | None:
    bad = {problem.field for problem in wrong}
    bad |= {"location"} if bad & {"latitude", "longitude", "location"} else set()
    profile = {name: value for name, value in shaped["profile"].items() if name not in bad}
    for name in ("name", "born", "i_am", "i_look_for"):
        if name in bad:
            profile[name] = _HARMLESS[name]
    try:
        return ProfileRow.model_validate({"id": _HARMLESS["id"], "profile": profile})
    except ValidationError:
        return None


def _is_texts(parts: Any) -> bool:
    return isinstance(parts, list | tuple) and all(isinstance(part, str) for part in parts)


def _said(error: Any) -> str:
    said = str(error["msg"]).removeprefix("Value error, ").replace("Input should be", "must be")
    return f"{said[:1].lower()}{said[1:]}, got {_shown(error['input'])}"


def _shown(cell: Any) -> str:
    shown = repr(cell) if isinstance(cell, str | float | bool) else type(cell).__name__
    return shown if len(shown) <= 40 else f"{shown[:37]}..."
