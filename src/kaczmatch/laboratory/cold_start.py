"""The first fifty swipes, which the paper's averages hide (its limitation iii)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kaczmatch.charts.lines import line_chart
from kaczmatch.laboratory.study import RULES, Laboratory, learners_by_name
from kaczmatch.report.results import Figure, ReportPart, Table
from kaczmatch.simulation import metrics
from kaczmatch.simulation.trace import trace
from kaczmatch.simulation.world import HONEST, world

SWIPES = 50
_NAMED = (*RULES, "probit", "probit-diag", "all-ones", "logistic", "rocchio")


def cold_start_part(laboratory: Laboratory) -> ReportPart:
    """AUC on unseen candidates and alignment after each of the first fifty swipes, with 95 % bands over users."""
    sized = replace(
        laboratory.plan.sized(HONEST), sessions=5, deck=10
    )  # short sessions: block rules get their turn within fifty swipes
    times = list(range(1, SWIPES + 1))
    named = learners_by_name(_NAMED)
    found: dict[str, list[Any]] = {name: [] for name in named}
    for seed in range(laboratory.plan.seeds):
        here = world(sized, seed)
        for name, one in named.items():
            laboratory.tick(f"{name}, seed {seed}")
            followed = trace(one, here, times)
            areas = np.stack([metrics.unseen_auc(followed.weights(t), here, t) for t in times], axis=1)
            found[name].append(np.stack([areas, followed.alignment]))
    rows = []
    for name, seeds in found.items():
        both = np.concatenate(seeds, axis=1)  # metric x users of all seeds x swipes
        half = 1.96 * both.std(axis=1, ddof=1) / np.sqrt(both.shape[1])
        for t in times:
            auc, aligned = both[:, :, t - 1].mean(axis=1)
            rows.append(
                {
                    "learner": name,
                    "swipe": t,
                    "auc": float(auc),
                    "low": float(auc - half[0, t - 1]),
                    "high": float(auc + half[0, t - 1]),
                    "alignment": float(aligned),
                    "alignment_half_width": float(half[1, t - 1]),
                }
            )
    short = [row for row in rows if row["swipe"] in (5, 10, 20, 50)]
    summary: list[dict[str, Any]] = [
        {"learner": name} | {f"auc_at_{row['swipe']}": row["auc"] for row in short if row["learner"] == name} for name in named
    ]
    chart = line_chart(
        rows, x="swipe", y="auc", title="The first fifty swipes, honest labels", names=list(named),
        x_title="swipes", y_title="AUC on unseen candidates",
    )  # fmt: skip
    best = max(summary, key=lambda row: row["auc_at_20"])
    flat = next(row for row in summary if row["learner"] == "all-ones")
    words = [
        "Honest labels, all-ones prior, sessions of ten so that the block rules update within reach. All-ones is what one gets without learning: "
        f"{flat['auc_at_20']:.3f}. After 20 swipes the best is {best['learner']} with {best['auc_at_20']:.3f}: from noisy swipes on random tags, "
        "twenty answers teach little about sixty unknowns, whatever the rule."
    ]
    return ReportPart(
        "cold-start",
        "Cold start",
        words,
        [
            Table("cold-start", "AUC after 5, 10, 20 and 50 swipes", summary),
            Table("cold-start-curves", "Every swipe", rows, in_report=False),
        ],
        [Figure("cold-start", chart, "bands: 95 % confidence over users")],
    )
