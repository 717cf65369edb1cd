"""The laboratory's report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kaczmatch.laboratory.study import Plan
from kaczmatch.report.page import ResultsPage
from kaczmatch.report.results import ReportPart

_VERDICTS = {
    "reproduced": "good",
    "reproduced but misleading": "half",
    "false": "bad",
    "not reproduced": "bad",
    "cannot tell": "open",
}


def write_report(parts: Sequence[ReportPart], plan: Plan, folder: Path, command: str) -> Path:
    """`report.html` with everything in it."""
    seeds = "One seed" if plan.seeds == 1 else f"{plan.seeds} seeds"
    quick = " A quick run with a fifth of the sessions: for a look, not for a comparison." if plan.quick else ""
    page = ResultsPage(
        title="The paper, reproduced and examined",
        lead="Block Kaczmarz methods for online preference learning: every number the paper prints, why it is what it is, and what happens "
        "when the labels carry a preference.",
        scope=f"{seeds}, {plan.users} users per seed.{quick}",
        command=command,
        headline=[number for part in parts for number in part.headline],
        verdicts=_VERDICTS,
    )
    return page.write(parts, folder)
