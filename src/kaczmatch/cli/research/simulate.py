"""`kaczmatch simulate`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from kaczmatch.cli.research.run_parts import run_parts
from kaczmatch.cli.terminal.errors import plain_errors
from kaczmatch.cli.terminal.tables import show_parts
from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.rows import check_ending
from kaczmatch.formats.swipe_writer import write_candidates, write_swipes
from kaczmatch.learners.registry import learner as make_learner
from kaczmatch.reproduce.study import Plan
from kaczmatch.reproduce.tables import simulated_part
from kaczmatch.simulation.trace import trace
from kaczmatch.simulation.world import Condition, world


def run(
    slugs: Sequence[str], settings: Mapping[str, Any], seeds: int, *, out: Path | None, log: Path | None, as_json: bool
) -> None:
    with plain_errors():
        condition = Condition(**settings)
        named = {slug: make_learner(slug) for slug in slugs}
        if condition.drift_at >= condition.swipes > 0 and condition.drift_at:
            raise InvalidInput("drift_at", f"there are only {condition.swipes} swipes, got {condition.drift_at}")
        if log is not None:
            check_ending(log, "log")
            first = trace(next(iter(named.values())), world(condition, 0))
            write_swipes(log, first.shown, first.labels, condition.cards)
            candidates = log.with_name(f"{log.stem}-candidates{log.suffix}")
            write_candidates(candidates, world(condition, 0).tags)
            print(f"swipes: {log}, candidates: {candidates}", file=sys.stderr)
        plan = Plan(seeds, condition.users)
        done = run_parts([("simulation", partial(simulated_part, condition, named))], plan, out, "kaczmatch simulate")
        if as_json:
            sys.stdout.write(done[0].tables[0].json())
        else:
            show_parts(done)
