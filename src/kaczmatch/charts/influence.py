"""Influence of past swipes as a picture."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt

from kaczmatch.learners.influence import Influence


def influence_chart(influences: Mapping[str, Influence], title: str = "How much does each past swipe still matter?") -> alt.Chart:
    """The angle that today's direction turns without each swipe, latest swipe at the right; one line a learner."""
    rows = [
        {"learner": name, "swipes ago": len(influence.turns) - place, "turn": float(turn)}
        for name, influence in influences.items()
        for place, turn in enumerate(influence.turns)
    ]
    chart: alt.Chart = (
        alt.Chart({"values": rows}, title=title)
        .mark_line(point=True)
        .encode(
            x=alt.X("swipes ago:Q", sort="descending", title="swipes ago"),
            y=alt.Y("turn:Q", title="degrees the direction turns without it"),
            color=alt.Color("learner:N", sort=list(influences), title=None),
        )
        .properties(width=560, height=320)
    )
    return chart
