"""Charts of the operators' console, without their data: a page fetches that, and puts it in by name."""

from __future__ import annotations

from typing import Any

import altair as alt

from kaczmatch.charts.experiment import course

DATA = "figures"
FOR, AGAINST, ACCENT, SOFT = "for", "against", "accent", "muted"  # the page's colours, which it puts in
Chart = alt.Chart | alt.LayerChart | alt.FacetChart


def specifications() -> dict[str, Any]:
    """Every chart by its name, as Vega-Lite."""
    charts = {
        "minutes": minutes(),
        "stability": stability(),
        "conditions": conditions(),
        "lorenz": lorenz(),
        "policies": policies(),
        "experiment": course(DATA, ACCENT, SOFT),
    }
    return {name: _plain(chart) for name, chart in charts.items()}


def minutes() -> Chart:
    """Swipes, likes and decks over the last hour."""
    kinds = ["swipes", "likes", "decks"]
    lines = _chart("Swipes, likes and decks in each minute of the last hour").mark_line(strokeWidth=2, interpolate="monotone")
    chart: Chart = lines.encode(
        x=alt.X("at:T", title=None, axis=alt.Axis(format="%H:%M", grid=False, tickCount=6)),
        y=alt.Y("number:Q", title="a minute", axis=alt.Axis(tickCount=4)),
        color=alt.Color(
            "what:N",
            title=None,
            sort=kinds,
            scale=alt.Scale(domain=kinds, range=[SOFT, FOR, ACCENT]),
            legend=alt.Legend(orient="top", symbolType="stroke", symbolStrokeWidth=3),
        ),
    )
    return chart


def stability() -> Chart:
    """Δs of people's last sessions."""
    axis = alt.Axis(grid=False, values=[-1, -0.5, 0, 0.5, 1])
    bins = alt.Bin(step=0.1, extent=[-1, 1])
    return _histogram("Stability of what was learned, session to session", "Δs, cosine to the session before", bins, axis)


def conditions() -> Chart:
    """κ over people's last swipes, on a logarithmic scale."""
    axis = alt.Axis(grid=False, tickCount=6, labelOverlap="greedy", labelSeparation=6)
    return _histogram("Condition number of people's last swipes", "log₁₀ κ of AAᵀ + I", alt.Bin(step=0.1), axis)


def lorenz() -> Chart:
    """Share of cards over share of people."""
    scale = alt.Scale(domain=[0, 1], nice=False)
    axis = alt.Axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1], labelOverlap="greedy")
    curve = _chart("How unequally people are shown").encode(
        x=alt.X("people:Q", title="people, the least shown first", scale=scale, axis=axis),
        y=alt.Y("cards:Q", title="cards", scale=scale, axis=axis),
    )
    even = curve.encode(y=alt.Y("people:Q", title="cards", scale=scale))
    return alt.layer(
        curve.mark_area(opacity=0.18, color=ACCENT),
        even.mark_line(color=SOFT, strokeDash=[4, 3], strokeWidth=1),
        curve.mark_line(color=ACCENT, strokeWidth=2),
    ).properties(width="container", height=200)


def policies() -> Chart:
    """Decks of the last hour by what was decided and why, the words above their bar; its height is that of one of them."""
    rows = _chart("Decks of the last hour by sampler and reason").encode(y=alt.Y("why:N", sort=None, axis=None))
    decks = alt.X("decks:Q", title="decks", axis=alt.Axis(grid=False, tickCount=4, tickMinStep=1, format="d"))
    words = rows.mark_text(align="left", baseline="bottom", color=SOFT, fontSize=12).encode(text="why:N", x=alt.value(0))
    bars = rows.mark_bar(color=FOR, cornerRadiusEnd=3, size=14, yOffset=11).encode(x=decks)
    return alt.layer(bars, words).properties(width="container", height=46)


def _histogram(description: str, title: str, bins: alt.Bin, axis: alt.Axis) -> Chart:
    chart: Chart = (
        _chart(description)
        .mark_bar(color=FOR, cornerRadiusTopLeft=2, cornerRadiusTopRight=2)
        .encode(
            x=alt.X("value:Q", bin=bins, title=title, axis=axis),
            y=alt.Y("count():Q", title="people", axis=alt.Axis(tickCount=4, format="d")),
        )
    )
    return chart


def _chart(description: str) -> alt.Chart:
    return alt.Chart(alt.NamedData(name=DATA), width="container", height=200, description=description)


def _plain(chart: Chart) -> dict[str, Any]:
    """Without Altair's own looks: the page has its own."""
    specification: dict[str, Any] = chart.to_dict()
    specification["config"] = {}
    return specification
