"""A table of any size, row by row, for imports: CSV, JSON Lines or Parquet. A bad row is a problem of that row only.

Rows are numbered as a spreadsheet shows them: the header of a CSV file is row 1, an empty row counts, a line break in quotes does
not. In JSON Lines a number is that of the line, in Parquet that of the row. `tables` reads whole tables at once, much faster.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn, final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.extras import missing_extra
from kaczmatch.formats.cells import lively
from kaczmatch.formats.text_form import TextForm, not_in_encoding, refuse_spreadsheet, text_form

KINDS: Final = ("csv", "jsonl", "parquet")
ENDINGS: Final = tuple(f".{kind}" for kind in KINDS)
LONGEST_LINE: Final = 1 << 20
MOST_COLUMNS: Final = 5_000  # names that are like a missing field are looked for among all of them
_AT_ONCE = 10_000
_PEEKED = 500  # lines of JSON that say which columns there are


@final
@dataclass(frozen=True, slots=True)
class Row:
    """Values by column, or what is wrong with the row."""

    number: int
    values: Mapping[str, Any]
    problem: str = ""


@final
@dataclass(frozen=True, slots=True)
class TableFile:
    """A table that is being read: its columns, how it is written, in words, and its rows that are not empty."""

    columns: Sequence[str]
    words: str
    rows: Iterator[Row]


def check_ending(path: Path, field: str = "path") -> str:
    if path.suffix not in ENDINGS:
        raise InvalidInput(field, f"{path.name!r} must end in one of {', '.join(ENDINGS)}")
    return path.suffix


def check_kind(kind: str) -> None:
    """Refuses a format that there is not, and Parquet where polars is not: the service alone needs it for nothing else."""
    if kind not in KINDS:
        raise InvalidInput("format", f"must be one of {', '.join(KINDS)}, got {kind!r}")
    if kind == "parquet" and find_spec("polars") is None:
        raise InvalidInput("format", f"Parquet cannot be used here: {missing_extra(ModuleNotFoundError(name='polars'))}")


def open_table(path: Path, kind: str, encoding: str | None = None, delimiter: str | None = None) -> TableFile:
    """Raises where the file as a whole cannot be read."""
    check_kind(kind)
    if not path.is_file():
        raise InvalidInput("path", f"there is no file {path}")
    refuse_spreadsheet(path)
    if kind == "csv":
        form = text_form(path, encoding, delimiter)
        rows = _csv(path, form)
        return TableFile(tuple(next(rows).values), f"CSV, {form.words}", rows)
    if kind == "jsonl":
        lines = _lines(path)
        first = list(islice(lines, _PEEKED))
        columns = dict.fromkeys(name for row in first for name in row.values)
        _check_number(len(columns), f"the first {_PEEKED} lines have")
        return TableFile(tuple(columns), "JSON Lines", chain(first, lines))
    return TableFile(_parquet_columns(path), "Parquet", _parquet(path))


def _check_number(columns: int, who: str) -> None:
    if columns > MOST_COLUMNS:
        several = f"{who} {columns:,} columns, and a table may have {MOST_COLUMNS:,}"
        raise InvalidInput("columns", f"{several}; leave out those that are no field, tag or feature")


def row_number(path: object, place: int) -> int:
    """The number under which the row at a place (0: the first) is shown to people. A file is read up to there."""
    if not isinstance(path, Path):
        return place
    rows = open_table(path, {".csv": "csv", ".jsonl": "jsonl"}.get(path.suffix, "parquet")).rows
    return next((row.number for row in islice(rows, place, None)), place + 1)


def _csv(path: Path, form: TextForm) -> Iterator[Row]:
    """The header as a row of names, then the rows."""
    try:
        with form.open(path) as file:
            yield from _records(form.records(file))
    except UnicodeError:
        raise not_in_encoding(path, form) from None


def _records(reader: Iterator[list[str]]) -> Iterator[Row]:
    number = 0
    try:
        for number, names in enumerate(reader, 1):  # noqa: B007
            header = [name.strip() for name in names]
            if any(header):
                break
        else:
            header = []
    except csv.Error as error:
        raise InvalidInput("header", f"cannot be read: {error}") from None
    while header and not header[-1]:  # spreadsheets write cells that somebody has emptied
        header.pop()
    _check(header)
    yield Row(number, dict.fromkeys(header))
    while True:
        number += 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Row(number, {}, str(error))
            continue
        if any(cell and not cell.isspace() for cell in cells):
            yield _cells(number, header, cells)


def _check(header: Sequence[str]) -> None:
    _check_number(len(header), "the header names")
    if not header or not all(header):
        raise InvalidInput("header", "the first line must name every column")
    if any("\0" in name for name in header):
        raise InvalidInput("header", "has NUL characters; if the file is UTF-16 without a mark, name its encoding: utf-16-le")
    twice = next((name for name, times in Counter(header).items() if times > 1), None)
    if twice is not None:
        raise InvalidInput("header", f"names the column {twice!r} twice")


def _cells(number: int, header: Sequence[str], cells: list[str]) -> Row:
    while len(cells) > len(header) and not cells[-1].strip():
        cells.pop()
    if len(cells) != len(header):
        return Row(number, {}, f"has {len(cells)} values, and there are {len(header)} columns")
    texts = [lively(cell) for cell in cells]
    problem = next((problem for text in texts if (problem := _unreadable(text))), "")
    return Row(number, {} if problem else dict(zip(header, texts, strict=True)), problem)


def _unreadable(text: str) -> str:
    if "\0" in text:
        return "has a NUL character"
    if text.isascii():
        return ""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "is not UTF-8"
    return ""


def _lines(path: Path) -> Iterator[Row]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
                _skip(file)
                yield Row(number, {}, f"is longer than {LONGEST_LINE:,} bytes")
            elif line.strip():
                yield _object(number, line)


def _skip(file: BinaryIO) -> None:
    """To the end of a line."""
    while (part := file.readline(LONGEST_LINE)) and not part.endswith(b"\n"):
        pass


def _object(number: int, line: bytes) -> Row:
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        values = json.loads(text, parse_constant=_no_number)
        text.encode() if "\\ud" not in text.lower() else json.dumps(values, ensure_ascii=False).encode()
    except UnicodeError:
        return Row(number, {}, "is not UTF-8")
    except (ValueError, RecursionError) as error:
        return Row(number, {}, f"is not JSON: {str(error)[:80]}")
    if not isinstance(values, dict):
        return Row(number, {}, "must be an object: {…}")
    if len(values) > MOST_COLUMNS:
        return Row(number, {}, f"has {len(values):,} values, and a row may have {MOST_COLUMNS:,}")
    if "\\u0000" in text:
        return Row(number, {}, "has a NUL character")
    return Row(number, values)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _parquet_columns(path: Path) -> tuple[str, ...]:
    import polars as pl

    try:
        columns = tuple(pl.read_parquet_schema(path))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, OverflowError) as error:
        raise InvalidInput("path", f"{path.name} cannot be read as Parquet: {str(error)[:200]}") from None
    _check_number(len(columns), "the file has")
    return columns


def _parquet(path: Path) -> Iterator[Row]:
    import polars as pl

    try:
        frame = pl.scan_parquet(path, glob=False)
        total = int(frame.select(pl.len()).collect().item())
        for first in range(0, total, _AT_ONCE):
            part = frame.slice(first, _AT_ONCE).collect()
            for number, values in enumerate(part.iter_rows(named=True), first + 1):
                problem = next((p for one in values.values() if isinstance(one, str) and (p := _unreadable(one))), "")
                yield Row(number, {} if problem else values, problem)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, OverflowError) as error:
        raise InvalidInput("path", f"{path.name} cannot be read as Parquet: {str(error)[:200]}") from None
