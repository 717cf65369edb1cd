"""A swipe log and its candidates, checked, every user's swipes in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.swipes import SwipeLog
from kaczmatch.core.vectors import Column, Matrix, Vector
from kaczmatch.formats.columns import DECISIONS, LIKE, PASS, SKIP, ColumnNames
from kaczmatch.formats.people_table import read_people, require_column
from kaczmatch.formats.rows import row_number
from kaczmatch.formats.tables import Frame, as_table, read_table

_ROW, _DECISION, _AT, _COPY = "row of the file", "decision of it", "time of it", "whether it is a copy"
LARGEST_FEATURE = 10.0  # what a service takes in a profile: a tag is 0 or 1, and a feature of 180 would drown all of them
# What numbers count. Their size tells it: seconds until the year 5138, then milliseconds since 1973, and so on.
UNITS: Final = ("seconds", "milliseconds", "microseconds")
LARGEST_TIME: Final = 1e17
_FROM: Final = np.array([1e11, 1e14])  # where the second and the third begin
_NUMBERS = {float(text): decision for text, decision in DECISIONS.items() if text.lstrip("-").isdecimal()}


@final
@dataclass(frozen=True, slots=True, eq=False)
class SwipeTable:
    """Likes and passes sorted by user, each user's in order. Users and candidates go by number."""

    users: Sequence[Any]
    candidates: Sequence[Any]
    tags: Sequence[str]  # and features: the columns of `features`
    features: Matrix  # candidates x tags
    user: NDArray[np.int64]
    candidate: NDArray[np.int64]
    like: NDArray[np.bool_]
    at: NDArray[np.int64] | None = None  # microseconds since 1970
    session: Column | None = None
    others: Mapping[str, Column] = field(default_factory=dict)  # further columns that were asked for
    skips: int = 0  # rows that were left out, since a skip is neither a like nor a pass
    unused: Sequence[str] = ()  # columns of the candidates that are a profile's, and neither tags nor features
    ignored: Sequence[str] = ()  # columns of the candidates that were left out because somebody said so
    copies: int = 0  # rows that were left out, since the file has the same row before
    repeats: int = 0  # other rows that were left out, since the same user had decided about the same candidate before
    again: int | None = None  # the number of the first copy or repeat
    units: Sequence[str] = ()  # what times were counted in, where they were numbers
    scaled: Mapping[str, float] = field(default_factory=dict)  # features by what they were divided by

    def __len__(self) -> int:
        return len(self.user)

    @property
    def begin(self) -> NDArray[np.int64]:
        """Where each user's swipes begin, with an end."""
        return np.asarray(np.searchsorted(self.user, np.arange(len(self.users) + 1)), np.int64)


def read_log(
    swipes: Any,
    candidates: Any,
    *,
    columns: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
    like_from: float | None = None,
) -> SwipeLog:
    """A log from two tables, each a file or a frame of pandas, polars or Arrow; sorted by user, each user's swipes in order.

    `columns` says what fields are called in your tables: ``{"user": "user_id"}``. The candidates' other columns are tags and
    features, but for those to `ignore`. Decisions are words, or ratings of which those from `like_from` on are likes. Skips are
    left out, and so are later decisions of one user on one candidate.
    """
    tables = as_table(swipes, "swipes"), as_table(candidates, "candidates")
    table = read_swipes(*tables, ColumnNames.of(columns or {}), ignore=ignore, like_from=like_from)
    for name, largest in table.scaled.items():
        problem = (
            f"is up to {largest:g}, which would drown the tags; divide it, here and wherever candidates are scored, or ignore it"
        )
        raise InvalidInput(name, problem)
    return SwipeLog(
        user=np.asarray(table.users)[table.user],
        candidate=table.candidate,
        candidates=table.features,
        label=table.like,
        session=table.session,
        at=None if table.at is None else table.at.astype("datetime64[us]"),
        tags=table.tags,
    )


