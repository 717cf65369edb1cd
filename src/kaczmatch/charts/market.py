"""Policies of a market: how many matches, how unequal the exposure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

# Told apart by people who cannot tell red from green.
_COLOURS = {
    "default": "#000000",
    "paper": "#D55E00",
    "popularity": "#8C564B",
    "uniform": "#B0B7C3",
    "row-norm": "#E69F00",
    "cosine": "#CC79A7",
    "greedy": "#0072B2",
    "thompson": "#56B4E9",
    "mutual": "#009E73",
    "information": "#9467BD",
}
_SAFEGUARDS = ["none", "quota", "cap", "quota + cap"]
_NAMED = (
    "default",
    "paper",
    "paper, greedy at once",
    "popularity",
    "greedy",
    "information",
    "thompson",
)  # the legend has the rest


def market_chart(rows: Sequence[Mapping[str, Any]], *, title: str) -> alt.LayerChart | alt.FacetChart:
    """A mark a policy: matches over Gini; colour says the sampler, shape its safeguards."""
    points = [
        {
            "policy": row["policy"],
            "gini": row["gini"],
            "matches": row["matches"],
            "sampler": _sampler(row["policy"]),
            "safeguards": _safeguards(row["policy"]),
        }
        for row in rows
    ]
    present = [name for name in _COLOURS if any(point["sampler"] == name for point in points)]
    base = alt.Chart({"values": points}).encode(
        x=alt.X("gini:Q", title="Gini of exposure", scale=alt.Scale(zero=True)),
        y=alt.Y("matches:Q", title="effective matches per 100 cards", scale=alt.Scale(zero=True)),
        color=alt.Color(
            "sampler:N", title=None, sort=present, scale=alt.Scale(domain=present, range=[_COLOURS[name] for name in present])
        ),
    )
    marks = base.mark_point(filled=True, size=90, opacity=0.85).encode(
        shape=alt.Shape(
            "safeguards:N",
            title=None,
            sort=_SAFEGUARDS,
            scale=alt.Scale(domain=_SAFEGUARDS, range=["circle", "triangle-up", "square", "diamond"]),
        )
    )
    named = [point for point in points if point["policy"] in _NAMED]
    labels = base.mark_text(align="left", dx=8, dy=-6, fontSize=11).encode(text="policy:N", shape=alt.Undefined)
    labels.data = {"values": named}
    return alt.layer(marks, labels).properties(title=title, width=560, height=380)


def _sampler(policy: str) -> str:
    name = policy.split(" + ")[0].split(",")[0]
    return name if name in _COLOURS else "paper"


def _safeguards(policy: str) -> str:
    if policy == "default":
        return "quota + cap"
    return policy.removesuffix(" + floor").partition(" + ")[2] or "none"
