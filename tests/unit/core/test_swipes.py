from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from kaczmatch import InvalidInput, ShownCandidate, SwipeLog, appeal_rows

GOOD: dict[str, Any] = {"user": [1, 1], "features": [[1, 0], [0, 1]], "label": [1, -1]}
BY_CANDIDATE: dict[str, Any] = {"user": [1, 1], "candidate": [1, 0], "candidates": np.eye(2), "label": [1, -1]}


def test_a_log_says_what_each_swipe_saw() -> None:
    log = SwipeLog(**BY_CANDIDATE, others=[[0.5, 0.0], [-0.5, 0.0]])
    assert len(log) == log.dimensions == 2
    assert log.shown_candidate(0).features.tolist() == [0, 1]
    assert log.shown_candidate(0).others.tolist() == [0.5, 0.0]


@pytest.mark.parametrize(
    ("columns", "field", "message"),
    [
        (GOOD | {"label": [1]}, "user", "has 2 rows, but label has 1"),
        (GOOD | {"features": [[1, 0]]}, "features", "has 1 rows"),
        (GOOD | {"features": [[1, 0], [0, np.nan]]}, "features", "row 1: entry 1 is nan"),
        (GOOD | {"session": [1]}, "session", "has 1 rows"),
        (GOOD | {"session": [[1, 2]]}, "session", "one column"),
        (GOOD | {"others": [[0.0], [np.inf]]}, "others", "row 1"),
        (GOOD | {"others": [["a"], ["b"]]}, "others", "numbers"),
        (GOOD | {"at": ["noon", "later"]}, "at", "row 0: must be a datetime or seconds, got 'noon'"),
        (GOOD | {"at": [0.0, np.nan]}, "at", "row 1: nan is not a time"),
        (GOOD | {"at": np.array(["2026-01-01", "NaT"], "M8[s]")}, "at", "row 1: is not a time"),
        (GOOD | {"at": [datetime(2026, 1, 1, tzinfo=UTC), None]}, "at", "row 1: must be a datetime"),
        (GOOD | {"candidate": [0, 1]}, "features", "not both"),
        ({"user": [1], "label": [1]}, "candidate", "give features"),
        (BY_CANDIDATE | {"candidate": [0, 2]}, "candidate", "row 1: 2 is not a row of the 2 candidates"),
        (BY_CANDIDATE | {"candidate": [-1, 0]}, "candidate", "row 0: -1"),
        (BY_CANDIDATE | {"candidate": ["a", "b"]}, "candidate", "make candidates a mapping"),
        (BY_CANDIDATE | {"candidates": {"a": [1, 0]}}, "candidate", "row 0: 1 is not among the candidates"),
        (BY_CANDIDATE | {"candidates": {}}, "candidates", "is empty"),
        (BY_CANDIDATE | {"candidates": {0: [1], 1: [1, 0]}}, "candidates", "one length"),
        (BY_CANDIDATE | {"candidates": np.full((2, 2), np.inf)}, "candidates", "row 0"),
        (GOOD | {"sesion": [1, 1]}, "sesion", "did you mean 'session'"),
        ({"user": [1], "features": [[1.0]]}, "label", "missing"),
    ],
)
def test_a_bad_column_is_named(columns: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        SwipeLog.of(columns)
    assert caught.value.field == field


def test_only_columns_make_a_log() -> None:
    with pytest.raises(InvalidInput, match=r"log: must be a SwipeLog or a mapping of columns; kaczmatch.read_log .*got list"):
        SwipeLog.of([1, 2])  # type: ignore[arg-type]


def test_time_may_come_in_any_form() -> None:
    first = datetime(2026, 3, 1, 12, tzinfo=UTC)
    moments = [first, first.astimezone(timezone(timedelta(hours=5))) + timedelta(microseconds=1)]
    forms: list[Any] = [
        np.array(moments, object),
        np.array([moment.astimezone(UTC).replace(tzinfo=None) for moment in moments], "M8[us]"),
        [moment.timestamp() for moment in moments],
    ]
    for at in forms:
        log = SwipeLog(**GOOD, at=at)
        assert log.at is not None
        assert log.at[1] - log.at[0] == 1


def test_a_time_without_a_zone_is_in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    spring = [datetime(2026, 3, 29, 1, 59), datetime(2026, 3, 29, 3, 1)]
    at = SwipeLog(**GOOD, at=spring).at
    monkeypatch.undo()
    time.tzset()
    assert at is not None
    assert at[1] - at[0] == 62 * 60 * 10**6


def test_nanoseconds_are_not_taken_for_seconds() -> None:
    with pytest.raises(InvalidInput, match="at: row 0: 1700000000000000000 is not a time in seconds"):
        SwipeLog(**GOOD, at=[1_700_000_000_000_000_000] * 2)


@pytest.mark.parametrize("others", [[float("nan")], "high", [None], [1e9], 0.5])
def test_what_others_said_are_plausible_numbers(others: Any) -> None:
    with pytest.raises(InvalidInput, match="others"):
        ShownCandidate(np.ones(2), others)


def test_rows_and_what_others_said_can_be_replaced() -> None:
    log = SwipeLog(user=[1, 2, 1], candidate=[0, 1, 1], candidates=np.eye(2), label=[1, -1, 1], at=[0, 1, 2])
    some = log.select(log.user == 1)
    assert (len(some), some.dimensions) == (2, 2)
    assert some.shown_candidate(1).features.tolist() == [0.0, 1.0]
    liked = log.with_others(appeal_rows([0.1, 0.2, 0.3]))
    assert (liked.shown_candidate(2).others.tolist(), log.shown_candidate(2).others.tolist()) == ([0.3, 0.0], [])
    with pytest.raises(InvalidInput, match="others: has 1 rows"):
        log.with_others([[0.1, 0.0]])