def read_swipes(
    swipes: Path | Frame,
    candidates: Path | Frame,
    columns: ColumnNames | None = None,
    others: Sequence[str] = (),
    ignore: Sequence[str] = (),
    like_from: float | None = None,
) -> SwipeTable:
    """Both tables, the candidates without the columns to `ignore`. What is wrong is said with the file and the row.

    Rows are numbered as a spreadsheet shows them. Times without a zone are UTC. Decisions are ratings where `like_from` says from
    which on they are likes. Of decisions of one user about one candidate the first counts: a learner that is tested on a later
    one has seen the answer. Features of a size that would drown the tags are divided by their largest value.
    """
    names = columns or ColumnNames()
    log = read_table(swipes)
    if log.is_empty():
        raise InvalidInput("swipes", f"{swipes.name} has no rows")
    people = read_people(candidates, names, ignore)
    for name in (names.user, names.candidate, names.decision, *others):
        require_column(log, name, swipes)
    seq, at, session = (_optional(log, getattr(names, field), field, swipes) for field in ("seq", "at", "session"))
    log = log.with_row_index(_ROW)

    def where(row: int) -> str:
        return f"row {row_number(swipes, row)} of {swipes.name}"

    decisions = log[names.decision]
    known = known_decisions(decisions, where) if like_from is None else rated_decisions(decisions, like_from, where)
    copied = ~log.select(pl.struct(pl.exclude(_ROW)).is_first_distinct()).to_series()
    log = log.with_columns(known.alias(_DECISION), copied.alias(_COPY))
    if at is not None:
        log = log.with_columns(pl.Series(_AT, known_times(log[at], where)))
    skips = int((log[_DECISION] == SKIP).sum())
    log = log.filter(pl.col(_DECISION) != SKIP)
    if log.is_empty():
        raise InvalidInput("swipes", f"{swipes.name} has nothing but skips; likes and passes are needed")
    within = [seq] if seq is not None else [_AT] if at is not None else []
    log = log.sort(names.user, *within, maintain_order=True)
    if at is not None:
        _check_order(log, names.user, at, seq, swipes)
    first = log.select(pl.struct(names.user, names.candidate).is_first_distinct()).to_series()
    later, log = log.filter(~first), log.filter(first)
    copies = int(later[_COPY].sum())
    features, scaled = _scaled(people.features, people.terms)
    return SwipeTable(
        users=log[names.user].unique().sort().to_list(),
        candidates=people.ids.to_list(),
        tags=people.terms,
        features=features,
        user=(log[names.user].rank("dense") - 1).to_numpy().astype(np.int64),
        candidate=_places(log, names.candidate, people.ids, swipes, candidates),
        like=(log[_DECISION] == LIKE).to_numpy(),
        at=None if at is None else log[_AT].to_numpy(),
        session=None if session is None else log[session].to_numpy(),
        others={name: log[name].to_numpy() for name in others},
        skips=skips,
        unused=people.unused,
        ignored=tuple(ignore),
        copies=copies,
        repeats=len(later) - copies,
        again=row_number(swipes, int(later[_ROW].min())) if len(later) else None,  # type: ignore[arg-type]  # a whole number
        units=() if at is None else _time_units(log[at]),
        scaled=scaled,
    )


def _optional(frame: pl.DataFrame, named: str | None, usual: str, path: Path | Frame) -> str | None:
    """The named column, or the usual one where it exists."""
    if named is None and usual not in frame.columns:
        return None
    require_column(frame, named or usual, path)
    return named or usual


def known_decisions(column: pl.Series, where: Callable[[int], str]) -> pl.Series:
    """`like`, `pass` or `skip`, from any of the ways in which people write them; `where` says which row is wrong."""
    if column.dtype.is_numeric():
        known = column.cast(pl.Float64).replace_strict(_NUMBERS, default=None, return_dtype=pl.String)
    else:
        texts = column.cast(pl.String).str.strip_chars().str.to_lowercase()
        known = texts.replace_strict(DECISIONS, default=None, return_dtype=pl.String)
    if known.null_count():
        row = int(known.is_null().arg_max() or 0)
        ratings = "; if these are ratings, say from which on they are likes: --like-from" if column.dtype.is_numeric() else ""
        raise InvalidInput(
            column.name,
            f"{where(row)} must be like, pass or skip (or yes/no, 1/0, 1/-1, true/false), got {column[row]!r}{ratings}",
        )
    return known


