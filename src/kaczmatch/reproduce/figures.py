"""The paper's figures: alignment over swipes under either sampling, and final alignment over label noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np

from kaczmatch.charts.lines import line_chart
from kaczmatch.core.vectors import Vector
from kaczmatch.report.results import Figure, ReportPart, Table
from kaczmatch.reproduce import published
from kaczmatch.reproduce.published import NEAR, NOT_REPRODUCED, Beside
from kaczmatch.reproduce.study import RULES, LearningCurve, Reproduction, comparable, curve, final_alignment, learners_by_name
from kaczmatch.simulation.world import HONEST, HONEST_ADAPTIVE, PAPER, PAPER_ADAPTIVE, Condition

BEYOND = ("probit", "probit-diag", "all-ones")  # beside the six where labels carry a preference
BANDED = ("block-nk", "tk", "nk")  # a band for each would hide the others; TK's is nearly K-NoNorm's and OGD's

Curves = Mapping[str, Sequence[LearningCurve]]


def curves_part(condition: str, run: Reproduction) -> ReportPart:
    """Figure 1: row-norm sampling in the left panel, two-stage cosine subsampling in the right."""
    names = RULES if condition == "paper" else (*RULES, *BEYOND)
    study = run.metrics(PAPER if condition == "paper" else HONEST)
    sized = run.plan.sized(PAPER_ADAPTIVE if condition == "paper" else HONEST_ADAPTIVE)
    panels: dict[str, tuple[str, Curves, Condition]] = {
        f"curves-{condition}": ("Row-norm sampling", study.curves(names), study.condition),
        f"adaptive-{condition}": ("Cosine subsampling", run.study(sized, learners_by_name(names), curve), sized),
    }
    tables, charts = [], []
    for name, (title, curves, of) in panels.items():
        rows = curve_rows(curves, of)
        tables.append(Table(name, f"{title}, {condition} condition", rows, in_report=False))
        charts.append(
            line_chart(
                rows, x="swipe", y="alignment", title=title, names=names, x_title="swipes", y_title="cosine to the hidden taste",
                banded=BANDED, width=380, height=300,
            )
        )  # fmt: skip
    (left, right) = (curves["block-nk"] for _, curves, _ in panels.values())
    if condition == "paper":
        printed = [
            ("block-nk, row norms, alignment at 3,000", published.ROW_NORM_BLOCK_NK_AT_3000, _late(left), study.condition),
            ("block-nk, cosine, alignment at 3,000", published.ADAPTIVE_BLOCK_NK_AT_3000, _late(right), sized),
            ("cosine, like rate", published.ADAPTIVE_LIKE_RATE, _rates(right), sized),
        ]
        compared = [Beside({"number": what}, value, seeds, NEAR, comparable(of)).row() for what, value, seeds, of in printed]
        tables.insert(0, Table("curves-against-paper", "Beside the paper", compared, f"Reproduced: within {NEAR}."))
    words = [
        f"The paper's figure 1, {condition} condition. Left: row-norm sampling. Right: 32 candidates drawn, 16 shown in proportion to max(0, cos(v, a)), sessions "
        f"doubled. After {min(3_000, sized.swipes):,} swipes Block-NK is at {_late(left).mean():.3f} and {_late(right).mean():.3f}.",
        f"The right panel needs labels by the cosine (like rate {_rates(right).mean():.2f}, the paper's {published.ADAPTIVE_LIKE_RATE:.2f}), so the paper's two "
        "panels compare two labelling rules as much as two samplings.",
    ]
    whole = alt.hconcat(*charts).resolve_scale(y="shared").properties(title=f"Alignment over swipes, {condition} condition")
    caption = f"mean over users and seeds; bands: ± one standard deviation over users, for {', '.join(BANDED)}"
    figure = Figure(f"curves-{condition}", whole, caption)
    return ReportPart(f"curves-{condition}", f"Alignment over swipes, {condition} condition", words, tables, [figure])


def noise_part(condition: str, run: Reproduction) -> ReportPart:
    """Figure 2: final alignment over label noise."""
    named = learners_by_name(RULES) | ({} if condition == "paper" else learners_by_name(("probit-diag",)))
    sized = run.plan.sized(PAPER) if condition == "paper" else run.plan.sized(HONEST, most_users=50)
    finals = noise_finals(run, sized, named, published.LABEL_NOISE)
    rows: list[dict[str, Any]] = []
    for noise in published.LABEL_NOISE:
        for name in named:
            values = finals[name, noise]
            mean, spread = float(np.mean(values)), float(np.mean(np.std(values, axis=1)))
            ends = {"low": mean - spread, "high": mean + spread}
            rows.append({"learner": name, "label_noise": noise, "final_alignment": mean, "sd_users": spread} | ends)
    tables = [Table(f"noise-{condition}", "Final alignment over label noise", rows, in_report=False)]
    words = [f"Final alignment as labels get noisier, {condition} condition, {sized.users} users per seed."]
    if condition == "paper":
        compared = _noise_against_paper(finals, sized)
        tables.insert(0, compared)
        if any(row["learner"] == "nk" and row["verdict"] == NOT_REPRODUCED for row in compared.rows):
            words.append(
                f"One cell stays out of reach: the paper's figure starts NK at {published.NOISE['nk'][0]}. research/nk_at_low_noise.py has what was tried."
            )
    chart = line_chart(
        rows, x="label_noise", y="final_alignment", title=f"Final alignment over label noise, {condition} condition", names=list(named),
        x_title="label noise", y_title="alignment after the last swipe", banded=BANDED,
    )  # fmt: skip
    figure = Figure(f"noise-{condition}", chart, f"bands: ± one standard deviation over users, for {', '.join(BANDED)}")
    return ReportPart(f"noise-{condition}", f"Label noise, {condition} condition", words, tables, [figure])


def noise_finals(
    run: Reproduction, sized: Condition, named: Mapping[str, Any], levels: Sequence[float]
) -> dict[tuple[str, float], list[Vector]]:
    """Every user's alignment after the last swipe, by learner and label noise, one vector per seed."""
    found = {noise: run.study(replace(sized, label_noise=noise), named, final_alignment) for noise in levels}
    return {(name, noise): finals[name] for noise, finals in found.items() for name in named}


