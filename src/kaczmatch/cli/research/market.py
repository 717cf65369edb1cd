"""`kaczmatch market`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from kaczmatch.cli.terminal.errors import INTERRUPTED, plain_errors
from kaczmatch.cli.terminal.runners import runner_of
from kaczmatch.cli.terminal.tables import show_parts
from kaczmatch.report.page import ResultsPage
from kaczmatch.runner.contract import Runner
from kaczmatch.simulation.market.arms import MarketPolicy
from kaczmatch.simulation.market.comparison import MarketComparison, compare_policies, market_answer, market_part, policies_named
from kaczmatch.simulation.market.engine import Pace, Refits
from kaczmatch.simulation.market.outcome import MarketOutcome
from kaczmatch.simulation.market.town import Census


def run(
    population: str,
    policies: Sequence[str],
    census: Mapping[str, Any],
    pace: Mapping[str, Any],
    seeds: int,
    *,
    refits: Refits | None,
    group: str,
    out: Path | None,
    as_json: bool,
    ray: str | None = None,
    workers: int = 1,
) -> None:
    with plain_errors():
        asked = population, Census(**census), Pace(**pace), seeds, policies_named(policies, refits)
        found, interrupted = _compare_with_progress(*asked, group, runner_of(ray, workers, processes=True))
        part = market_part(found)
        if out is not None:
            part.write(out)
            report = _page(found, interrupted).write([part], out)
            Console(stderr=True).print(f"tables, figure and report: {report}", highlight=False, soft_wrap=True)
        if as_json:
            sys.stdout.write(part.tables[0].json())
        else:
            show_parts([part])
        if interrupted:
            sys.exit(INTERRUPTED)


def _compare_with_progress(
    population: str, census: Census, pace: Pace, seeds: int, arms: Sequence[MarketPolicy], group: str, runner: Runner
) -> tuple[MarketComparison, str]:
    """What came of it; and, after Ctrl-C, what of it was kept."""
    columns = (TextColumn("{task.description:40}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    finished, outcomes, console = count(1), dict[str, list[MarketOutcome]](), Console(stderr=True)
    try:
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task("drawing people", total=seeds * len(arms))

            def tick(what: str) -> None:
                progress.update(task, description=what, completed=next(finished))

            return compare_policies(population, census, pace, seeds, arms, tick, outcomes, runner, group), ""
    except KeyboardInterrupt:
        if not any(outcomes.values()):
            console.print("Interrupted: no policy was finished, so nothing is kept.")
            sys.exit(INTERRUPTED)
        found = MarketComparison.of_whole_seeds(population, census, pace, outcomes)
        kept = f"Interrupted: {found.seeds} of {seeds} seeds kept, with {len(found.outcomes)} of {len(arms)} policies."
        console.print(kept, highlight=False)
        return found, kept


def _page(found: MarketComparison, interrupted: str) -> ResultsPage:
    return ResultsPage(
        title="A market in which both sides choose",
        lead="What deck policies do when everybody is shown people, swipes and learns at once, through the decks of the service.",
        scope=f"{'One seed' if found.seeds == 1 else f'{found.seeds} seeds'}. {interrupted}",
        command="kaczmatch market",
        advice=market_answer(found),
        verdicts={"met": "good", "not met": "bad"},
    )
