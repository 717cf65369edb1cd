"""A table of any size, row by row, for imports: CSV, JSON Lines or Parquet. A bad row is a problem of that row only.

Rows are counted from 1, without a header; in JSON Lines they are lines. `tables` reads whole tables at once, and is much faster.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn, final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.cells import lively

KINDS: Final = ("csv", "jsonl", "parquet")
LONGEST_LINE: Final = 1 << 20
_AT_ONCE = 10_000


@final
@dataclass(frozen=True, slots=True)
class Row:
    """Values by column, or what is wrong with the row."""

    number: int
    values: Mapping[str, Any]
    problem: str = ""


def read_rows(path: Path, kind: str) -> Iterator[Row]:
    """Every row; raises where the file as a whole cannot be read."""
    if kind not in KINDS:
        raise InvalidInput("format", f"must be one of {', '.join(KINDS)}, got {kind!r}")
    if not path.is_file():
        raise InvalidInput("path", f"there is no file {path}")
    return {"csv": _csv, "jsonl": _lines, "parquet": _parquet}[kind](path)


def _csv(path: Path) -> Iterator[Row]:
    # A byte that is not UTF-8 becomes a lone surrogate, so that only its row is refused.
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            header = [name.strip() for name in next(reader, [])]
        except csv.Error as error:
            raise InvalidInput("header", f"cannot be read: {error}") from None
        _check(header)
        number = 0
        while True:
            number += 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Row(number, {}, str(error))
                continue
            if cells:
                yield _cells(number, header, cells)


def _check(header: Sequence[str]) -> None:
    if not header or not all(header):
        raise InvalidInput("header", "the first line must name every column")
    twice = next((name for place, name in enumerate(header) if name in header[:place]), None)
    if twice is not None:
        raise InvalidInput("header", f"names the column {twice!r} twice")


def _cells(number: int, header: Sequence[str], cells: Sequence[str]) -> Row:
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
    if "\\u0000" in text:
        return Row(number, {}, "has a NUL character")
    return Row(number, values)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _parquet(path: Path) -> Iterator[Row]:
    import polars as pl  # the service starts without it: few need Parquet

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
