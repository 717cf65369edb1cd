"""Blocks whose damping and size follow the session (the paper's future work), beside TK and Block-NK on the same swipes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kaczmatch.laboratory.study import Laboratory
from kaczmatch.learners.registry import learner
from kaczmatch.report.results import ReportPart, Table
from kaczmatch.simulation.trace import trace
from kaczmatch.simulation.world import HONEST, world

SIZES = (2, 5, 32)
TIMES = (20, 200, 1_000, 3_200)
_NAMED = ("tk", "block-nk", "block-adaptive")


def blocks_part(laboratory: Laboratory) -> ReportPart:
    base = replace(laboratory.plan.sized(HONEST), users=min(laboratory.plan.users, 40))
    swipes = min(TIMES[-1], base.swipes)
    rows: list[dict[str, Any]] = []
    for size in SIZES:
        sized = replace(base, deck=size, sessions=max(1, swipes // size))
        means: dict[str, list[Any]] = {}
        for seed in range(laboratory.plan.seeds):
            here = world(sized, seed)
            for name in _NAMED:
                laboratory.tick(f"{name}, sessions of {size}, seed {seed}")
                means.setdefault(name, []).append(trace(learner(name), here).alignment.mean(axis=0))
        for name, curves in means.items():
            mean = np.mean(curves, axis=0)
            rows.append(
                {"swipes_a_session": size, "learner": name}
                | {f"align_at_{t}": float(mean[t - 1]) for t in TIMES if t <= len(mean)}
                | {"end": float(mean[-1])}
            )
    ends = {(row["swipes_a_session"], row["learner"]): row["end"] for row in rows}
    words = [
        f"Honest labels, {base.users} users per seed, sessions of 2, 5 and 32. Block-Adaptive solves short sessions at α₀ = 1 (their Gram matrices are well conditioned) and "
        f"damps long ones until κ ≤ {learner('block-adaptive').parameters[5]:.0f}. At the end of sessions of 5 it is at {ends[5, 'block-adaptive']:.3f} beside TK's "
        f"{ends[5, 'tk']:.3f}, in sessions of 32 at {ends[32, 'block-adaptive']:.3f} beside Block-NK's {ends[32, 'block-nk']:.3f}.",
    ]
    return ReportPart("blocks", "Adaptive blocks", words, [Table("blocks", "Alignment by size of session", rows)])
