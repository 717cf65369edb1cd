"""Whether said probabilities come true, under label noise that nobody is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np

from kaczmatch.core.vectors import Matrix
from kaczmatch.laboratory.study import Laboratory
from kaczmatch.learners.contract import ProbabilisticLearner
from kaczmatch.learners.registry import learner
from kaczmatch.report.results import Figure, ReportPart, Table
from kaczmatch.simulation.trace import priors_of, trace
from kaczmatch.simulation.world import HONEST, World, with_label_noise, world

LABEL_NOISE = (0.05, 0.2, 0.35)
TIMES = (20, 200, 1_000, 6_400)
BINS = 10


def probability_learners() -> dict[str, ProbabilisticLearner]:
    """Everybody who says a probability, and both belief learners with ε as it was set."""
    return {
        "probit": learner("probit"),
        "probit, fixed ε": learner("probit", label_noise_swipes=float("inf")),
        "probit-diag": learner("probit-diag"),
        "probit-diag, fixed ε": learner("probit-diag", label_noise_swipes=float("inf")),
        "logistic": learner("logistic"),
    }


def calibration_part(laboratory: Laboratory) -> ReportPart:
    """Expected calibration error on unseen candidates, ten equal bins, pooled over users and seeds."""
    sized = replace(laboratory.plan.sized(HONEST), users=min(laboratory.plan.users, 25))
    times = [t for t in TIMES if t <= sized.swipes]
    pooled: dict[tuple[str, float, int], list[Matrix]] = {}
    for seed in range(laboratory.plan.seeds):
        plain = world(sized, seed)
        for noise in LABEL_NOISE:
            here = with_label_noise(plain, noise, seed)
            for name, one in probability_learners().items():
                laboratory.tick(f"{name}, p = {noise:.2f}, seed {seed}")
                for t, pairs in forecasts(one, here, times).items():
                    pooled.setdefault((name, noise, t), []).append(pairs)
    rows: list[dict[str, Any]] = []
    reliability: list[dict[str, Any]] = []
    for (name, noise, t), each in pooled.items():
        pairs = np.concatenate(each)
        rows.append({"learner": name, "label_noise": noise, "swipe": t, "calibration_error": expected_error(pairs)})
        reliability += [{"learner": name, "label_noise": noise, "swipe": t} | row for row in _bins(pairs)]
    last = [row for row in reliability if row["swipe"] == times[-1] and not row["learner"].endswith("ε")]
    chart = (
        alt.Chart({"values": last}, width=170, height=170)
        .mark_line(point=True)
        .encode(
            x=alt.X("said:Q", title="said"), y=alt.Y("happened:Q", title="happened"), color=alt.Color("learner:N", title=None)
        )
        .facet(column=alt.Column("label_noise:Q", title="label noise"))
        .properties(title=f"Reliability after {times[-1]:,} swipes")
    )
    return ReportPart(
        "calibration",
        "Do probabilities come true?",
        _words(rows, times),
        [
            Table("calibration", "Expected calibration error on unseen candidates", rows),
            Table("reliability", "Said and happened, by bin", reliability, in_report=False),
        ],
        [Figure("calibration", chart, "the diagonal would be perfect")],
    )


def forecasts(one: ProbabilisticLearner, here: World, times: list[int]) -> Mapping[int, Matrix]:
    """What was said of every unseen candidate beside how often it would be answered with a like, one row per candidate."""
    found = trace(one, here, times, followed=False)
    likely = np.where(here.unseen_likes[0], 1.0 - here.condition.label_noise, here.condition.label_noise)
    return {
        t: np.stack(
            [np.ravel([one.probability(state, here.unseen) for state in found.states(t, priors_of(one, here))]), likely.ravel()],
            axis=1,
        )
        for t in times
    }


def expected_error(pairs: Matrix) -> float:
    """Mean distance of what was said and what happened over ten bins of equal width, weighted by their size."""
    return sum(row["share"] * abs(row["said"] - row["happened"]) for row in _bins(pairs))


def _bins(pairs: Matrix) -> list[dict[str, float]]:
    place = np.minimum((pairs[:, 0] * BINS).astype(int), BINS - 1)
    return [
        {
            "share": float(np.mean(place == b)),
            "said": float(pairs[place == b, 0].mean()),
            "happened": float(pairs[place == b, 1].mean()),
        }
        for b in np.unique(place)
    ]


def _words(rows: list[dict[str, Any]], times: list[int]) -> list[str]:
    def worst(name: str) -> dict[str, Any]:
        return max((row for row in rows if row["learner"] == name and row["swipe"] >= TIMES[0]), key=_error)

    learned, fixed = worst("probit"), worst("probit, fixed ε")
    return [
        f"Honest labels with 5, 20 and 35 % of the swipes flipped; the learners are told 20 %. With ε learned per user the worst calibration error of probit after "
        f"{times[0]} or more swipes is {_error(learned):.3f} (p = {learned['label_noise']:.2f}, {learned['swipe']:,} swipes), with ε as set {_error(fixed):.3f} "
        f"(p = {fixed['label_noise']:.2f}, {fixed['swipe']:,} swipes)."
    ]


def _error(row: dict[str, Any]) -> float:
    return float(row["calibration_error"])
