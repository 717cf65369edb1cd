"""Lines over time with a band around each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

# One colour a learner in every figure, told apart by people who cannot tell red from green.
_COLOURS = [
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#7F7F7F",
    "#8C564B", "#BCBD22", "#17BECF", "#9467BD", "#AA4499", "#332288", "#999933",
]  # fmt: skip


def line_chart(
    rows: Sequence[Mapping[str, Any]],
    *,
    x: str,
    y: str,
    title: str,
    names: Sequence[str],
    x_title: str,
    y_title: str,
    x_log: bool = False,
    width: int = 520,
    height: int = 300,
) -> alt.LayerChart | alt.FacetChart:
    """A line a learner over `x`; where rows have `low` and `high`, a band from one to the other."""
    base = alt.Chart({"values": list(rows)}).encode(
        x=alt.X(f"{x}:Q", title=x_title, scale=alt.Scale(type="log" if x_log else "linear", zero=False, nice=not x_log)),
        color=alt.Color(
            "learner:N",
            sort=list(names),
            title=None,
            scale=alt.Scale(domain=list(names), range=_COLOURS),
            legend=alt.Legend(symbolOpacity=1.0, symbolType="stroke", symbolStrokeWidth=3.0),
        ),
    )
    lines = base.mark_line(strokeWidth=2).encode(y=alt.Y(f"{y}:Q", title=y_title, scale=alt.Scale(zero=False)))
    layers = [lines]
    if rows and "low" in rows[0]:
        layers.insert(0, base.mark_area(opacity=0.12).encode(y=alt.Y("low:Q", title=y_title), y2="high:Q"))
    return alt.layer(*layers).properties(title=title, width=width, height=height)
