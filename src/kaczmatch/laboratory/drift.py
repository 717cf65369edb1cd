"""A taste that is replaced by another: who notices, how soon, and what looking for it costs where nothing changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kaczmatch.charts.lines import line_chart
from kaczmatch.core.vectors import Vector
from kaczmatch.laboratory.study import Laboratory
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.registry import learner
from kaczmatch.report.results import Figure, ReportPart, Table
from kaczmatch.simulation.trace import trace
from kaczmatch.simulation.world import HONEST, world

AFTER = (64, 100, 200, 400, 1_000)


def drift_learners() -> dict[str, Learner]:
    """Both belief learners with and without looking for change, and the best of the paper's six."""
    return {
        "probit": learner("probit"),
        "probit, not looking": learner("probit", false_alarms=0.0),
        "probit-diag": learner("probit-diag"),
        "probit-diag, not looking": learner("probit-diag", false_alarms=0.0),
        "block-nk": learner("block-nk"),
    }


def drift_part(laboratory: Laboratory) -> ReportPart:
    """Every taste replaced at half of the swipes, beside the same swipes with nothing replaced."""
    still = replace(laboratory.plan.sized(HONEST), users=min(laboratory.plan.users, 50))
    moving = replace(still, drift_at=still.swipes // 2)
    curves: dict[str, list[Vector]] = {}
    finals: dict[str, list[float]] = {}
    for seed in range(laboratory.plan.seeds):
        changed, unchanged = world(moving, seed), world(still, seed)
        for name, one in drift_learners().items():
            laboratory.tick(f"{name}, seed {seed}")
            curves.setdefault(name, []).append(trace(one, changed).alignment.mean(axis=0))
            finals.setdefault(name, []).append(float(trace(one, unchanged, followed=False).alignment[:, -1].mean()))
    means = {name: np.mean(each, axis=0) for name, each in curves.items()}
    at = moving.drift_at
    rows: list[dict[str, Any]] = []
    for name, mean in means.items():
        row: dict[str, Any] = {"learner": name, "before": float(mean[at - 1])}
        row |= {f"after_{t}": float(mean[at + t - 1]) for t in AFTER if at + t <= len(mean)}
        rows.append(row | {"end": float(mean[-1]), "end_where_nothing_changed": float(np.mean(finals[name]))})
    times = np.unique(np.r_[np.linspace(1, len(mean), 120), at + np.arange(0, min(400, at), 20)].astype(int))
    points = [
        {"learner": name, "swipe": int(t), "alignment": float(mean[t - 1])}
        for name, mean in means.items()
        for t in times[times <= len(mean)]
    ]
    chart = line_chart(
        points, x="swipe", y="alignment", title=f"Every taste replaced at swipe {at:,}", names=list(means),
        x_title="swipes", y_title="cosine to the taste of the moment",
    )  # fmt: skip
    return ReportPart(
        "drift",
        "A changed taste",
        _words(rows, still.users),
        [
            Table("drift", f"Alignment around a change at swipe {at:,}, honest labels", rows),
            Table("drift-curves", "Over all swipes", points, in_report=False),
        ],
        [Figure("drift", chart, "means over users and seeds")],
    )


def _words(rows: list[dict[str, Any]], users: int) -> list[str]:
    by_name = {row["learner"]: row for row in rows}
    looking, blind = by_name["probit"], by_name["probit, not looking"]
    last = [key for key in looking if key.startswith("after_")][-1]
    soon = "after_400" if "after_400" in looking else last
    rate = drift_learners()["probit"].parameters[1]
    return [
        f"Honest labels, all-ones prior, {users} users per seed. A belief that has seen thousands of swipes hardly moves: {soon[6:]} swipes after the change a probit that "
        f"does not look for change is at {blind[soon]:.3f}. The learner's own surprise shows it: a CUSUM of how much better the user's like rate alone foresees "
        f"the answers reaches {rate:.1f} at most once in e^{rate:.1f} = {np.exp(rate):,.0f} swipes where the belief is right, and then the belief starts anew from the prior: "
        f"{looking[soon]:.3f} after as many swipes.",
        f"Where nothing changes, looking for it costs {blind['end_where_nothing_changed'] - looking['end_where_nothing_changed']:+.3f} of final alignment "
        f"({looking['end_where_nothing_changed']:.3f} against {blind['end_where_nothing_changed']:.3f}).",
    ]
