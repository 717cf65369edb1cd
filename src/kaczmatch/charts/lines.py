"""Lines over time with a band around each, and what was predicted against what happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

# Of each learner in every figure, told apart by people who cannot tell red from green; where two would share one, the second gets
# the first of `_SPARE` that is free.
_COLOURS = {
    "tk": "#0072B2",
    "block-tk": "#E69F00",
    "block-nk": "#009E73",
    "nk": "#D55E00",
    "k-nonorm": "#CC79A7",
    "ogd": "#56B4E9",
    "probit": "#000000",
    "probit-diag": "#E5007D",
    "probit-traits": "#0072B2",
    "pooled logistic regression": "#E69F00",
    "pooled gradient boosting": "#009E73",
    "all-ones": "#8C564B",
    "nk-unit": "#BCBD22",
    "logistic": "#17BECF",
    "rocchio": "#9467BD",
    "pa-ii": "#AA4499",
    "pegasos": "#332288",
    "River PA": "#56B4E9",
    "River logistic": "#0072B2",
    "River ALMA": "#88CCEE",
    "River AdPredictor": "#332288",
    "Vowpal Wabbit logistic": "#117733",
    "scikit-learn SGD": "#E69F00",
    "scikit-learn logistic, refitted": "#D55E00",
    "MABWiser LinUCB": "#CC79A7",
    "MABWiser LinTS": "#AA4499",
    "implicit BPR": "#000000",
    "implicit ALS": "#009E73",
    "exact posterior": "#C00000",
    "perfect knowledge": "#C00000",
    "probit, uncertainty ignored": "#000000",
    "probit, stable in expectation": "#0072B2",
    "probit, most likely stable": "#E69F00",
    "appeal alone": "#C00000",
    "own like rate": "#88CCEE",
    "random": "#B0B7C3",
}
_SPARE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C564B", "#332288", "#999933", "#7F7F7F")
_VARIANT = " + "
_SOFT = "#8a94a3"


def colours(names: Sequence[str]) -> list[str]:
    """One for each name; no two share one while there are enough."""
    found: list[str] = []
    for name in names:
        usual = _COLOURS.get(name.split(_VARIANT)[0])
        free = [each for each in _SPARE if each not in found] or list(_SPARE)
        found.append(usual if usual is not None and usual not in found else free[0])
    return found


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
    banded: Sequence[str] = (),
    zero: bool = False,
    width: int = 660,
    height: int = 340,
) -> alt.LayerChart | alt.FacetChart:
    """One line per learner over `x`. Those of `banded`, or all, have a band from `low` to `high` where rows have these;
    with `zero`, there is a line at 0."""
    whole = all(float(row[x]).is_integer() for row in rows)  # half a swipe is none
    scale = alt.Scale(type="log" if x_log else "linear", zero=False, nice=not x_log)
    base = alt.Chart({"values": list(rows)}).encode(
        x=alt.X(f"{x}:Q", title=x_title, scale=scale, axis=alt.Axis(tickMinStep=1 if whole else alt.Undefined)),
        color=_coloured(names),
    )
    lines = base.mark_line(strokeWidth=2).encode(y=alt.Y(f"{y}:Q", title=y_title, scale=alt.Scale(zero=False)))
    layers: list[alt.Chart] = [lines]
    if rows and "low" in rows[0]:
        bands = base.mark_area(opacity=0.14).encode(y=alt.Y("low:Q", title=y_title), y2="high:Q")
        bands.data = {"values": [row for row in rows if not banded or row["learner"] in banded]}
        layers.insert(0, bands)
    if zero:
        layers.insert(0, alt.Chart({"values": [{"at": 0}]}).mark_rule(color=_SOFT, strokeDash=[4, 3]).encode(y="at:Q"))
    return alt.layer(*layers).properties(title=title, width=width, height=height)


def reliability_chart(rows: Sequence[Mapping[str, Any]], *, names: Sequence[str], title: str) -> alt.LayerChart | alt.FacetChart:
    """Share of likes over the probability that was predicted; the diagonal is the truth."""
    scale = alt.Scale(domain=[0, 1], nice=False)
    diagonal = alt.Chart({"values": [{"predicted": 0, "observed": 0}, {"predicted": 1, "observed": 1}]})
    base = alt.Chart({"values": [row for row in rows if row["learner"] in names]}).encode(
        x=alt.X("predicted:Q", title="probability predicted", scale=scale), color=_coloured(names)
    )
    y = alt.Y("observed:Q", title="share liked", scale=scale)
    return alt.layer(
        diagonal.mark_line(color=_SOFT, strokeDash=[4, 3]).encode(x=alt.X("predicted:Q", scale=scale), y=y),
        base.mark_rule(opacity=0.5).encode(y=alt.Y("low:Q", title="share liked", scale=scale), y2="high:Q"),
        base.mark_line(strokeWidth=2).encode(y=y),
        base.mark_point(filled=True, opacity=1.0).encode(
            y=y, size=alt.Size("swipes:Q", legend=None, scale=alt.Scale(range=[15, 90]))
        ),
    ).properties(title=title, width=640, height=380)


def _coloured(names: Sequence[str]) -> alt.Color:
    return alt.Color(
        "learner:N",
        sort=list(names),
        title=None,
        scale=alt.Scale(domain=list(names), range=colours(names)),
        legend=alt.Legend(symbolOpacity=1.0, symbolType="stroke", symbolStrokeWidth=3.0, labelLimit=320),
    )
