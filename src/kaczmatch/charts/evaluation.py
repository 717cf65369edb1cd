"""Pictures of an evaluation: curves over swipes, differences with their intervals, said against happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from kaczmatch.charts.lines import colour, dash

_SOFT = "#8a94a3"


def difference_chart(rows: Sequence[Mapping[str, Any]], *, title: str, x_title: str) -> alt.LayerChart | alt.FacetChart:
    """A dot with its interval for each `learner`; the line is at no difference."""
    names = [row["learner"] for row in rows]
    y = alt.Y("learner:N", sort=names, title=None, axis=alt.Axis(labelLimit=260, ticks=False, domain=False, grid=True))
    base = alt.Chart({"values": list(rows)}).encode(y=y, color=_colours(names, legend=False))
    zero = alt.Chart({"values": [{"x": 0}]}).mark_rule(color=_SOFT, strokeDash=[4, 3]).encode(x="x:Q")
    bars = base.mark_rule(strokeWidth=3).encode(x=alt.X("low:Q", title=x_title), x2="high:Q")
    dots = base.mark_point(filled=True, size=70, opacity=1.0).encode(x=alt.X("mean:Q", title=x_title))
    return alt.layer(zero, bars, dots).properties(title=title, width=640, height={"step": 21})


def reliability_chart(rows: Sequence[Mapping[str, Any]], *, names: Sequence[str], title: str) -> alt.LayerChart | alt.FacetChart:
    """Share of likes over the probability that was said; the diagonal is the truth."""
    scale = alt.Scale(domain=[0, 1], nice=False)
    diagonal = alt.Chart({"values": [{"predicted": 0, "observed": 0}, {"predicted": 1, "observed": 1}]})
    base = alt.Chart({"values": [row for row in rows if row["learner"] in names]}).encode(
        x=alt.X("predicted:Q", title="probability said", scale=scale), color=_colours(names), strokeDash=_dashes(names)
    )
    y = alt.Y("observed:Q", title="share liked", scale=scale)
    whiskers = base.mark_rule(opacity=0.5).encode(y=alt.Y("low:Q", title="share liked", scale=scale), y2="high:Q")
    return alt.layer(
        diagonal.mark_line(color=_SOFT, strokeDash=[4, 3]).encode(x=alt.X("predicted:Q", scale=scale), y=y),
        whiskers.encode(strokeDash=alt.value([1, 0])),
        base.mark_line(strokeWidth=2).encode(y=y),
        base.mark_point(filled=True, opacity=1.0).encode(
            y=y, size=alt.Size("swipes:Q", legend=None, scale=alt.Scale(range=[15, 90])), strokeDash=alt.value([1, 0])
        ),
    ).properties(title=title, width=640, height=380)


def tuning_chart(rows: Sequence[Mapping[str, Any]], *, settings: Sequence[str], title: str) -> alt.FacetChart:
    """A panel a setting: how many nats a swipe more or less than the default, with its interval."""
    panel = alt.Chart(width=350, height=190).encode(
        x=alt.X("value:N", title=None, sort=None, axis=alt.Axis(labelAngle=0)),
    )
    y_title = "nats in 100 swipes over the default"
    zero = alt.Chart().mark_rule(color=_SOFT, strokeDash=[4, 3]).encode(y=alt.datum(0.0))
    bars = panel.mark_rule(strokeWidth=3, color="#0072B2").encode(y=alt.Y("low:Q", title=y_title), y2="high:Q")
    dots = panel.mark_point(filled=True, size=60, opacity=1.0).encode(
        y=alt.Y("difference:Q", title=y_title),
        color=alt.Color(
            "role:N",
            title=None,
            scale=alt.Scale(domain=["default", "tried", "best"], range=["#000000", "#0072B2", "#D55E00"]),
        ),
    )
    chart: alt.FacetChart = (
        alt.layer(zero, bars, dots, data={"values": list(rows)})
        .facet(facet=alt.Facet("setting:N", title=None, sort=list(settings)), columns=2)
        .resolve_scale(x="independent", y="independent")
        .properties(title=title)
    )
    return chart


def _colours(names: Sequence[str], *, legend: bool = True) -> alt.Color:
    return alt.Color(
        "learner:N",
        sort=list(names),
        title=None,
        scale=alt.Scale(domain=list(names), range=[colour(name) for name in names]),
        legend=alt.Legend(symbolOpacity=1.0, symbolType="stroke", symbolStrokeWidth=3.0, labelLimit=260) if legend else None,
    )


def _dashes(names: Sequence[str]) -> alt.StrokeDash:
    return alt.StrokeDash(
        "learner:N", sort=list(names), title=None, scale=alt.Scale(domain=list(names), range=[dash(name) for name in names])
    )
