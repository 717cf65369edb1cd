"""Lines over time with a band around each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

# One colour per learner in every figure, told apart by people who cannot tell red from green.
_COLOURS = {
    "tk": "#0072B2",
    "block-tk": "#E69F00",
    "block-nk": "#009E73",
    "nk": "#D55E00",
    "k-nonorm": "#CC79A7",
    "ogd": "#56B4E9",
    "probit": "#000000",
    "probit-diag": "#E5007D",
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
_OTHERS = "#999933"
_PLAIN, _POPULATION, _APPEAL = [2, 3], [7, 3], [1, 0]  # dashes of a learner alone, with a prior, with everything
_VARIANT = " + "


def colour(name: str) -> str:
    """A learner's colour, whatever it is given on top."""
    return _COLOURS.get(name.split(_VARIANT)[0], _OTHERS)


def dash(name: str) -> list[int]:
    """Tells apart what one learner is given: it alone is dotted where others have more, all of it is a full line."""
    if name.endswith("appeal") or name not in _COLOURS:
        return _POPULATION if name.endswith("population") else _APPEAL
    return _PLAIN if name.startswith("probit") else _APPEAL


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
    width: int = 660,
    height: int = 340,
) -> alt.LayerChart | alt.FacetChart:
    """One line per learner over `x`. Those of `banded`, or all, have a band from `low` to `high` where rows have these."""
    whole = all(float(row[x]).is_integer() for row in rows)  # nobody swipes half a time
    scale = alt.Scale(type="log" if x_log else "linear", zero=False, nice=not x_log)
    base = alt.Chart({"values": list(rows)}).encode(
        x=alt.X(f"{x}:Q", title=x_title, scale=scale, axis=alt.Axis(tickMinStep=1 if whole else alt.Undefined)),
        color=alt.Color(
            "learner:N",
            sort=list(names),
            title=None,
            scale=alt.Scale(domain=list(names), range=[colour(name) for name in names]),
            legend=alt.Legend(symbolOpacity=1.0, symbolType="stroke", symbolStrokeWidth=3.0, labelLimit=260),
        ),
    )
    if any(_VARIANT in name for name in names):
        dashes = alt.Scale(domain=list(names), range=[dash(name) for name in names])
        base = base.encode(strokeDash=alt.StrokeDash("learner:N", sort=list(names), title=None, scale=dashes))
    lines = base.mark_line(strokeWidth=2).encode(y=alt.Y(f"{y}:Q", title=y_title, scale=alt.Scale(zero=False)))
    layers = [lines]
    if rows and "low" in rows[0]:
        bands = base.mark_area(opacity=0.14).encode(y=alt.Y("low:Q", title=y_title), y2="high:Q", strokeDash=alt.Undefined)
        bands.data = {"values": [row for row in rows if not banded or row["learner"] in banded]}
        layers.insert(0, bands)
    return alt.layer(*layers).properties(title=title, width=width, height=height)
