"""Parts of a report in the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table as RichTable

from kaczmatch.report.results import ReportPart, Table

_LONGEST_WHOLE = 26


def show_parts(parts: Sequence[ReportPart]) -> None:
    """Words and tables in the terminal, as many columns as fit."""
    console = Console(highlight=False)
    for part in parts:
        console.print(part.title, style="bold")
        for words in part.words:
            console.print(words, markup=False)
        console.print()
        for table in part.tables:
            if table.in_report and table.rows:
                console.print(_rich(table, console.width))
            elif table.rows:
                console.print(f"{table.title}: {len(table.rows)} rows, with --out or --json")
            console.print()


def _rich(table: Table, width: int) -> RichTable:
    """As many columns as fit of those that say something; long texts wrap, everything else stays whole."""
    rich = RichTable(title=table.title, title_justify="left")
    said = {name: [_text(row[name]) for row in table.rows] for name in table.rows[0]}
    cells = {name: column for name, column in said.items() if any(column)}
    left = width - 1
    shown: list[str] = []
    for name, column in cells.items():
        longest = max(map(len, column))
        wraps = longest > _LONGEST_WHOLE
        left -= min(max(*map(len, name.split("_")), longest), _LONGEST_WHOLE) + 3
        if left < 0 and shown:
            break
        shown.append(name)
        number = isinstance(table.rows[0][name], int | float)
        rich.add_column(name.replace("_", "\n"), justify="right" if number else "left", no_wrap=not wraps)
    for place in range(len(table.rows)):
        rich.add_row(*(cells[name][place] for name in shown))
    if len(shown) < len(cells):
        rich.caption = f"{len(cells) - len(shown)} more columns with --out or --json"
    return rich


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if math.isfinite(value) else ""
    return str(value)
