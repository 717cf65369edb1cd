"""Somebody else's swipe log: two tables with columns of any name, checked, every user's swipes in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput, nearest
from kaczmatch.core.swipes import SwipeLog
from kaczmatch.core.vectors import Column, Matrix, problem_with, usable_rows
from kaczmatch.formats.tables import read_table

_CLOCKS = ("timestamp", "time", "at")  # columns that are taken for the time where none is named
_LIKES = {"like": True, "pass": False, "true": True, "false": False, "1": True, "0": False, "-1": False}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnNames:
    """What the columns are called. None: as usual where there is such a column, and without it where there is none."""

    user: str = "user_id"
    candidate: str = "candidate_id"
    like: str = "like"
    order: str | None = None  # each user's order; usually "seq"
    time: str | None = None  # usually "timestamp", "time" or "at"
    session: str | None = None  # usually "session"
    candidates_key: str | None = None  # the candidates' identifier in their own table; usually what `candidate` says


@final
@dataclass(frozen=True, slots=True, eq=False)
class SwipeTable:
    """Swipes sorted by user, each user's in order; users and candidates by number, their names apart."""

    users: Sequence[Any]
    candidates: Sequence[Any]
    tags: Sequence[str]
    features: Matrix  # candidates x tags
    user: NDArray[np.int64]
    candidate: NDArray[np.int64]
    like: NDArray[np.bool_]
    time: NDArray[np.int64] | None = None  # microseconds
    session: Column | None = None
    others: Mapping[str, Column] = field(default_factory=dict)  # further columns that were asked for

    def __len__(self) -> int:
        return len(self.user)

    @property
    def begin(self) -> NDArray[np.int64]:
        """Where each user's swipes begin, with an end."""
        return np.asarray(np.searchsorted(self.user, np.arange(len(self.users) + 1)), np.int64)

    def log(self) -> SwipeLog:
        """The same as a log for `replay`, under the users' own names."""
        names: Column = np.array(self.users)
        return SwipeLog(
            user=names[self.user] if len(names) else self.user,
            candidate=self.candidate,
            candidates=self.features,
            label=np.where(self.like, 1, -1),
            session=self.session,
        )


def read_swipes(swipes: Path, candidates: Path, columns: ColumnNames | None = None, others: Sequence[str] = ()) -> SwipeTable:
    """Both tables; what is wrong is said with the file and the row, counted from 1 without the header."""
    names = columns or ColumnNames()
    log, people = read_table(swipes), read_table(candidates)
    key = names.candidates_key or names.candidate
    for name, frame, path in (("swipes", log, swipes), ("candidates", people, candidates)):
        if frame.is_empty():
            raise InvalidInput(name, f"{path.name} has no rows")
    for name in (names.user, names.candidate, names.like, *others):
        _require(log, name, swipes)
    _require(people, key, candidates)
    order = _usual(log, names.order, ("seq",), swipes)
    clock = _usual(log, names.time, _CLOCKS, swipes)
    session = _usual(log, names.session, ("session",), swipes)
    log = log.with_row_index("row of the file")
    like = _likes(log[names.like], swipes)
    time = None if clock is None else _times(log[clock], swipes)
    log = log.with_columns(pl.Series("liked or not", like))
    if time is not None:
        log = log.with_columns(pl.Series("time of it", time))
    within = [order] if order is not None else ["time of it"] if time is not None else []
    log = log.sort(names.user, *within, maintain_order=True)
    if time is not None:
        time = log["time of it"].to_numpy()
        back = (np.diff(time) < 0) & (log[names.user][1:] == log[names.user][:-1]).to_numpy()
        if back.any():
            row = int(log["row of the file"][int(np.argmax(back)) + 1]) + 1
            raise InvalidInput(
                str(clock), f"row {row} of {swipes.name} is earlier than the same user's swipe before it by {order!r}"
            )
    features, tags = _features(people.drop(key), candidates)
    return SwipeTable(
        users=log[names.user].unique().sort().to_list(),
        candidates=people[key].to_list(),
        tags=tags,
        features=features,
        user=(log[names.user].rank("dense") - 1).to_numpy().astype(np.int64),
        candidate=_places(log, names.candidate, people[key], swipes, candidates),
        like=log["liked or not"].to_numpy(),
        time=time,
        session=None if session is None else log[session].to_numpy(),
        others={name: log[name].to_numpy() for name in others},
    )


