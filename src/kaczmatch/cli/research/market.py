"""`kaczmatch market`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from kaczmatch.cli.terminal.errors import plain_errors
from kaczmatch.cli.terminal.tables import show_parts
from kaczmatch.laboratory.market import MarketComparison, compare_policies, market_part, policies_named
from kaczmatch.report.page import ResultsPage
from kaczmatch.simulation.market.engine import Pace
from kaczmatch.simulation.market.populations import Census


def run(
    population: str,
    policies: Sequence[str],
    census: Mapping[str, Any],
    pace: Mapping[str, Any],
    seeds: int,
    *,
    refits: tuple[int, ...],
    out: Path | None,
    as_json: bool,
) -> None:
    with plain_errors():
        part = market_part(_compare_with_progress(population, Census(**census), Pace(**pace), seeds, policies, refits))
        if out is not None:
            part.write(out)
            report = _page(seeds).write([part], out)
            Console(stderr=True).print(f"tables, figure and report: {report}", highlight=False, soft_wrap=True)
        if as_json:
            sys.stdout.write(part.tables[0].json())
        else:
            show_parts([part])


def _compare_with_progress(
    population: str, census: Census, pace: Pace, seeds: int, policies: Sequence[str], refits: tuple[int, ...]
) -> MarketComparison:
    arms = policies_named(policies, refits)
    columns = (TextColumn("{task.description:40}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("drawing people", total=seeds * len(arms), completed=-1)

        def tick(what: str) -> None:
            progress.update(task, description=what, advance=1)

        return compare_policies(population, census, pace, seeds, arms, tick)


def _page(seeds: int) -> ResultsPage:
    return ResultsPage(
        title="A market in which both sides choose",
        lead="What deck policies do when everybody is shown people, swipes and learns at once, through the decks of the service.",
        scope="One seed." if seeds == 1 else f"{seeds} seeds.",
        command="kaczmatch market",
        verdicts={"met": "good", "not met": "bad"},
    )
