"""`kaczmatch reproduce`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from kaczmatch.cli.research.run_parts import run_parts
from kaczmatch.cli.terminal.errors import plain_errors
from kaczmatch.cli.terminal.runners import runner_of
from kaczmatch.cli.terminal.tables import show_parts
from kaczmatch.core.errors import InvalidInput
from kaczmatch.laboratory.alpha_table import alpha_part
from kaczmatch.laboratory.blocks import blocks_part
from kaczmatch.laboratory.claims import claims_part
from kaczmatch.laboratory.cold_start import cold_start_part
from kaczmatch.laboratory.convergence import convergence_part
from kaczmatch.laboratory.curves import adaptive_part, curves_part, noise_part
from kaczmatch.laboratory.desiderata import desiderata_part
from kaczmatch.laboratory.drift import drift_part
from kaczmatch.laboratory.metrics_table import metrics_part
from kaczmatch.laboratory.study import Laboratory, Plan
from kaczmatch.report.results import ReportPart

Make = Callable[[Laboratory], ReportPart]

_BY_CONDITION: dict[str, Callable[[str, Laboratory], ReportPart]] = {
    "table-metrics": metrics_part,
    "curves": curves_part,
    "adaptive": adaptive_part,
    "noise": noise_part,
}
_PLAIN: dict[str, Make] = {
    "cold-start": cold_start_part,
    "convergence": convergence_part,
}
_BEYOND: dict[str, Make] = {
    "drift": drift_part,
    "blocks": blocks_part,
}


def parts_of(experiment: str, condition: str | None) -> list[tuple[str, Make]]:
    """What to run, in the order of the report."""
    if experiment in _BY_CONDITION:
        chosen = condition or "paper"
        return [(f"{experiment}, {chosen}", partial(_BY_CONDITION[experiment], chosen))]
    if condition is not None and experiment != "all":
        raise InvalidInput("condition", f"{experiment!r} has its own; leave --condition out")
    if experiment == "table-alpha":
        return [("table-alpha", lambda _: alpha_part())]
    if experiment == "beyond":
        return list(_BEYOND.items())
    single = _PLAIN | _BEYOND
    if experiment in single:
        return [(experiment, single[experiment])]
    claims: list[tuple[str, Make]] = [("claims", claims_part), ("desiderata", desiderata_part)]
    if experiment == "claims":
        return claims
    conditions = [condition] if condition else ["paper", "honest"]
    both = [(f"{name}, {each}", partial(make, each)) for each in conditions for name, make in _BY_CONDITION.items()]
    return [("table-alpha", lambda _: alpha_part()), *both, *_PLAIN.items(), *claims]


def run(
    experiment: str,
    condition: str | None,
    seeds: int,
    users: int,
    *,
    quick: bool,
    out: Path | None,
    as_json: bool,
    ray: str | None,
    workers: int,
) -> None:
    with plain_errors():
        parts = parts_of(experiment, condition)
        if as_json and experiment in ("all", "beyond"):
            raise InvalidInput("json", "prints one table; name the experiment, for example: reproduce table-metrics --json")
        if out is None and experiment == "all":
            out = Path("kaczmatch-report")
        words = ["kaczmatch reproduce", experiment, f"--seeds {seeds}", f"--users {users}", "--quick" if quick else ""]
        words.append(f"--condition {condition}" if condition else "")
        command, runner = " ".join(word for word in words if word), runner_of(ray, workers, processes=True)
        done = run_parts(parts, Plan(seeds, users, quick), out, command, runner)
        if as_json:
            tables = {table.name: table for table in done[0].tables}
            wanted = f"{experiment}-{condition or 'paper'}"
            sys.stdout.write((tables.get(wanted) or done[0].tables[0]).json())
        elif experiment != "all":
            show_parts(done)