def _require(frame: pl.DataFrame, name: str, path: Path) -> None:
    """The column is there, and full."""
    if name not in frame.columns:
        known = ", ".join(frame.columns) if len(frame.columns) <= 12 else nearest(name, frame.columns)
        raise InvalidInput(name, f"this column is missing from {path.name}, which has {known}")
    if frame[name].null_count():
        row = int(frame[name].is_null().arg_max() or 0) + 1
        raise InvalidInput(name, f"row {row} of {path.name} is empty")


def _usual(frame: pl.DataFrame, named: str | None, usual: Sequence[str], path: Path) -> str | None:
    """The named column, or the first of the usual ones that exists."""
    if named is not None:
        _require(frame, named, path)
        return named
    found = next((name for name in usual if name in frame.columns), None)
    if found is not None:
        _require(frame, found, path)
    return found


def _likes(column: pl.Series, path: Path) -> NDArray[np.bool_]:
    if column.dtype.is_numeric():
        known = column.cast(pl.Float64).replace_strict(
            {1.0: True, 0.0: False, -1.0: False}, default=None, return_dtype=pl.Boolean
        )
    else:
        known = column.cast(pl.String).str.to_lowercase().replace_strict(_LIKES, default=None, return_dtype=pl.Boolean)
    if known.null_count():
        row = int(known.is_null().arg_max() or 0)
        raise InvalidInput(
            column.name, f"row {row + 1} of {path.name} must be 1 or 0 (or like/pass, true/false, 1/-1), got {column[row]!r}"
        )
    return known.to_numpy()


def _times(column: pl.Series, path: Path) -> NDArray[np.int64]:
    """Microseconds: from datetimes, texts that are datetimes, or numbers that are seconds."""
    if column.dtype.is_numeric():
        seconds = column.cast(pl.Float64).to_numpy()
        wrong = ~(np.abs(seconds) < 1e12)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InvalidInput(
                column.name,
                f"row {row + 1} of {path.name}: {seconds[row]:g} is not a time in seconds; divide milliseconds by 1,000",
            )
        return np.rint(seconds * 1e6).astype(np.int64)
    moments = column
    if column.dtype == pl.String:
        moments = column.str.to_datetime(time_unit="us", strict=False, time_zone="UTC")
        if moments.null_count():
            row = int(moments.is_null().arg_max() or 0)
            raise InvalidInput(
                column.name, f"row {row + 1} of {path.name} must be seconds or a date and time, got {column[row]!r}"
            )
    if not moments.dtype.is_temporal():
        raise InvalidInput(column.name, f"must be seconds or dates and times in {path.name}, got {column.dtype}")
    return moments.cast(pl.Datetime("us")).to_physical().to_numpy().astype(np.int64)


def _features(values: pl.DataFrame, path: Path) -> tuple[Matrix, list[str]]:
    if not values.columns:
        raise InvalidInput("candidates", f"{path.name} has no column beside the identifier: nothing to learn from")
    for name, kind in values.schema.items():
        if not kind.is_numeric() and kind != pl.Boolean:
            raise InvalidInput(name, f"must be numbers in {path.name}, got {kind}; leave columns out that are not tags")
        if values[name].null_count():
            raise InvalidInput(name, f"row {int(values[name].is_null().arg_max() or 0) + 1} of {path.name} is empty")
    features = np.ascontiguousarray(values.cast(pl.Float64).to_numpy())
    bad = np.flatnonzero(~usable_rows(features))
    if bad.size:
        raise InvalidInput("candidates", f"row {bad[0] + 1} of {path.name}: {problem_with(features[bad[0]])}")
    return features, values.columns


def _places(log: pl.DataFrame, name: str, key: pl.Series, swipes: Path, candidates: Path) -> NDArray[np.int64]:
    """The row of `candidates` that each swipe saw."""
    if key.is_duplicated().any():
        twice = key.filter(key.is_duplicated())[0]
        raise InvalidInput(key.name, f"{twice!r} stands more than once in {candidates.name}")
    wanted = log[name]
    if wanted.dtype != key.dtype:  # numbers in one file and texts in the other
        wanted, key = wanted.cast(pl.String), key.cast(pl.String)
    known = pl.DataFrame({"key": key, "place": pl.Series(np.arange(len(key)))})
    found = pl.DataFrame({"key": wanted}).join(known, on="key", how="left", maintain_order="left")["place"]
    if found.null_count():
        missing = log.filter(found.is_null()).sort("row of the file")
        row = int(missing["row of the file"][0]) + 1
        raise InvalidInput(name, f"{missing[name][0]!r} of {swipes.name} is not in {candidates.name} (row {row})")
    return found.to_numpy().astype(np.int64)
