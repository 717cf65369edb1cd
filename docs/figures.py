"""Draws figures of the documentation into docs/images; `make docs` runs it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import altair as alt
import numpy as np

import kaczmatch
from kaczmatch import Hinge
from kaczmatch.charts.influence import influence_chart
from kaczmatch.charts.market import market_chart
from kaczmatch.reproduce.figures import curves_part
from kaczmatch.reproduce.study import Plan, Reproduction

sys.path.append(str(Path(__file__).parents[1] / "research"))
from lineage import converged, figures  # a script

IMAGES, RESULTS = (Path(__file__).parent / name for name in ("images", "results"))


def forgetting() -> alt.Chart:
    """The prior's weight in NK as the paper bounds it, and as it is where the proof calls the case the worst."""
    swipes, eta = 20, 0.5
    nk = kaczmatch.learner("nk", eta=eta, direction="unit", hinge=Hinge(theta=0.95, delta=0.05))
    rows = []
    for n in range(1, swipes + 1):
        log = {"user": [0] * n, "features": np.eye(swipes + 1)[1 : n + 1], "label": [1] * n}
        measured = kaczmatch.influence(nk, log, prior=np.eye(swipes + 1)[0]).prior_cosine
        rows.append({"swipes": n, "weight": measured, "line": "measured: orthogonal candidates, |r| = 1"})
        rows.append({"swipes": n, "weight": eta**n, "line": "the paper's bound, ηⁿ"})
    measured, bound = rows[-2]["weight"], rows[-1]["weight"]
    print(f"prior's weight after {swipes} swipes at η = {eta}: measured {measured:.3f}, the paper's bound {bound:.1e}")
    chart: alt.Chart = (
        alt.Chart({"values": rows}, title="What 20 swipes leave of the prior (normalised Kaczmarz, η = 0.5)")
        .mark_line(point=True)
        .encode(
            x=alt.X("swipes:Q", title="swipes"),
            y=alt.Y("weight:Q", scale=alt.Scale(type="log"), axis=alt.Axis(format="~e"), title="weight of the prior"),
            color=alt.Color("line:N", title=None, legend=alt.Legend(orient="top", labelLimit=400)),
        )
        .properties(width=560, height=300)
    )
    return chart


def influence() -> alt.FacetChart:
    """Influence of each of 64 swipes on one simulated person's direction."""
    rng = np.random.default_rng(7)
    d, n = 60, 64
    taste = (rng.random(d) < 0.5).astype(float)
    candidates = (rng.random((n, d)) < 0.5).astype(float)
    cosines = candidates @ taste / np.linalg.norm(candidates, axis=1) / np.linalg.norm(taste)
    likes = (cosines >= 0.52) ^ (rng.random(n) < 0.2)
    log = {"user": [0] * n, "features": candidates, "label": np.where(likes, 1, -1), "session": np.arange(n) // 16}
    learners = {
        "nk (η = 0.5, raw)": kaczmatch.learner("nk"),
        "nk (η = 0.5, unit)": kaczmatch.learner("nk", direction="unit"),
        "tk": kaczmatch.learner("tk"),
        "block-nk": kaczmatch.learner("block-nk"),
        "probit": kaczmatch.learner("probit"),
    }
    prior = np.ones(d)
    unit_prior = prior / np.sqrt(d)
    found = {
        name: kaczmatch.influence(learner, log, prior=prior if name == "probit" else unit_prior)
        for name, learner in learners.items()
    }
    for name, each in found.items():
        early, late = each.angles[:16].mean(), each.angles[-16:].mean()
        print(f"{name:>20}: mean turn without a swipe of the first session {early:.2f}°, of the last {late:.2f}°; ", end="")
        print(f"without the prior {each.prior_angle:.1f}°")
    return influence_chart(found)


def curves() -> alt.TopLevelMixin:
    """The paper's figure 1, of one seed."""
    (figure,) = curves_part("paper", Reproduction(Plan(seeds=1), lambda _: None)).figures
    return figure.chart


def market() -> alt.TopLevelMixin:
    """Every policy, from the rows of the table that it stands under."""
    table = json.loads((RESULTS / "market-every-policy.json").read_text(encoding="utf-8"))["tables"]["market-archetypes"]
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    return market_chart(rows, title="Matches and fairness: archetypes, 150 people on each side")


def block_nk_noise() -> alt.TopLevelMixin:
    """The bound on the mean cosine, and the learner, from the rows of the table that stands under it."""
    table = json.loads((RESULTS / "block-nk-noise.json").read_text(encoding="utf-8"))["tables"]["noise"]
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    lines = {"cosine": "the learner", "cosine_at_least": "proved: at least"}
    points = [{**row, "value": row[name], "line": line} for row in rows for name, line in lines.items()]
    chart: alt.TopLevelMixin = (
        alt.Chart({"values": points})
        .mark_line(point=True)
        .encode(
            x=alt.X("label_noise:Q", title="share of flipped labels", scale=alt.Scale(domain=[0, 0.4])),
            y=alt.Y("value:Q", title="mean cosine with the taste", scale=alt.Scale(domain=[0.5, 1.0])),
            color=alt.Color(
                "line:N",
                title=None,
                scale=alt.Scale(domain=list(lines.values()), range=["#009E73", "#999999"]),
                legend=alt.Legend(orient="top"),
            ),
            strokeDash=alt.StrokeDash(
                "line:N", legend=None, scale=alt.Scale(domain=list(lines.values()), range=[[1, 0], [5, 4]])
            ),
        )
        .properties(width=180, height=220)
        .facet(column=alt.Column("k:N", title="swipes a block", sort=[1, 8, 32]))
        .properties(title="Block-NK without a dead zone, 60 tags, α = 30")
    )
    return chart


def lineage() -> None:
    """The Kaczmarz family on three systems, over passes and over time."""
    points, _, _ = converged(seeds=1, m=600, n=60)
    for figure in figures(points, 600, 60):
        (IMAGES / f"{figure.name}.svg").write_text(figure.svg, encoding="utf-8")


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    lineage()
    for name, figure in (
        ("forgetting", forgetting),
        ("influence", influence),
        ("curves-paper", curves),
        ("market", market),
        ("block-nk-noise", block_nk_noise),
    ):
        chart = figure()
        for suffix in ("svg", "png"):
            chart.save(IMAGES / f"{name}.{suffix}", ppi=110)


if __name__ == "__main__":
    main()
