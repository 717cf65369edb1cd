from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch import AppealModel, InvalidInput, SwipeLog

# (rater, candidate, like, second): few of each, so that raters come back to candidates and moments coincide
ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans(), st.integers(0, 8)), min_size=1, max_size=25).map(
    lambda rows: sorted(rows, key=lambda row: row[3])
)


def log_of(rows: list[tuple[int, int, bool, int]]) -> SwipeLog:
    user, candidate, like, at = (np.array(column) for column in zip(*rows, strict=True))
    return SwipeLog(user=user, candidate=candidate, candidates=np.ones((4, 2)), label=np.where(like, 1, -1), at=at)


def by_hand(rows: list[tuple[int, int, bool, int]], viewer: int, candidate: int, at: int, appeal: AppealModel) -> float:
    """The definition, decision by decision."""
    excess = information = 0.0
    for place, (rater, whom, like, then) in enumerate(rows):
        if whom != candidate or rater == viewer or then >= at:
            continue
        earlier = [liked for who, _, liked, _ in rows[:place] if who == rater]
        p = (sum(earlier) + 1) / (len(earlier) + 2)
        weight = 2 ** (-(at - then) / appeal.half_life)
        excess += weight * (like - p)
        information += weight * p * (1 - p)
    return excess / (information + 1 / appeal.spread**2)


@given(
    ROWS,
    st.sampled_from(
        [AppealModel(), AppealModel(half_life_days=2 / 86_400, spread=0.5), AppealModel(half_life_days=float("inf"))]
    ),
)
def test_it_is_what_others_decided_strictly_before(rows: list[Any], appeal: AppealModel) -> None:
    found = appeal.before_swipes(log_of(rows))
    expected = [by_hand(rows, viewer, candidate, at, appeal) for viewer, candidate, _, at in rows]
    assert found == pytest.approx(expected, abs=1e-12)


@given(ROWS, st.integers(0, 8), st.integers(0, 4))
def test_it_can_be_asked_for_at_any_moment_by_anybody(rows: list[Any], at: int, viewer: int) -> None:
    appeal = AppealModel(half_life_days=1 / 86_400)
    found = appeal.at_moments(log_of(rows), viewer=viewer, candidate=np.arange(4), at=at)
    assert found == pytest.approx([by_hand(rows, viewer, candidate, at, appeal) for candidate in range(4)], abs=1e-12)


@given(ROWS)
def test_later_swipes_and_ones_own_have_no_influence(rows: list[Any]) -> None:
    appeal = AppealModel()
    known = appeal.before_swipes(log_of(rows))
    turned = [(viewer, candidate, not like, at) for viewer, candidate, like, at in rows]
    for place, (viewer, _, _, at) in enumerate(rows):
        others = [old if old[3] < at and old[0] != viewer else new for old, new in zip(rows, turned, strict=True)]
        assert appeal.before_swipes(log_of(others))[place] == pytest.approx(known[place], abs=1e-12)


@given(ROWS)
def test_a_tracker_kept_as_swipes_come_in_says_the_same(rows: list[Any]) -> None:
    rows = [(*row[:3], second) for second, row in enumerate(rows)]
    appeal = AppealModel(half_life_days=5 / 86_400)
    tracker = appeal.tracker()
    said = []
    for viewer, candidate, like, at in rows:
        said.append(tracker.appeal_of(candidate, viewer, at))
        tracker.record(viewer, candidate, "like" if like else "pass", at)
    assert said == pytest.approx(appeal.before_swipes(log_of(rows)).tolist(), abs=1e-12)


def test_a_bot_that_likes_everyone_hardly_moves_it() -> None:
    rng = np.random.default_rng(0)
    honest, bot = AppealModel().tracker(), AppealModel().tracker()
    for rater in range(40):
        for candidate in range(10):
            likes = rng.random() < 0.3 + 0.05 * candidate
            for tracker in (honest, bot):
                tracker.record(rater, candidate, "like" if likes else "pass", 0.0)
    for candidate in range(10, 300):  # it likes others before and after
        bot.record("bot", candidate, "like", 0.0)
    for candidate in range(10):
        bot.record("bot", candidate, "like", 0.0)
    for candidate in range(10):
        assert bot.appeal_of(candidate, "me", 0.0) == pytest.approx(honest.appeal_of(candidate, "me", 0.0), abs=0.001)
    assert honest.appeal_of(9, "me", 0.0) > honest.appeal_of(0, "me", 0.0) + 1.0


def test_decisions_fade_with_time() -> None:
    tracker = AppealModel(half_life_days=10.0).tracker()
    tracker.record("a", "x", "like", datetime(2026, 1, 1, tzinfo=UTC))
    fresh, later = (tracker.appeal_of("x", "b", datetime(2026, 1, day, tzinfo=UTC)) for day in (1, 31))
    assert fresh == pytest.approx(0.5 / 1.25)
    assert later == pytest.approx(0.0625 / (0.25 / 8 + 1.0))
    assert tracker.appeal_of("nobody knows", "b", 0.0) == 0.0


def test_what_is_missing_is_said() -> None:
    row: dict[str, Any] = {"user": [1], "label": [1]}
    with pytest.raises(InvalidInput, match="candidate: it must be known who"):
        AppealModel().before_swipes({**row, "features": [[1.0]], "at": [0]})
    listed = {**row, "candidate": [0], "candidates": [[1.0]]}
    with pytest.raises(InvalidInput, match="at: it must be known which swipe came first"):
        AppealModel().before_swipes(listed)
    for candidate in ([1], [-1], [0.5]):
        with pytest.raises(InvalidInput) as caught:
            AppealModel().at_moments({**listed, "at": [0]}, viewer=1, candidate=candidate, at=0)
        assert caught.value.field == "candidate"
    tracker = AppealModel().tracker()
    tracker.record(1, 2, "like", 10.0)
    with pytest.raises(InvalidInput, match="in the order of time"):
        tracker.record(3, 2, "like", 9.0)
    for settings in ({"half_life_days": 0.0}, {"spread": 0.0}):
        with pytest.raises(InvalidInput):
            AppealModel(**settings)
