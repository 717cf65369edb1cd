from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

import kaczmatch
from kaczmatch import InvalidInput

COLUMNS = {"user": ["bo", "al", "bo"], "features": np.eye(3), "label": ["like", "pass", "pass"]}


def test_states_are_found_by_user() -> None:
    states = kaczmatch.replay(kaczmatch.learner("tk"), COLUMNS)
    assert sorted(states) == ["al", "bo"]
    assert len(states) == 2
    assert "cy" not in states
    with pytest.raises(KeyError):
        states["cy"]


def test_time_that_runs_backwards_is_refused_with_its_row() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    at = np.array([start, start, start - timedelta(seconds=1)], object)
    learner = kaczmatch.learner("probit", half_life_days=1.0)
    with pytest.raises(InvalidInput, match="row 2: is before the same user's swipe before it") as caught:
        kaczmatch.replay(learner, COLUMNS | {"at": at})
    assert caught.value.field == "at"
    earlier = kaczmatch.replay(learner, COLUMNS | {"at": np.array([start] * 3, object)})
    with pytest.raises(InvalidInput, match=r"row [01]: is before"):
        kaczmatch.replay(learner, COLUMNS | {"at": at - timedelta(days=1)}, states=earlier)


def test_going_on_takes_the_same_learner_and_prior() -> None:
    tk, nk = kaczmatch.learner("tk"), kaczmatch.learner("nk")
    states = kaczmatch.replay(tk, COLUMNS)
    for learner, prior in ((nk, None), (tk, np.zeros(3))):
        with pytest.raises(InvalidInput) as caught:
            kaczmatch.replay(learner, COLUMNS, states=states, prior=prior)
        assert caught.value.field == "states"


def test_the_same_prior_may_be_named_again() -> None:
    tk = kaczmatch.learner("tk")
    states = kaczmatch.replay(tk, COLUMNS, prior=[1, 2, 3])
    assert len(kaczmatch.replay(tk, COLUMNS, states=states, prior=np.array([1.0, 2, 3]))) == 2


def test_the_default_prior_needs_no_introduction_when_a_state_is_read_back() -> None:
    tk = kaczmatch.learner("tk")
    state = kaczmatch.replay(tk, COLUMNS)["bo"]
    assert tk.from_bytes(state.to_bytes()) == state


@pytest.mark.parametrize(
    ("arguments", "field"),
    [(("tk", COLUMNS), "learner"), ((kaczmatch.learner("tk"), COLUMNS | {"user": [[1], [2], {}]}), "user")],
)
def test_wrong_arguments_are_named(arguments: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        kaczmatch.replay(*arguments)
    assert caught.value.field == field


def test_states_must_be_states() -> None:
    with pytest.raises(InvalidInput, match="states: must be what replay gave"):
        kaczmatch.replay(kaczmatch.learner("tk"), COLUMNS, states={})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "users", [[b"a", b"a\0", b"b"], [2**63, 2**63 + 1, -1], [1, "1", 1.5], ["a", "a\0", "b"], [None, 1, frozenset({2})]]
)
def test_users_who_are_told_apart_stay_apart(users: list[Any]) -> None:
    states = kaczmatch.replay(kaczmatch.learner("tk"), COLUMNS | {"user": users})
    assert list(states) == users


def test_large_unsigned_identifiers_are_fine() -> None:
    users = np.array([2**63 + 5, 2**63 + 6, 2**63 + 5], np.uint64)
    assert list(kaczmatch.replay(kaczmatch.learner("tk"), COLUMNS | {"user": users})) == [2**63 + 5, 2**63 + 6]


def test_a_session_may_be_called_none() -> None:
    learner = kaczmatch.learner("block-tk")
    columns = COLUMNS | {"user": [1, 1, 1], "session": np.array([None, None, "a"], object)}
    parts = None
    for cut in (slice(0, 2), slice(2, 3)):
        parts = kaczmatch.replay(learner, {name: column[cut] for name, column in columns.items()}, states=parts)
    assert parts is not None
    assert parts[1] == kaczmatch.replay(learner, columns)[1]
    with pytest.raises(InvalidInput, match="session: row 1"):
        kaczmatch.replay(learner, columns | {"session": [0.0, np.nan, 1.0]})


def test_a_huge_block_size_needs_no_huge_memory() -> None:
    learner = kaczmatch.learner("block-tk", k=10**6)
    assert kaczmatch.replay(learner, COLUMNS)["bo"].cells.size == 12
    assert len(kaczmatch.influence(learner, COLUMNS, "bo").angles) == 2


def test_a_log_that_was_changed_behind_our_back_is_noticed() -> None:
    features = np.eye(3)
    log = kaczmatch.SwipeLog(**COLUMNS | {"features": features})
    features[1, 1] = np.nan
    with pytest.raises(InvalidInput, match="features: changed since the log was made: entry 1 is nan"):
        kaczmatch.replay(kaczmatch.learner("tk"), log)


def test_an_empty_log_by_candidate_is_fine() -> None:
    empty = {"user": [], "candidate": [], "candidates": np.eye(3), "label": []}
    assert repr(kaczmatch.replay(kaczmatch.learner("tk"), empty)) == "<States of 0 users, tk, 3 tags>"


def test_replay_leaves_the_states_it_goes_on_from() -> None:
    tk = kaczmatch.learner("tk")
    states = kaczmatch.replay(tk, COLUMNS)
    before = states["bo"]
    later = kaczmatch.replay(tk, COLUMNS, states=states)
    assert states["bo"] == before != later["bo"]
