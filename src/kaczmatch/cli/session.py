"""What the commands share: progress on standard error, errors in one line, results on standard output."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable

from kaczmatch.cli.errors import plain_errors
from kaczmatch.laboratory.report import write_report
from kaczmatch.laboratory.study import Laboratory, Plan
from kaczmatch.report.results import Part, Table

__all__ = ["plain_errors", "run_parts", "show"]

INTERRUPTED = 130
_LONGEST_WHOLE = 26


def run_parts(
    parts: Sequence[tuple[str, Callable[[Laboratory], Part]]], plan: Plan, out: Path | None, command: str
) -> list[Part]:
    """Run parts one after the other under a progress bar, writing each as it is done; Ctrl-C keeps what is finished."""
    console = Console(stderr=True)
    bar = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    columns = (TextColumn("{task.description}"), *bar, TextColumn("{task.fields[step]}"))
    finished: list[Part] = []
    # Files are drawn and written beside the next part's run.
    writer = ThreadPoolExecutor(1)
    written: list[Future[list[Path]]] = []
    try:
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task("starting", total=len(parts), step="")
            laboratory = Laboratory(plan, lambda step: progress.update(task, step=step))
            for name, make in parts:
                progress.update(task, description=name, step="")
                part = make(laboratory)
                if out is not None:
                    written.append(writer.submit(part.write, out))
                finished.append(part)
                progress.advance(task)
    except KeyboardInterrupt:
        console.print("Interrupted: what was finished is kept.")
        sys.exit(INTERRUPTED)
    finally:
        writer.shutdown()
        for part_written in written:
            part_written.result()
        if out is not None and finished:
            report = write_report(finished, plan, out, command)
            console.print(f"{len(finished)} of {len(parts)} parts in {out}/, report: {report}", highlight=False, soft_wrap=True)
    return finished


def show(parts: Sequence[Part]) -> None:
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
