"""Candidates and what they are: one row per person, tags and features as columns of their own or as lists in one cell.

An export of profiles is such a table. What is neither an identifier, a tag nor a feature in it (name, age, place) is left out.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import polars as pl

from kaczmatch.core.errors import InvalidInput, did_you_mean
from kaczmatch.core.vectors import Matrix, problem_with, usable_rows
from kaczmatch.formats.cells import BETWEEN, parted
from kaczmatch.formats.columns import PROFILE_COLUMNS, ColumnNames
from kaczmatch.formats.rows import row_number
from kaczmatch.formats.tables import Frame, read_table


@final
@dataclass(frozen=True, slots=True, eq=False)
class PeopleTable:
    """Identifiers, and one row of `features` per person over `terms`."""

    ids: pl.Series
    terms: Sequence[str]
    features: Matrix
    unused: Sequence[str]  # columns of a profile that are neither tags nor features


def read_people(path: Path | Frame, names: ColumnNames, ignore: Sequence[str] = ()) -> PeopleTable:
    """What is wrong is said with the file and the row, as a spreadsheet numbers it. Columns to `ignore` are not looked at."""
    frame = read_table(path)
    if frame.is_empty():
        raise InvalidInput("candidates", f"{path.name} has no rows")
    unknown = next((name for name in ignore if name not in frame.columns), None)
    if unknown is not None:
        raise InvalidInput("ignore", f"{path.name} has no column {unknown!r}; {did_you_mean(unknown, frame.columns)}")
    frame = frame.drop(ignore)
    require_column(frame, names.id, path)
    lists = {name for name in (names.tags, names.features) if name in frame.columns}
    unused = [name for name in frame.columns if name in PROFILE_COLUMNS and name not in {names.id, *lists}]
    numbers = _numbers(frame.drop(names.id, *lists, *unused), path)
    sparse = [_tags(frame[names.tags], path)] if names.tags in lists else []
    sparse += [_features(frame[names.features], path)] if names.features in lists else []
    terms = list(numbers.columns)
    for rows in sparse:
        terms += sorted({term for row in rows for term in row})
    twice = next((term for place, term in enumerate(terms) if term in terms[:place]), None)
    if twice is not None:
        raise InvalidInput("candidates", f"{path.name} has the tag {twice!r} twice: as a column and in a list")
    if not terms:
        raise InvalidInput("candidates", f"{path.name} has no tags and no features: nothing to learn from")
    features = np.zeros((len(frame), len(terms)))
    features[:, : len(numbers.columns)] = numbers.cast(pl.Float64).to_numpy()
    place = {term: column for column, term in enumerate(terms)}
    for rows in sparse:
        for number, row in enumerate(rows):
            for term, value in row.items():
                features[number, place[term]] = value
    bad = np.flatnonzero(~usable_rows(features))
    if bad.size:
        raise InvalidInput("candidates", f"row {row_number(path, int(bad[0]))} of {path.name}: {problem_with(features[bad[0]])}")
    return PeopleTable(frame[names.id], terms, features, unused)


def require_column(frame: pl.DataFrame, name: str, path: Path | Frame) -> None:
    """The column is there, and full."""
    if name not in frame.columns:
        known = ", ".join(frame.columns) if len(frame.columns) <= 12 else did_you_mean(name, frame.columns)
        raise InvalidInput(
            name, f"this column is missing from {path.name}, which has {known}; say what it is called: --column field=column"
        )
    if frame[name].null_count():
        row = row_number(path, int(frame[name].is_null().arg_max() or 0))
        raise InvalidInput(name, f"row {row} of {path.name} is empty")


def _numbers(values: pl.DataFrame, path: Path | Frame) -> pl.DataFrame:
    """Columns that are tags or features themselves."""
    texts = [name for name, kind in values.schema.items() if not kind.is_numeric() and kind != pl.Boolean]
    if texts:
        options = " ".join(f"--ignore {shlex.quote(name)}" for name in texts)
        raise InvalidInput(texts[0], f"must be numbers in {path.name}, got {values[texts[0]].dtype}; if it is no tag: {options}")
    for name in values.columns:
        if values[name].null_count():
            row = row_number(path, int(values[name].is_null().arg_max() or 0))
            raise InvalidInput(name, f"row {row} of {path.name} is empty")
    return values


def _tags(column: pl.Series, path: Path | Frame) -> list[dict[str, float]]:
    """Each person's tags."""
    found = []
    for place, cell in enumerate(column.to_list()):
        try:
            parts = parted(cell) if isinstance(cell, str) else [] if cell is None else [part.strip() for part in cell]
        except (ValueError, TypeError, AttributeError, RecursionError):
            raise InvalidInput(
                column.name,
                f"row {row_number(path, place)} of {path.name} must be tags with {BETWEEN} between them, or a list of texts",
            ) from None
        found.append(dict.fromkeys((part for part in parts if part), 1.0))
    return found


def _features(column: pl.Series, path: Path | Frame) -> list[dict[str, float]]:
    """Each person's features that are not 0."""
    found = []
    for place, cell in enumerate(column.to_list()):
        try:
            values = _mapping(cell)
            found.append({str(name): _real(value) for name, value in values.items() if value is not None})
        except (ValueError, TypeError, RecursionError):
            raise InvalidInput(
                column.name, f'row {row_number(path, place)} of {path.name} must be numbers by name, such as {{"activity": 0.5}}'
            ) from None
    return found


def _mapping(cell: Any) -> Mapping[str, Any]:
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return {}
    values = json.loads(cell) if isinstance(cell, str) else cell
    if not isinstance(values, Mapping):
        raise TypeError("not a mapping")
    return values


def _real(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("not a number")
    return float(value)
