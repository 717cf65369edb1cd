"""Parts of a report in the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.table import Table as RichTable

from kaczmatch.report.results import ReportPart, Table

_LONGEST_WHOLE = 26


def show_parts(parts: Sequence[ReportPart]) -> None:
    """Words and tables in the terminal."""
    console = Console(highlight=False)
    for part in parts:
        console.print(part.title, style="bold")
        for words in part.words:
            console.print(words, markup=False)
        console.print()
        for table in part.tables:
            if table.in_report and table.rows:
                for rich in _fitting(table, console.width):
                    console.print(rich)
            elif table.rows:
                console.print(f"{table.title}: {len(table.rows)} rows, with --out or --json")
            console.print()


def _fitting(table: Table, width: int) -> Iterator[RichTable]:
    """The columns that say something: as many as fit beside the first, then the next ones beside it again. Long texts wrap."""
    said = {name: [_text(row[name]) for row in table.rows] for name in table.rows[0]}
    first, *others = (name for name, column in said.items() if any(column))
    shown, left, title = [first], width - 1 - _width(first, said[first]), table.title
    for name in others:
        if left < _width(name, said[name]) and len(shown) > 1:
            yield _rich(table, title, {each: said[each] for each in shown})
            shown, left, title = [first], width - 1 - _width(first, said[first]), f"{table.title}, continued"
        shown.append(name)
        left -= _width(name, said[name])
    yield _rich(table, title, {each: said[each] for each in shown})


def _width(name: str, column: Sequence[str]) -> int:
    return min(max(*map(len, name.split("_")), *map(len, column)), _LONGEST_WHOLE) + 3


def _rich(table: Table, title: str, cells: Mapping[str, Sequence[str]]) -> RichTable:
    rich = RichTable(title=title, title_justify="left")
    for name, column in cells.items():
        number = isinstance(table.rows[0][name], int | float)
        wraps = max(map(len, column)) > _LONGEST_WHOLE
        rich.add_column(name.replace("_", "\n"), justify="right" if number else "left", no_wrap=not wraps)
    for row in zip(*cells.values(), strict=True):
        rich.add_row(*row)
    return rich


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if math.isfinite(value) else ""
    return str(value)
