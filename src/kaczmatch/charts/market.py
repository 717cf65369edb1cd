"""Policies of a market: how many matches, how unequal the exposure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
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
_WIDE, _HIGH, _LETTER, _MARK = 660, 420, 6.4, 5.0  # pixels; a letter is about so wide, and half a mark
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
    tops = [1.05 * max((float(point[name]) for point in points), default=0.0) or 1.0 for name in ("gini", "matches")]
    x, y = (alt.Scale(domain=[0.0, top], nice=False) for top in tops)
    base = alt.Chart({"values": points}).encode(
        x=alt.X("gini:Q", title="Gini of exposure", scale=x),
        y=alt.Y("matches:Q", title="effective matches per 100 cards", scale=y),
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
    labels = []
    for side in ("left", "right"):
        text = base.mark_text(align=side, fontSize=11).encode(text="policy:N", shape=alt.Undefined)
        text.data = {"values": [label for label in _labels(points, tops) if label["side"] == side]}
        labels.append(text)
    return alt.layer(marks, *labels).properties(title=title, width=_WIDE, height=_HIGH)


def _labels(points: Sequence[Mapping[str, Any]], tops: Sequence[float]) -> list[dict[str, Any]]:
    """Names beside their marks, on the first side where they print over no mark or name; without room there is none."""
    places = [(_WIDE * point["gini"] / tops[0], _HIGH * (1.0 - point["matches"] / tops[1])) for point in points]
    placed = [(x - _MARK, y - _MARK, x + _MARK, y + _MARK) for x, y in places]
    labels = []
    for point, (x, y) in zip(points, places, strict=True):
        if point["policy"] not in _NAMED:
            continue
        wide = _LETTER * len(point["policy"])
        for side, down in product(("left", "right"), (-8, 10, -22, 24)):
            at = x + 8 if side == "left" else x - 8
            left = at if side == "left" else at - wide
            box = (left, y + down - 7, left + wide, y + down + 7)
            inside = box[0] >= 0 and box[2] <= _WIDE and box[1] >= 0 and box[3] <= _HIGH
            if inside and not any(_overlap(box, other) for other in placed):
                placed.append(box)
                where = {"gini": tops[0] * at / _WIDE, "matches": tops[1] * (1.0 - (y + down) / _HIGH), "side": side}
                labels.append({**point, **where})
                break
    return labels


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _sampler(policy: str) -> str:
    name = policy.split(" + ")[0].split(",")[0]
    return name if name in _COLOURS else "paper"


def _safeguards(policy: str) -> str:
    if policy.partition(" + ")[0] == "default":
        return "quota + cap"
    return policy.removesuffix(" + floor").partition(" + ")[2] or "none"
