"""The report of a reproduction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from kaczmatch.report.page import ResultsPage
from kaczmatch.report.results import ReportPart
from kaczmatch.reproduce.published import ALL_HIGH, ALL_LOW, CANNOT_TELL, FALSE, MISLEADING, NOT_REPRODUCED, REPRODUCED
from kaczmatch.reproduce.study import Plan

_VERDICTS = {
    REPRODUCED: "good",
    MISLEADING: "half",
    ALL_HIGH: "half",
    ALL_LOW: "half",
    NOT_REPRODUCED: "bad",
    FALSE: "bad",
    CANNOT_TELL: "open",
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
        advice=_answer(parts),
        headline=[number for part in parts for number in part.headline],
        verdicts=_VERDICTS,
    )
    return page.write(parts, folder)


def _answer(parts: Sequence[ReportPart]) -> list[str]:
    """How often each verdict was given, over all that was compared with the paper."""
    given = Counter(row["verdict"] for part in parts for table in part.tables for row in table.rows if "verdict" in row)
    counted = [f"{given[verdict]} {verdict}" for verdict in _VERDICTS if given[verdict]]
    if not counted:
        return []
    words = [f"Of {sum(given[verdict] for verdict in _VERDICTS)} numbers and claims of the paper: {', '.join(counted)}."]
    if given[CANNOT_TELL]:
        words.append(
            "“Cannot tell” means that this run is smaller than the paper's, or that chance alone may explain the difference."
        )
    return words
