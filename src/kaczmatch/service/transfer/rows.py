"""Rows of files as pydantic models. The cells of a file are often texts, so every value may also come as a text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Annotated, Any, Final, Literal, TypeVar, final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.columns import PROFILE_COLUMNS, SWIPE_COLUMNS
from kaczmatch.schemas.base import Id
from kaczmatch.schemas.profiles import FeatureValue, ProfileInput

Row = TypeVar("Row", bound=BaseModel)

SEPARATOR: Final = "|"
_DECISIONS: Final = {
    "1": "like", "true": "like", "right": "like",
    "0": "pass", "false": "pass", "-1": "pass", "left": "pass",
}  # fmt: skip


def _text(cell: Any) -> Any:
    """Numbers are often identifiers."""
    return str(cell) if isinstance(cell, int) and not isinstance(cell, bool) and abs(cell) < 2**63 else cell


def _list(cell: Any) -> Any:
    """A text is a JSON list, or has | between its parts."""
    if not isinstance(cell, str):
        return cell
    if cell.lstrip().startswith("["):
        return from_json(cell)
    return [part.strip() for part in cell.split(SEPARATOR) if part.strip()]


def _object(cell: Any) -> Any:
    """Numbers by name, as JSON where it is a text. A column of a table has a cell for every name, and most are empty."""
    found = from_json(cell) if isinstance(cell, str) else cell
    return {name: value for name, value in found.items() if not is_empty(value)} if isinstance(found, Mapping) else found


def _json(cell: Any) -> Any:
    return from_json(cell) if isinstance(cell, str) else cell


def _day(cell: Any) -> Any:
    """Pydantic would take 19900101 for seconds since 1970."""
    if isinstance(cell, datetime):
        return cell.date()
    return cell if isinstance(cell, date) else date.fromisoformat(str(cell).strip()[:40])


def _decision(cell: Any) -> Any:
    word = f"{cell:g}" if isinstance(cell, float) else str(cell).strip().lower()[:8]
    return _DECISIONS.get(word, word)


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


_SHAPED: Final = {
    "name": _text,
    "born": _day,
    "i_am": _list,
    "i_look_for": _list,
    "tags": _list,
    "features": _object,
    "data": _json,
}
_FLAG: Final = TypeAdapter(bool)
_NUMBER: Final = TypeAdapter(FeatureValue)


def profile_row(cells: Mapping[str, Any], terms: Mapping[str, bool]) -> ProfileRow:
    """A row as a profile. A column can also be named like a tag or a feature; `terms` says which of the two it is."""
    given = {name: cell for name, cell in cells.items() if not is_empty(cell)}
    known = [name for name in PROFILE_COLUMNS if name in given and name in ProfileInput.model_fields]
    profile: dict[str, Any] = {name: _shaped(name, given[name]) for name in known}
    location = {name: given[name] for name in ("latitude", "longitude") if name in given}
    columns = [name for name in terms if name in given]
    tags = {name for name in columns if terms[name] and _read(_FLAG, name, given[name])}
    features = {name: _read(_NUMBER, name, given[name]) for name in columns if not terms[name]}
    if location:
        profile["location"] = location
    if tags and isinstance(profile.setdefault("tags", []), list | tuple):
        profile["tags"] = [*profile["tags"], *tags]
    if features and isinstance(profile.setdefault("features", {}), dict):
        profile["features"] = profile["features"] | features
    shaped = {name: given[name] for name in ("id", "paused") if name in given} | {"profile": profile}
    return _validated(ProfileRow, shaped, cells)


def swipe_row(cells: Mapping[str, Any]) -> SwipeRow:
    return _validated(SwipeRow, {name: cells[name] for name in SWIPE_COLUMNS if not is_empty(cells.get(name))}, cells)


def is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip()) or (isinstance(cell, float) and math.isnan(cell))


def _shaped(name: str, cell: Any) -> Any:
    try:
        return _SHAPED[name](cell) if name in _SHAPED else cell
    except ValueError as error:
        wanted = "must be a date such as 1990-12-31" if name == "born" else f"is not JSON ({error})"
        raise InvalidInput(name, f"{wanted}, got {_shown(cell)}") from None


def _read(adapter: TypeAdapter[Any], column: str, cell: Any) -> Any:
    try:
        return adapter.validate_python(cell)
    except ValidationError as error:
        raise InvalidInput(column, _problem(error)) from None


def _validated(model: type[Row], shaped: Mapping[str, Any], cells: Mapping[str, Any]) -> Row:
    try:
        return model.model_validate(shaped)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        known = [str(part) for part in first["loc"] if part in PROFILE_COLUMNS or part in SWIPE_COLUMNS]
        field = known[0] if known else "row"
        if first["type"] == "missing":
            raise InvalidInput(field, "is missing" if field in cells else "is missing: there is no such column") from None
        raise InvalidInput(field, _problem(error)) from None


def _problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False)[0]
    said = str(first["msg"]).removeprefix("Value error, ").replace("Input should be", "must be")
    return f"{said[:1].lower()}{said[1:]}, got {_shown(first['input'])}"


def _shown(cell: Any) -> str:
    shown = repr(cell) if isinstance(cell, str | float | bool) else type(cell).__name__
    return shown if len(shown) <= 40 else f"{shown[:37]}..."
