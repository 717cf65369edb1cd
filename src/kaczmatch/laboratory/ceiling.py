"""How good can it get? With 14 tags every soulmate can be enumerated, so the exact posterior is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kaczmatch.charts.lines import line_chart
from kaczmatch.core.vectors import Matrix, unit_rows
from kaczmatch.laboratory.study import Laboratory, learners_by_name
from kaczmatch.report.results import Figure, ReportPart, Table
from kaczmatch.simulation import metrics
from kaczmatch.simulation.trace import Trace, trace
from kaczmatch.simulation.world import HONEST, World, world

TAGS = 14
LABEL_NOISE = (0.1, 0.2, 0.35)
TIMES = (5, 10, 20, 50, 100, 200, 400)


def ceiling_part(laboratory: Laboratory) -> ReportPart:
    named = learners_by_name()
    rows: list[dict[str, Any]] = []
    for noise in LABEL_NOISE:
        sized = replace(
            laboratory.plan.sized(HONEST), tags=TAGS, label_noise=noise, deck=10, sessions=TIMES[-1] // 10, people=400
        )
        sized = replace(sized, users=min(sized.users, 50))
        found: dict[str, list[Matrix]] = {}
        for seed in range(laboratory.plan.seeds):
            here = world(sized, seed)
            followed: Trace | None = None
            for name, one in named.items():
                laboratory.tick(f"{name}, p = {noise}, seed {seed}")
                followed = trace(one, here, TIMES)
                for t in TIMES:
                    weights = followed.weights(t)
                    found.setdefault(f"{name}@{t}", []).append(
                        np.stack([followed.alignment[:, t - 1], metrics.unseen_auc(weights, here, t)])
                    )
            assert followed is not None  # noqa: S101  # there is at least one learner
            laboratory.tick(f"exact posterior, p = {noise}, seed {seed}")
            for t, both in _exact(followed, here, noise).items():
                found.setdefault(f"exact posterior@{t}", []).append(both)
        for key, seeds in found.items():
            name, after = key.split("@")
            aligned, area = np.concatenate(seeds, axis=1).mean(axis=1)
            rows.append(
                {"learner": name, "label_noise": noise, "swipe": int(after), "alignment": float(aligned), "auc": float(area)}
            )
    return _part(rows, list(named))


def _soulmates() -> Matrix:
    """All 2¹⁴ of them, without the one that wants nothing."""
    return ((np.arange(1, 2**TAGS)[:, None] >> np.arange(TAGS)) & 1).astype(float)


def _exact(followed: Trace, here: World, noise: float) -> dict[int, Matrix]:
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


def _part(rows: list[dict[str, Any]], names: list[str]) -> ReportPart:
    def at(name: str, noise: float, t: int, key: str) -> float:
        return next(float(r[key]) for r in rows if r["learner"] == name and r["label_noise"] == noise and r["swipe"] == t)

    everybody = ["exact posterior", *names]
    last = TIMES[-1]
    summary = [
        {"learner": name}
        | {f"{key}_at_{last}_p_{noise}": at(name, noise, last, key) for noise in LABEL_NOISE for key in ("alignment", "auc")}
        for name in everybody
    ]
    shown = ["exact posterior", "probit", "probit-diag", "block-nk", "tk", "logistic", "all-ones"]
    middle = [row for row in rows if row["label_noise"] == 0.2 and row["learner"] in shown]
    chart = line_chart(
        middle, x="swipe", y="alignment", title="How good can it get? 14 tags, 20 % flipped", names=shown,
        x_title="swipes", y_title="cosine to the hidden taste", x_log=True,
    )  # fmt: skip
    gap = at("exact posterior", 0.2, last, "alignment") - at("probit", 0.2, last, "alignment")
    words = [
        "At d = 14 there are 16,383 possible soulmates (50 users per seed at most). Bayes' rule over all of them, with the true label noise, gives the best direction and the best "
        "ranking that the swipes allow. "
        f"After {last} swipes at p = 0.2 it reaches {at('exact posterior', 0.2, last, 'alignment'):.3f}; probit, which neither knows that tastes are 0/1 "
        f"nor the threshold, is {gap:.3f} behind, Block-NK {at('exact posterior', 0.2, last, 'alignment') - at('block-nk', 0.2, last, 'alignment'):.3f}."
    ]
    return ReportPart(
        "ceiling",
        "How good can it get?",
        words,
        [Table("ceiling", f"After {last} swipes", summary), Table("ceiling-curves", "Every checkpoint", rows, in_report=False)],
        [Figure("ceiling", chart, "sessions of ten; mean over users and seeds")],
    )
