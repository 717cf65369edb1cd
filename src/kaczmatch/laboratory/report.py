"""The laboratory's report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kaczmatch.laboratory.study import Plan
from kaczmatch.report.page import Page
from kaczmatch.report.results import Part

_VERDICTS = {
    "reproduced": "good",
    "reproduced but misleading": "half",
    "false": "bad",
    "not reproduced": "bad",
    "cannot tell": "open",
}


def write_report(parts: Sequence[Part], plan: Plan, folder: Path, command: str) -> Path:
    """`report.html` with everything in it."""
    seeds = "One seed" if plan.seeds == 1 else f"{plan.seeds} seeds"
    quick = " A quick run with a fifth of the sessions: for a look, not for a comparison." if plan.quick else ""
    page = Page(
        title="The paper, reproduced and examined",
        lead="Block Kaczmarz methods for online preference learning: every number the paper prints, why it is what it is, and what happens "
        "when the labels carry a preference.",
        scope=f"{seeds}, {plan.users} users per seed.{quick}",
        command=command,
        headline=_headline(parts),
        verdicts=_VERDICTS,
    )
    return page.write(parts, folder)


def _headline(parts: Sequence[Part]) -> list[tuple[str, str]]:
    """The four numbers to take home, where their parts were run."""
    tables = {table.name: table for part in parts for table in part.tables}
    found = []
    if against := tables.get("table-metrics-against-paper"):
        good = sum(row["verdict"] == "reproduced" for row in against.rows)
        found.append((f"{good} of {len(against.rows)}", "numbers of the paper's table reproduced"))
    if paper := tables.get("table-metrics-paper"):
        ends = {row["learner"]: row["final_alignment"] for row in paper.rows}
        found.append(
            (
                f"{ends['all-ones']:.2f}",
                f"alignment of all-ones, which learns nothing; Block-NK, the paper's best, has {ends['block-nk']:.2f}",
            )
        )
    if honest := tables.get("table-metrics-honest"):
        ends = {row["learner"]: row["final_alignment"] for row in honest.rows}
        found.append((f"{ends['probit']:.3f}", f"alignment of probit under honest labels; Block-NK {ends['block-nk']:.3f}"))
    if claims := tables.get("claims"):
        false = sum(row["verdict"] == "false" for row in claims.rows)
        found.append((f"{false} of {len(claims.rows)}", "claims examined are false"))
    return found
