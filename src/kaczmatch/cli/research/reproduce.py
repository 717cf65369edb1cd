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
from kaczmatch.report.results import ReportPart
from kaczmatch.reproduce.claims import claims_part
from kaczmatch.reproduce.desiderata import desiderata_part
from kaczmatch.reproduce.figures import curves_part, noise_part
from kaczmatch.reproduce.future_work import blocks_part, cold_start_part, convergence_part, drift_part, thresholds_part
from kaczmatch.reproduce.study import Plan, Reproduction
from kaczmatch.reproduce.tables import alpha_part, metrics_part

Make = Callable[[Reproduction], ReportPart]

_BY_CONDITION: dict[str, Callable[[str, Reproduction], ReportPart]] = {
    "table-metrics": metrics_part,
    "curves": curves_part,
    "noise": noise_part,
}
_ALONE: dict[str, Make] = {
    "table-alpha": lambda _: alpha_part(),
    "cold-start": cold_start_part,
    "thresholds": thresholds_part,
    "blocks": blocks_part,
    "convergence": convergence_part,
    "drift": drift_part,
    "claims": claims_part,
    "desiderata": desiderata_part,
}


def parts_of(experiment: str, condition: str | None) -> list[tuple[str, Make]]:
    """What to run, in the order of the report."""
    if experiment in _BY_CONDITION:
        chosen = condition or "paper"
        return [(f"{experiment}, {chosen}", partial(_BY_CONDITION[experiment], chosen))]
    if experiment == "all":
        conditions = [condition] if condition else ["paper", "honest"]
        both = [(f"{name}, {each}", partial(make, each)) for each in conditions for name, make in _BY_CONDITION.items()]
        first, *others = _ALONE.items()
        return [first, *both, *others]
    if condition is not None:
        raise InvalidInput("condition", f"{experiment!r} has its own; leave --condition out")
    return [(name, make) for name, make in _ALONE.items() if name == experiment or (experiment, name) == ("claims", "desiderata")]


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
        if as_json and experiment == "all":
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
