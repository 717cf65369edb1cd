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
    return _histogram(
        "Stability of what was learned, session to session", "Δs, cosine to the session before", alt.Bin(step=0.1, extent=[-1, 1])
    )


def conditions() -> Chart:
    """κ over people's last swipes, on a logarithmic scale."""
    return _histogram("Condition number of people's last swipes", "log₁₀ κ of AAᵀ + I", alt.Bin(step=0.1))


def lorenz() -> Chart:
    """Share of cards over share of people."""
    scale = alt.Scale(domain=[0, 1], nice=False)
    axis = alt.Axis(format=".0%", tickCount=4)
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
    """Decks of the last hour by what was decided and why."""
    chart: Chart = (
        _chart("Decks of the last hour by sampler and reason")
        .mark_bar(color=FOR, cornerRadiusEnd=3, size=18)
        .encode(
            y=alt.Y("why:N", title=None, sort="-x", axis=alt.Axis(labelLimit=330, ticks=False, domain=False)),
            x=alt.X("decks:Q", title="decks", axis=alt.Axis(tickCount=4, format="d")),
        )
        .properties(height=150)
    )
    return chart


def _histogram(description: str, title: str, bins: alt.Bin) -> Chart:
    chart: Chart = (
        _chart(description)
        .mark_bar(color=FOR, cornerRadiusTopLeft=2, cornerRadiusTopRight=2)
        .encode(
            x=alt.X("value:Q", bin=bins, title=title, axis=alt.Axis(grid=False, tickCount=6)),
            y=alt.Y("count():Q", title="people", axis=alt.Axis(tickCount=4, format="d")),
        )
    )
    return chart


def _chart(description: str) -> alt.Chart:
    return alt.Chart(alt.NamedData(name=DATA), width="container", height=200, description=description)


def _plain(chart: Chart) -> dict[str, Any]:
    """Without Altair's own looks: the page has its own."""
    told: dict[str, Any] = chart.to_dict()
    told["config"] = {}
    return told
