"""Ordering what a caller brings, and saying why from one's own side only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from kaczmatch import InvalidInput, learner
from kaczmatch.recommend.decks.eligible import COOLDOWN, Answers
from kaczmatch.recommend.decks.rank import rank
from kaczmatch.recommend.explanation import explain
from kaczmatch.recommend.people.filters import FilterColumns, all_filters
from kaczmatch.recommend.people.schema import DATING
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.recommend.scoring import FUSIONS, Viewer

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize("slug", ["probit-diag", "probit", "tk", "block-nk"])
def test_everybody_is_ranked_or_left_out_with_reasons(crowd: Callable[..., Any], slug: str) -> None:
    people = crowd(80, slug)
    viewer = people.viewer(0)
    others = list(people.profiles.values())
    found = rank(
        viewer,
        others,
        people.states_of(people.profiles),
        now=NOW,
        rng=np.random.default_rng(0),
        others=[people.others[i] for i in people.profiles],
        blocked=[5],
        answers=Answers(liked=[9], passed={7: NOW - timedelta(days=1)}, skipped={8: NOW - COOLDOWN}),
    )
    flags = all_filters(viewer.profile, FilterColumns.from_profiles(others, DATING), NOW.date(), {5})
    reasons = dict(found.left_out)
    assert {i for i, _ in found.ranked} | reasons.keys() == set(people.profiles)
    assert not {i for i, _ in found.ranked} & reasons.keys()
    assert "self" in reasons[0]
    assert "blocked" in reasons[5]
    assert "cooldown" in reasons[7]
    assert "liked" in reasons[9]
    assert "cooldown" not in reasons.get(8, ())
    for i, why in reasons.items():
        assert set(why) - {"cooldown", "liked"} == {name for name, passes in flags.items() if not passes[i]}
    scores = dict(found.ranked)
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    fuse = FUSIONS["product" if slug.startswith("probit") else "geometric"]
    for i, score in scores.items():
        back = people.viewer(i)
        pair = [
            float(one.forward(other.profile.features[None], np.array([other.others]))[0])
            for one, other in ((viewer, back), (back, viewer))
        ]
        assert score == pytest.approx(float(fuse(*pair)), rel=1e-9)


def test_a_score_is_the_same_from_both_sides(crowd: Callable[..., Any]) -> None:
    people = crowd(40)
    for a in range(10):
        mine = dict(
            rank(
                people.viewer(a),
                list(people.profiles.values()),
                people.states_of(range(40)),
                now=NOW,
                rng=np.random.default_rng(0),
            ).ranked
        )
        for b, score in mine.items():
            theirs = rank(people.viewer(b), [people.profiles[a]], [people.states[a]], now=NOW, rng=np.random.default_rng(0))
            assert theirs.ranked[0][1] == pytest.approx(score, rel=1e-9)


def test_nothing_to_rank_and_wrong_lengths(crowd: Callable[..., Any]) -> None:
    people = crowd(5)
    arguments: dict[str, Any] = {"now": NOW, "rng": np.random.default_rng(0)}
    assert rank(people.viewer(0), [], [], **arguments).ranked == ()
    assert rank(people.viewer(0), [people.profiles[0]], [people.states[0]], **arguments).ranked == ()
    with pytest.raises(InvalidInput, match="states"):
        rank(people.viewer(0), [people.profiles[1]], [], **arguments)
    with pytest.raises(InvalidInput, match="others"):
        rank(people.viewer(0), list(people.profiles.values()), people.states_of(range(5)), others=[[0.0, 0.0]], **arguments)


def test_an_explanation_names_tags_and_swipes_of_my_own(crowd: Callable[..., Any]) -> None:
    vocabulary = Vocabulary.of(["cats", "dogs", "chess", "opera"])
    swipes = {
        "user": ["me"] * 4,
        "features": [[1, 0, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]],
        "label": ["like", "like", "pass", "pass"],
    }
    for slug in ("probit-diag", "tk", "block-nk"):
        rule = learner(slug)
        state = rule.start(np.zeros(4))
        for features, label in zip(swipes["features"], swipes["label"], strict=True):
            state = rule.swipe(state, features, label)
        state = rule.end_session(state)
        me = replace(crowd(1, reals=0, tags=4).profiles[0], id="me")
        why = explain(Viewer(me, rule, state), vocabulary.vector(["cats", "dogs"]), vocabulary, swipes, prior=np.zeros(4))
        assert [name for name, _ in why.raising] == ["cats"]
        if slug == "probit-diag":  # a pass on somebody who scores 0 is silent in the paper's rules
            assert [name for name, _ in why.lowering] == ["dogs"]
        assert why.swipes
        assert {row for row, _ in why.swipes} <= {0, 1}
        assert why.swipes[0][1] > 0.0
        without = explain(Viewer(me, rule, state), vocabulary.vector(["cats", "dogs"]), vocabulary)
        assert (without.raising, without.swipes) == (why.raising, ())
