"""Influence of past swipes as a picture."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt

from kaczmatch.learners.logs.influence import Influence


def influence_chart(
    influences: Mapping[str, Influence], title: str = "How much does each past swipe still matter?"
) -> alt.FacetChart:
    """The angle that today's direction turns without each swipe, latest swipe at the right; one panel a learner."""
    rows = [
        {"learner": name, "swipes ago": len(influence.angles) - place, "turn": float(turn)}
        for name, influence in influences.items()
        for place, turn in enumerate(influence.angles)
    ]
    chart: alt.FacetChart = (
        alt.Chart({"values": rows}, width=560, height=70)
        .mark_bar(width={"band": 0.7})
        .encode(
            x=alt.X("swipes ago:O", sort="descending", axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            y=alt.Y("turn:Q", title="degrees", axis=alt.Axis(tickCount=3)),
            color=alt.Color("learner:N", sort=list(influences), legend=None),
            row=alt.Row(
                "learner:N",
                sort=list(influences),
                title=None,
                header=alt.Header(labelAngle=0, labelAlign="left", labelFontSize=12),
            ),
        )
        .properties(title={"text": title, "subtitle": "degrees that today's direction turns when the swipe is left out"})
    )
    return chart
