from __future__ import annotations

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch import InvalidInput, learner
from kaczmatch.learners.contract import BeliefLearner
from kaczmatch.learners.registry import LEARNERS
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.scoring import FUSIONS, Viewer, fusion

scores = st.floats(-1.0, 1.0)


@pytest.mark.parametrize("name", FUSIONS)
@given(scores, scores, st.floats(0.0, 1.0))
def test_a_fusion_is_symmetric_monotone_and_never_fooled_by_dislikes(name: str, a: float, b: float, more: float) -> None:
    fuse = fusion(name)
    together = float(fuse(a, b))
    assert together == float(fuse(b, a))
    assert float(fuse(a + more, b)) >= together - 1e-15
    assert 0.0 <= together <= max(a, b, 0.0) + 1e-15
    if min(a, b) <= 0.0:
        assert together == 0.0


def test_fusions_of_known_numbers() -> None:
    found = {name: float(fuse(0.2, 0.8)) for name, fuse in FUSIONS.items()}
    assert found == pytest.approx({"geometric": 0.4, "harmonic": 0.32, "minimum": 0.2, "product": 0.16})
    assert FUSIONS["geometric"]([0.5, -0.5], [0.5, -0.5]).tolist() == [0.5, 0.0]


def test_the_weaker_side_counts_more_from_mean_to_minimum() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 100))
    assert (FUSIONS["minimum"](a, b) <= FUSIONS["harmonic"](a, b) + 1e-15).all()
    assert (FUSIONS["harmonic"](a, b) <= FUSIONS["geometric"](a, b) + 1e-15).all()


def test_what_cannot_be_fused_is_refused() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'geometric'"):
        fusion("geometrc")
    with pytest.raises(InvalidInput, match="scores: must be numbers, got NaN"):
        fusion("minimum")(float("nan"), 1.0)


@pytest.mark.parametrize("slug", [slug for slug, rule in LEARNERS.items() if not issubclass(rule, BeliefLearner)])
def test_both_sides_are_the_learners_own_scores(slug: str) -> None:
    """Cosines of many at once against `learner.score` one by one, with swipes pending and with nothing known."""
    rng = np.random.default_rng(0)
    rule = learner(slug)
    features = (rng.random((30, 7)) < 0.5).astype(float)
    features[3] = 0.0
    states = [rule.start(rng.normal(size=7) * (i != 4)) for i in range(30)]
    states[5] = rule.swipe(states[5], features[0], "like")
    me = Profile(id=0, i_am={"man"}, i_look_for={"man"}, born=date(1990, 1, 1), features=features[1])
    viewer = Viewer(me, rule, states[0])
    assert viewer.forward(features, np.zeros(30)) == pytest.approx(rule.score(states[0], features), abs=1e-12)
    assert viewer.backward(states) == pytest.approx([rule.score(state, features[1]) for state in states], abs=1e-12)
    assert viewer.backward([]).shape == (0,)
    with pytest.raises(InvalidInput, match="row 2: entry 0 is nan"):
        viewer.forward(np.where(np.arange(30)[:, None] == 2, np.nan, features), np.zeros(30))
    with pytest.raises(InvalidInput, match="the viewer's is"):
        viewer.backward([*states, learner("probit").start(np.ones(7))])
