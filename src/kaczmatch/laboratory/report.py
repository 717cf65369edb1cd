"""The report: one self-contained page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from kaczmatch.laboratory.results import Part, Table
from kaczmatch.laboratory.study import Plan

_VERDICTS = {
    "reproduced": "good",
    "reproduced but misleading": "half",
    "false": "bad",
    "not reproduced": "bad",
    "cannot tell": "open",
}


def write_report(parts: Sequence[Part], plan: Plan, folder: Path, command: str) -> Path:
    """`report.html` with everything in it: no other file, no other host."""
    template = jinja2.Template((Path(__file__).parent / "report.html.j2").read_text(encoding="utf-8"), autoescape=True)
    seeds = "One seed" if plan.seeds == 1 else f"{plan.seeds} seeds"
    quick = " A quick run with a fifth of the sessions: for a look, not for a comparison." if plan.quick else ""
    page = template.render(
        parts=[
            {
                "name": part.name,
                "title": part.title,
                "words": part.words,
                "figures": [{"svg": Markup(figure.svg), "caption": figure.caption} for figure in part.figures],  # noqa: S704
                "tables": [_shown(table) for table in part.tables if table.in_report],
            }
            for part in parts
        ],
        scope=f"{seeds}, {plan.users} users a seed.{quick}",
        headline=_headline(parts),
        command=command,
    )
    path = folder / "report.html"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    return path


def _shown(table: Table) -> dict[str, Any]:
    names = list(table.rows[0]) if table.rows else []
    numeric = {name: all(isinstance(row[name], int | float) for row in table.rows) for name in names}
    return {
        "title": table.title,
        "note": table.note,
        "columns": [{"name": name.replace("_", " "), "number": numeric[name]} for name in names],
        "rows": [[_cell(name, row[name], number=numeric[name]) for name in names] for row in table.rows],
    }


def _cell(name: str, value: Any, *, number: bool) -> dict[str, Any]:
    if isinstance(value, float):
        text = "" if not math.isfinite(value) else f"{value:.3f}" if 1e-9 <= abs(value) < 1e5 or value == 0 else f"{value:.1e}"
    else:
        text = str(value)
    return {
        "text": text,
        "number": number,
        "code": name == "command",
        "verdict": _VERDICTS.get(text) if name == "verdict" else None,
    }


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
