"""`kaczmatch experiment`."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

from kaczmatch.cli.operate.store_access import open_store_of, operator_errors, settings_from
from kaczmatch.cli.terminal.progress import RowProgress
from kaczmatch.cli.terminal.tables import show_parts
from kaczmatch.core.errors import InvalidInput
from kaczmatch.report.results import ReportPart, Table
from kaczmatch.schemas.experiments import ExperimentReport, SequentialEstimate
from kaczmatch.service.experiments.report import ExperimentReports

_UNITS = {"user": "people", "cluster": "regions", "time": "blocks of time"}
_UNEVEN = 0.001


def run(config: Path | None, *, as_json: bool) -> None:
    with operator_errors(), open_store_of(settings_from(config)) as (_, context), RowProgress() as progress:
        report = ExperimentReports(context).report(lambda done, total: progress("counting decks", done, total))
        if not report.arms:
            raise InvalidInput("experiment", "there is none in the settings; name it (experiment) and its arms (experiment_arms)")
    tables = [_arms(report), _differences(report)]
    if as_json:
        sys.stdout.write(tables[1].json())
    else:
        show_parts([ReportPart("experiment", f"Experiment {report.name}", _words(report), tables)])


def _arms(report: ExperimentReport) -> Table:
    rows = []
    for arm in report.arms:
        row: dict[str, Any] = {"arm": arm.name, "policy": arm.policy, "units": arm.units, "waiting": arm.waiting}
        row |= {"decks": arm.decks, "cards": arm.cards}
        for outcome in arm.outcomes:
            row[outcome.outcome.replace(" ", "_")] = math.nan if outcome.mean is None else outcome.mean.value
        rows.append(row)
    return Table("arms", "Arms", rows)


def _differences(report: ExperimentReport) -> Table:
    rows = []
    for one in report.contrasts:
        found = one.difference or SequentialEstimate(value=math.nan, low=math.nan, high=math.nan)
        row = {"arm": one.arm, "outcome": one.outcome, "difference": found.value, "low": found.low, "high": found.high}
        rows.append(row | {"verdict": _verdict(one.difference)})
    return Table("differences", f"Minus {report.arms[0].name}", rows)


def _verdict(difference: SequentialEstimate | None) -> str:
    if difference is None:
        return "cannot be said yet"
    if difference.low <= 0.0 <= difference.high:
        return "no difference shown"
    return "more" if difference.value > 0.0 else "less"


def _words(report: ExperimentReport) -> list[str]:
    words = [
        f"Arms are assigned to {_UNITS[report.assigned]}, and each of these counts once, when it has been watched long enough. "
        "Intervals hold with 95 % at all looks together: stop whenever you like."
    ]
    if report.balance is not None and report.balance < _UNEVEN:
        words.append(
            f"The arms have numbers of units that chance would hardly give (p = {report.balance:.1g}): something assigns or logs "
            "them unevenly. Find it before you believe a difference."
        )
    if report.strays:
        words.append(
            f"{report.strays:,} decks of this name were assigned by other settings than those of now and are left out. A change "
            "that moves units between arms spoils a comparison: give an experiment that changes a new name."
        )
    if report.not_drawn:
        words.append(f"{report.not_drawn:,} cards were not drawn, because the app brought them itself. They are left out.")
    if report.assigned == "user":
        words.append("Where people meet each other across arms, differences between users are biased: see docs/experiments.md.")
    return words
