"""The course of an experiment: a difference and its interval as units come in."""

from __future__ import annotations

import altair as alt


def course(data: str, line: str, soft: str) -> alt.FacetChart:
    """A panel an outcome, a band an arm; colours are the page's, by name."""
    units = alt.X("units:Q", title="units watched to the end", axis=alt.Axis(grid=False, tickCount=5, format="d"))
    scale = alt.Scale(zero=True, nice=True)
    base = alt.Chart(alt.NamedData(name=data), width=260, height=160)
    band = base.mark_area(opacity=0.2, color=line).encode(
        x=units, y=alt.Y("low:Q", title="difference", scale=scale), y2="high:Q", detail="arm:N"
    )
    middle = base.mark_line(color=line, strokeWidth=2).encode(x=units, y=alt.Y("value:Q", scale=scale), detail="arm:N")
    none = base.mark_rule(color=soft, strokeDash=[4, 3], aria=False).encode(y=alt.datum(0))
    description = "Difference between arms, with an interval that holds at all looks together"
    title = alt.Header(title=None, labelFontSize=12, labelColor=soft)
    panels: alt.FacetChart = alt.layer(band, none, middle).facet(facet=alt.Facet("what:N", header=title), columns=2)
    apart: alt.FacetChart = panels.resolve_scale(y="independent").properties(description=description)
    return apart
