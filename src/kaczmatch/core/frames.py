"""Swipe logs as data frames of polars or pandas, by the column names of files. Neither library is imported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput, did_you_mean
from kaczmatch.core.moments import LARGEST_TIME, microseconds_by_size
from kaczmatch.core.tags import named_matrix, tags_in
from kaczmatch.core.vectors import Column, Matrix

LIKE, PASS, SKIP = "like", "pass", "skip"

# Decisions as other people write them. What is written is `like`, `pass` or `skip`.
DECISIONS: Final[Mapping[str, str]] = {
    "like": LIKE, "yes": LIKE, "1": LIKE, "true": LIKE, "right": LIKE,
    "pass": PASS, "dislike": PASS, "no": PASS, "0": PASS, "-1": PASS, "false": PASS, "left": PASS,
    "skip": SKIP,
}  # fmt: skip

# What a table of profiles has beside one column per tag or feature.
PROFILE_COLUMNS: Final = (
    "id", "name", "born", "i_am", "i_look_for", "youngest", "oldest", "latitude", "longitude", "within_km", "capacity",
    "tags", "features", "data", "paused",
)  # fmt: skip

_LIBRARIES: Final = ("polars", "pandas")
_OF_SWIPES: Final = ("user", "candidate", "decision", "at", "session", "seq", "id", "appeal")  # every other column is a tag


class Frame(Protocol):
    """What is asked of a frame."""

    @property
    def columns(self) -> Iterable[str]: ...

    def __getitem__(self, key: Any, /) -> Any: ...


def is_frame(value: object) -> TypeGuard[Frame]:
    return type(value).__name__ == "DataFrame" and type(value).__module__.partition(".")[0] in _LIBRARIES


def log_columns(swipes: Frame, candidates: Frame | None) -> dict[str, Any]:
    """The columns of a `SwipeLog` from one frame with a column per tag, or from swipes and candidates, as two files have them.

    Skips are left out. Swipes are in the order of `seq`, or else of `at`, or else as they come.
    """
    for name in ("user", "decision"):
        _required(swipes, name, "swipes")
    decisions = _decisions(_values(swipes, "decision"))
    kept = np.flatnonzero(decisions != SKIP)
    order = next((_values(swipes, name)[kept] for name in ("seq", "at") if name in swipes.columns), None)
    if order is not None:
        kept = kept[np.argsort(order, kind="stable")]
    columns = {"user": _values(swipes, "user")[kept], "label": decisions[kept] == LIKE}
    columns |= {name: _values(swipes, name)[kept] for name in ("at", "session") if name in swipes.columns}
    if "appeal" in swipes.columns:
        appeal = np.asarray(_values(swipes, "appeal")[kept])
        columns["others"] = np.column_stack([appeal, np.zeros(len(appeal))])
    if candidates is None:
        tags = [name for name in swipes.columns if name not in _OF_SWIPES]
        rows = _numbers(swipes, tags, "swipes")[kept]
        if "candidate" not in swipes.columns:
            return {**columns, "features": rows, "tags": tags}
        number, matrix = _people(_values(swipes, "candidate")[kept], rows)
        return {**columns, "candidate": number, "candidates": matrix, "tags": tags}
    for frame, name, which in ((swipes, "candidate", "swipes"), (candidates, "id", "candidates")):
        _required(frame, name, which)
    tags, matrix = _tagged(candidates)
    ids = _values(candidates, "id").tolist()
    if len(set(ids)) < len(ids):
        raise InvalidInput("id", "stands more than once among the candidates")
    return {
        **columns,
        "candidate": _values(swipes, "candidate")[kept],
        "candidates": dict(zip(ids, matrix, strict=True)),
        "tags": tags,
    }


def _values(frame: Frame, name: str) -> Column:
    column = np.asarray(frame[name].to_numpy())
    return _times(column) if name == "at" else column


def _times(column: Column) -> Column:
    """Texts of ISO 8601 as datetimes, in UTC where they name no zone, and numbers by their size: as files have them."""
    if column.dtype.kind in "iuf" and (np.abs(column) < LARGEST_TIME).all():
        return microseconds_by_size(column).astype("datetime64[us]")
    if column.dtype.kind not in "OU":
        return column
    found = np.empty(len(column), object)
    for row, value in enumerate(column.tolist()):
        try:
            moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        except ValueError:
            raise InvalidInput("at", f"row {row}: must be a time such as 2026-01-31T12:00:00Z, got {value!r}") from None
        found[row] = moment.replace(tzinfo=UTC) if isinstance(moment, datetime) and moment.tzinfo is None else moment
    return found


def _tagged(candidates: Frame) -> tuple[list[str], Matrix]:
    """From a column per tag or feature, and from `tags`: lists, or texts with | between tags."""
    columns = [name for name in candidates.columns if name not in PROFILE_COLUMNS]
    if "tags" not in candidates.columns:
        return columns, _numbers(candidates, columns, "candidates")
    cells = _values(candidates, "tags").tolist()
    lists = [
        each.split("|") if isinstance(each, str) else [] if each is None or isinstance(each, float) else list(each)
        for each in cells
    ]
    rows = [{tag.strip(): 1.0 for tag in each if tag.strip()} for each in lists]
    names = sorted(tags_in(rows))
    listed = named_matrix(rows, tuple(names), "tags")
    return [*columns, *names], np.hstack([_numbers(candidates, columns, "candidates"), listed]) if columns else listed


def _required(frame: Frame, name: str, which: str) -> None:
    if name not in frame.columns:
        raise InvalidInput(name, f"this column is missing from the {which}; {did_you_mean(name, map(str, frame.columns))}")


def _decisions(column: Column) -> NDArray[Any]:
    found = np.empty(len(column), object)
    for row, value in enumerate(column.tolist()):
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        known = DECISIONS.get(str(whole).strip().lower())
        if known is None:
            raise InvalidInput(
                "decision", f"row {row}: must be like, pass or skip (or yes/no, 1/0, 1/-1, true/false), got {value!r}"
            )
        found[row] = known
    return found


def _numbers(frame: Frame, tags: list[str], which: str) -> Matrix:
    if not tags:
        raise InvalidInput("features", f"the {which} have no column of a tag; give two frames: swipes and candidates")
    columns = [_values(frame, name) for name in tags]
    for name, column in zip(tags, columns, strict=True):
        if column.dtype.kind not in "biuf":
            raise InvalidInput(str(name), f"must be numbers, got {column.dtype}; if it is no tag, drop the column")
    return np.column_stack([column.astype(np.float64) for column in columns])


def _people(candidate: Column, rows: Matrix) -> tuple[NDArray[np.int64], Matrix]:
    """The number of each row's candidate, and one row of tags per candidate."""
    number: dict[Any, int] = {}
    numbers = np.array([number.setdefault(each, len(number)) for each in candidate.tolist()], np.int64)
    first = np.full(len(number), -1)
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]
    matrix = rows[first]
    other = (matrix[numbers] != rows).any(axis=1)
    if other.any():
        row = int(np.argmax(other))
        raise InvalidInput(
            "candidate", f"{candidate[row]!r} has other tags in a later row; leave the column out where people change"
        )
    return numbers, np.ascontiguousarray(matrix)
