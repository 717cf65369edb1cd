"""Whether the probabilities that learners say come true, under a label noise that they are not told.

python research/calibration.py [--seeds 5] [--users 25] [--sessions 200] [--out FOLDER]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np

from _script import options, tell, tick
from kaczmatch import ProbabilisticLearner, learner
from kaczmatch.core.vectors import Matrix
from kaczmatch.report.results import Figure, Table
from kaczmatch.simulation.trace import priors_of, trace
from kaczmatch.simulation.world import HONEST, World, with_label_noise, world

LABEL_NOISE = (0.05, 0.2, 0.35)
TIMES = (20, 200, 1_000, 6_400)
BINS = 10


def probability_learners() -> dict[str, ProbabilisticLearner]:
    """Those that say a probability, and both belief learners with ε as it was set."""
    return {
        "probit": learner("probit"),
        "probit, fixed ε": learner("probit", label_noise_swipes=float("inf")),
        "probit-diag": learner("probit-diag"),
        "probit-diag, fixed ε": learner("probit-diag", label_noise_swipes=float("inf")),
        "logistic": learner("logistic"),
    }


def measured(seeds: int, users: int, sessions: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Expected calibration error on unseen candidates, ten equal bins, pooled over users and seeds; and the bins."""
    sized = replace(HONEST, users=users, sessions=sessions)
    times = [t for t in TIMES if t <= sized.swipes]
    pooled: dict[tuple[str, float, int], list[Matrix]] = {}
    for seed in range(seeds):
        plain = world(sized, seed)
        for noise in LABEL_NOISE:
            here = with_label_noise(plain, noise)
            for name, one in probability_learners().items():
                tick(f"{name}, p = {noise:.2f}, seed {seed}")
                for t, pairs in forecasts(one, here, times).items():
                    pooled.setdefault((name, noise, t), []).append(pairs)
    rows: list[dict[str, Any]] = []
    reliability: list[dict[str, Any]] = []
    for (name, noise, t), each in pooled.items():
        pairs = np.concatenate(each)
        rows.append({"learner": name, "label_noise": noise, "swipe": t, "calibration_error": expected_error(pairs)})
        reliability += [{"learner": name, "label_noise": noise, "swipe": t} | row for row in _bins(pairs)]
    return rows, reliability


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


def main(words: Sequence[str] | None = None) -> None:
    parser = options(__doc__, users=25)
    parser.add_argument("--sessions", type=int, default=HONEST.sessions)
    asked = parser.parse_args(words)
    rows, reliability = measured(asked.seeds, asked.users, asked.sessions)
    last = max(row["swipe"] for row in rows)
    chart = (
        alt.Chart(
            {"values": [row for row in reliability if row["swipe"] == last and not row["learner"].endswith("ε")]},
            width=170,
            height=170,
        )
        .mark_line(point=True)
        .encode(
            x=alt.X("said:Q", title="said"), y=alt.Y("happened:Q", title="happened"), color=alt.Color("learner:N", title=None)
        )
        .facet(column=alt.Column("label_noise:Q", title="label noise"))
        .properties(title=f"Reliability after {last:,} swipes")
    )
    tables = [
        Table("calibration", "Expected calibration error on unseen candidates", rows),
        Table("reliability", "Said and happened, by bin", reliability),
    ]
    tell(asked.out, tables, [Figure("calibration", chart, "the diagonal would be perfect")])


if __name__ == "__main__":
    main()