def rated_decisions(column: pl.Series, like_from: float, where: Callable[[int], str]) -> pl.Series:
    """Ratings as likes and passes: so much or more is a like."""
    ratings = column.cast(pl.Float64, strict=False).fill_nan(None)
    if ratings.null_count():
        row = int(ratings.is_null().arg_max() or 0)
        raise InvalidInput(column.name, f"{where(row)} must be a rating, as --like-from is given, got {column[row]!r}")
    return (ratings >= like_from).replace_strict({True: LIKE, False: PASS}, return_dtype=pl.String)


def known_times(column: pl.Series, where: Callable[[int], str]) -> NDArray[np.int64]:
    """Microseconds: from datetimes, texts that are datetimes, or numbers; `where` says which row is wrong."""
    if column.dtype.is_numeric():
        numbers = column.cast(pl.Float64).to_numpy()
        wrong = ~(np.abs(numbers) < LARGEST_TIME)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InvalidInput(
                column.name, f"{where(row)}: {numbers[row]:g} is not a time in seconds, milliseconds or microseconds"
            )
        return np.asarray(np.rint(numbers * np.array([1e6, 1e3, 1.0])[_units(numbers)]), np.int64)
    moments = column
    if column.dtype == pl.String:
        moments = column.str.to_datetime(time_unit="us", strict=False, time_zone="UTC")
        if moments.null_count():
            row = int(moments.is_null().arg_max() or 0)
            raise InvalidInput(column.name, f"{where(row)} must be seconds or a date and time, got {column[row]!r}")
    if not moments.dtype.is_temporal():
        raise InvalidInput(column.name, f"{where(0)} must be seconds or a date and time, got {column.dtype}")
    return moments.cast(pl.Datetime("us")).to_physical().to_numpy().astype(np.int64)


def _units(numbers: Vector) -> NDArray[np.int64]:
    """Which of `UNITS` each number counts, read by itself: parts of a file are read as the whole is."""
    return np.asarray(np.searchsorted(_FROM, np.abs(numbers), side="right"), np.int64)


def _time_units(column: pl.Series) -> tuple[str, ...]:
    """What times count; nothing where they are no numbers."""
    return (
        tuple(UNITS[place] for place in np.unique(_units(column.cast(pl.Float64).to_numpy())))
        if column.dtype.is_numeric()
        else ()
    )


def _scaled(features: Matrix, names: Sequence[str]) -> tuple[Matrix, dict[str, float]]:
    """Features of at most 1 where they are beyond what a service takes, and what they were divided by."""
    largest = np.abs(features).max(axis=0)
    by = np.where(largest > LARGEST_FEATURE, largest, 1.0)
    return features / by, {name: float(one) for name, one in zip(names, by, strict=True) if one != 1.0}


def _check_order(log: pl.DataFrame, user: str, at: str, seq: str | None, path: Path | Frame) -> None:
    """Where `seq` says the order, times must agree with it."""
    back = (np.diff(log[_AT].to_numpy()) < 0) & (log[user][1:] == log[user][:-1]).to_numpy()
    if back.any():
        row = row_number(path, int(log[_ROW][int(np.argmax(back)) + 1]))
        raise InvalidInput(at, f"row {row} of {path.name} is earlier than the same user's swipe before it by {seq!r}")


def _places(log: pl.DataFrame, name: str, key: pl.Series, swipes: Path | Frame, candidates: Path | Frame) -> NDArray[np.int64]:
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
        missing = log.filter(found.is_null()).sort(_ROW)
        row = row_number(swipes, int(missing[_ROW][0]))
        raise InvalidInput(name, f"{missing[name][0]!r} of {swipes.name} is not in {candidates.name} (row {row})")
    return found.to_numpy().astype(np.int64)
