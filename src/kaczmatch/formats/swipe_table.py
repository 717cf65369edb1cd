"""A swipe log and its candidates, checked, every user's swipes in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.swipes import SwipeLog
from kaczmatch.core.vectors import Column, Matrix
from kaczmatch.formats.columns import DECISIONS, LIKE, SKIP, ColumnNames
from kaczmatch.formats.people_table import read_people, require_column
from kaczmatch.formats.rows import row_number
from kaczmatch.formats.tables import read_table

_ROW, _DECISION, _AT = "row of the file", "decision of it", "time of it"
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
            at=None if self.at is None else self.at.astype("datetime64[us]"),
        )


def read_swipes(
    swipes: Path,
    candidates: Path,
    columns: ColumnNames | None = None,
    others: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> SwipeTable:
    """Both tables, the candidates without the columns to `ignore`. What is wrong is said with the file and the row.

    Rows are numbered as a spreadsheet shows them. Times without a zone are UTC.
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

    log = log.with_columns(known_decisions(log[names.decision], where).alias(_DECISION))
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
    return SwipeTable(
        users=log[names.user].unique().sort().to_list(),
        candidates=people.ids.to_list(),
        tags=people.terms,
        features=people.features,
        user=(log[names.user].rank("dense") - 1).to_numpy().astype(np.int64),
        candidate=_places(log, names.candidate, people.ids, swipes, candidates),
        like=(log[_DECISION] == LIKE).to_numpy(),
        at=None if at is None else log[_AT].to_numpy(),
        session=None if session is None else log[session].to_numpy(),
        others={name: log[name].to_numpy() for name in others},
        skips=skips,
        unused=people.unused,
        ignored=tuple(ignore),
    )


def _optional(frame: pl.DataFrame, named: str | None, usual: str, path: Path) -> str | None:
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
        raise InvalidInput(
            column.name, f"{where(row)} must be like, pass or skip (or 1/0, 1/-1, true/false), got {column[row]!r}"
        )
    return known


def known_times(column: pl.Series, where: Callable[[int], str]) -> NDArray[np.int64]:
    """Microseconds: from datetimes, texts that are datetimes, or numbers that are seconds; `where` says which row is wrong."""
    if column.dtype.is_numeric():
        seconds = column.cast(pl.Float64).to_numpy()
        wrong = ~(np.abs(seconds) < 1e12)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InvalidInput(
                column.name, f"{where(row)}: {seconds[row]:g} is not a time in seconds; divide milliseconds by 1,000"
            )
        return np.rint(seconds * 1e6).astype(np.int64)
    moments = column
    if column.dtype == pl.String:
        moments = column.str.to_datetime(time_unit="us", strict=False, time_zone="UTC")
        if moments.null_count():
            row = int(moments.is_null().arg_max() or 0)
            raise InvalidInput(column.name, f"{where(row)} must be seconds or a date and time, got {column[row]!r}")
    if not moments.dtype.is_temporal():
        raise InvalidInput(column.name, f"{where(0)} must be seconds or a date and time, got {column.dtype}")
    return moments.cast(pl.Datetime("us")).to_physical().to_numpy().astype(np.int64)


def _check_order(log: pl.DataFrame, user: str, at: str, seq: str | None, path: Path) -> None:
    """Where `seq` says the order, times must agree with it."""
    back = (np.diff(log[_AT].to_numpy()) < 0) & (log[user][1:] == log[user][:-1]).to_numpy()
    if back.any():
        row = row_number(path, int(log[_ROW][int(np.argmax(back)) + 1]))
        raise InvalidInput(at, f"row {row} of {path.name} is earlier than the same user's swipe before it by {seq!r}")


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
        missing = log.filter(found.is_null()).sort(_ROW)
        row = row_number(swipes, int(missing[_ROW][0]))
        raise InvalidInput(name, f"{missing[name][0]!r} of {swipes.name} is not in {candidates.name} (row {row})")
    return found.to_numpy().astype(np.int64)
