"""How far each learner stays behind the exact posterior, which is known at 14 tags: every taste can be enumerated.

    python research/ceiling.py [--seeds 5] [--users 50] [--out FOLDER]

Bayes' rule over all 16,383 tastes, with the true label noise, gives the best direction and the best ranking that swipes allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import kaczmatch
from _script import options, tell, tick
from kaczmatch.charts.lines import line_chart
from kaczmatch.core.vectors import Matrix, unit_rows
from kaczmatch.report.results import Figure, Table
from kaczmatch.simulation import metrics
from kaczmatch.simulation.trace import Trace, trace
from kaczmatch.simulation.world import HONEST, World, world

TAGS = 14
LABEL_NOISE = (0.1, 0.2, 0.35)
TIMES = (5, 10, 20, 50, 100, 200, 400)
EXACT = "exact posterior"


def measured(seeds: int, users: int) -> list[dict[str, Any]]:
    """Alignment and AUC at every checkpoint, by learner and label noise."""
    named = {slug: kaczmatch.learner(slug) for slug in kaczmatch.LEARNERS}
    rows: list[dict[str, Any]] = []
    for noise in LABEL_NOISE:
        condition = replace(HONEST, tags=TAGS, label_noise=noise, deck=10, sessions=TIMES[-1] // 10, people=400, users=users)
        found: dict[tuple[str, int], list[Matrix]] = {}
        for seed in range(seeds):
            here = world(condition, seed)
            for name, one in named.items():
                tick(f"{name}, p = {noise}, seed {seed}")
                followed = trace(one, here, TIMES)
                for t in TIMES:
                    area = metrics.unseen_auc(followed.weights(t), here, t)
                    found.setdefault((name, t), []).append(np.stack([followed.alignment[:, t - 1], area]))
            tick(f"{EXACT}, p = {noise}, seed {seed}")
            for t, both in exact(followed, here, noise).items():
                found.setdefault((EXACT, t), []).append(both)
        for (name, t), each in found.items():
            aligned, area = np.concatenate(each, axis=1).mean(axis=1)
            rows.append({"learner": name, "label_noise": noise, "swipe": t, "alignment": float(aligned), "auc": float(area)})
    return rows


def _soulmates() -> Matrix:
    """All 2¹⁴ of them, without the one that wants nothing."""
    return ((np.arange(1, 2**TAGS)[:, None] >> np.arange(TAGS)) & 1).astype(float)


def exact(followed: Trace, here: World, noise: float) -> dict[int, Matrix]:
    """Alignment of the posterior's mean direction and AUC of its probabilities: the best any learner can expect, over time."""
    every = unit_rows(_soulmates())
    answers = np.where(every @ unit_rows(here.tags).T >= here.condition.theta, 1.0, -1.0).T
    unseen_likes = (every @ unit_rows(here.unseen).T >= here.condition.theta).astype(float)
    found = {}
    for t in TIMES:
        votes = np.zeros((len(followed.labels), len(here.tags)))
        for user, row in enumerate(votes):
            np.add.at(row, followed.shown[user, :t], followed.labels[user, :t])
        evidence = votes @ answers * (0.5 * np.log((1.0 - noise) / noise))
        posterior = np.exp(evidence - evidence.max(axis=1, keepdims=True))
        posterior /= posterior.sum(axis=1, keepdims=True)
        aligned = metrics.alignment(posterior @ every, here.tastes[0])
        found[t] = np.stack([aligned, metrics.auc(np.round(posterior @ unseen_likes, 12), here.unseen_likes[0])])
    return found


def main(words: Sequence[str] | None = None) -> None:
    asked = options(__doc__, users=50).parse_args(words)
    rows, last = measured(asked.seeds, asked.users), TIMES[-1]
    summary: dict[str, dict[str, Any]] = {EXACT: {"learner": EXACT}}
    for row in rows:
        if row["swipe"] == last:
            noise = row["label_noise"]
            short = {f"alignment_p_{noise}": row["alignment"], f"auc_p_{noise}": row["auc"]}
            summary.setdefault(row["learner"], {"learner": row["learner"]}).update(short)
    shown = [EXACT, "probit", "probit-diag", "block-nk", "tk", "logistic", "all-ones"]
    chart = line_chart(
        [row for row in rows if row["label_noise"] == 0.2 and row["learner"] in shown], x="swipe", y="alignment",
        title="How good can it get? 14 tags, 20 % flipped", names=shown, x_title="swipes", y_title="cosine to the hidden taste",
        x_log=True,
    )  # fmt: skip
    tables = [
        Table("ceiling", f"After {last} swipes", list(summary.values())),
        Table("ceiling-curves", "Every checkpoint", rows),
    ]
    tell(asked.out, tables, [Figure("ceiling", chart, "sessions of ten; mean over users and seeds")])


if __name__ == "__main__":
    main()
