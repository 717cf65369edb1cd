from __future__ import annotations

import numpy as np

import kaczmatch
from kaczmatch.charts.influence import influence_chart


def test_the_chart_shows_every_swipe_of_every_learner() -> None:
    rng = np.random.default_rng(0)
    log = {"user": [0] * 12, "features": rng.integers(0, 2, (12, 5)), "label": rng.choice([-1, 1], 12)}
    found = {slug: kaczmatch.influence(kaczmatch.learner(slug), log) for slug in ("tk", "nk")}
    (points,) = influence_chart(found).to_dict()["datasets"].values()
    assert [point["swipes ago"] for point in points if point["learner"] == "nk"] == list(range(12, 0, -1))
    assert [point["turn"] for point in points if point["learner"] == "tk"] == found["tk"].angles.tolist()
