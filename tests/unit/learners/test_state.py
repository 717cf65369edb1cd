from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

import kaczmatch
from kaczmatch import InvalidInput


def test_states_are_equal_only_bit_for_bit() -> None:
    tk = kaczmatch.learner("tk")
    one, other = tk.start([1.0, 0.0]), tk.start([1.0, -0.0])
    assert one == tk.start([1.0, 0.0])
    assert hash(one) == hash(tk.start([1.0, 0.0]))
    assert one != other
    assert one != "a state"


def test_a_state_says_what_it_is() -> None:
    assert repr(kaczmatch.learner("tk").start(np.ones(60))) == "<State of tk: 60 tags, 480 bytes>"


def test_another_format_or_version_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    tk = kaczmatch.learner("tk")
    data = bytearray(tk.start([1.0]).to_bytes())
    data[2] = 9
    with pytest.raises(InvalidInput, match="format 9, this release reads format 1"):
        tk.from_bytes(bytes(data))
    monkeypatch.setattr(type(tk), "state_version", 2)
    newer = tk.start([1.0]).to_bytes()
    monkeypatch.undo()
    with pytest.raises(InvalidInput, match="has version 2, 'tk' reads 1"):
        tk.from_bytes(newer)


def test_bytes_come_from_databases_in_many_forms() -> None:
    tk = kaczmatch.learner("tk")
    state = tk.start([1.0, 2.0])
    for data in (bytearray(state.to_bytes()), memoryview(state.to_bytes())):
        assert tk.from_bytes(data) == state
    with pytest.raises(InvalidInput, match="state: must be bytes, got NoneType"):
        tk.from_bytes(None)  # type: ignore[arg-type]


def test_another_prior_under_the_same_version_is_noticed() -> None:
    tk = kaczmatch.learner("tk")
    data = tk.start(kaczmatch.Prior(np.ones(2), version="a")).to_bytes()
    for wrong in (kaczmatch.Prior(np.zeros(2), version="a"), kaczmatch.Prior(np.ones(3), version="a")):
        with pytest.raises(InvalidInput, match="another prior went by the version 'a'"):
            tk.from_bytes(data, wrong)
    with pytest.raises(InvalidInput, match="prior: must be the Prior"):
        tk.from_bytes(data, np.ones(2))  # type: ignore[arg-type]


@pytest.mark.parametrize("dimensions", [4.5, "4", -1, 10**9])
def test_growth_is_by_whole_tags(dimensions: int) -> None:
    tk = kaczmatch.learner("tk")
    with pytest.raises(InvalidInput, match="dimensions"):
        tk.grow(tk.start([1.0]), dimensions)


def test_only_a_state_is_a_state() -> None:
    with pytest.raises(InvalidInput, match="state: must be a State, got NoneType"):
        kaczmatch.learner("tk").swipe(None, [1.0], "like")  # type: ignore[arg-type]


def test_an_age_passes_without_overflow() -> None:
    probit = kaczmatch.learner("probit", half_life_days=1.0)
    start = probit.start([1.0])
    assert probit.advance(probit.swipe(start, [1.0], "like"), timedelta.max) == start


def test_a_state_of_other_coordinates_is_refused() -> None:
    plain, with_appeal = kaczmatch.learner("probit"), kaczmatch.learner("probit", appeal=True)
    with pytest.raises(InvalidInput, match="are not a state of Probit"):
        with_appeal.swipe(plain.start([1.0]), [1.0], "like")
    with pytest.raises(InvalidInput, match="are not a state of Probit"):
        with_appeal.from_bytes(plain.start([1.0]).to_bytes())


def test_pending_swipes_outlive_a_smaller_block_size() -> None:
    """A restart with another k: what is pending is learned at the next swipe."""
    before, after = kaczmatch.learner("block-tk", k=32), kaczmatch.learner("block-tk", k=2)
    state = before.start(np.ones(3))
    for a in np.eye(3):
        state = before.swipe(state, a, "pass")
    moved = after.swipe(after.from_bytes(state.to_bytes()), np.ones(3), "pass")
    assert moved == before.end_session(before.swipe(state, np.ones(3), "pass"))