def _noise_against_paper(finals: Mapping[tuple[str, float], Sequence[Vector]], sized: Condition) -> Table:
    rows = []
    for name, ends in published.NOISE.items():
        for noise, printed in zip((published.LABEL_NOISE[0], published.LABEL_NOISE[-1]), ends, strict=True):
            if printed is not None:
                means = np.array([values.mean() for values in finals[name, noise]])
                what = {"learner": name, "label_noise": noise}
                rows.append(Beside(what, printed, means, NEAR, comparable(sized)).row())
    return Table("noise-against-paper", "Both ends of the paper's noise figure", rows, f"Reproduced: within {NEAR}.")


def curve_rows(curves: Curves, sized: Condition) -> list[dict[str, Any]]:
    """Mean over seeds at about a hundred swipes."""
    times = np.unique(np.r_[1, 20, np.linspace(sized.cards, sized.swipes, 100).astype(int)])
    rows = []
    for name, seeds in curves.items():
        mean, spread = (np.mean([getattr(one, part) for one in seeds], axis=0) for part in ("mean", "spread"))
        rate = float(_rates(seeds).mean())
        for t in times[times <= sized.swipes]:
            m, s = float(mean[t - 1]), float(spread[t - 1])
            rows.append(
                {"learner": name, "swipe": int(t), "alignment": m, "sd_users": s, "low": m - s, "high": m + s, "like_rate": rate}
            )
    return rows


def _late(curves: Sequence[LearningCurve]) -> Vector:
    """Each seed's mean after 3,000 swipes, or the last before."""
    return np.array([one.mean[min(3_000, len(one.mean)) - 1] for one in curves])


def _rates(curves: Sequence[LearningCurve]) -> Vector:
    return np.array([one.like_rate for one in curves])
