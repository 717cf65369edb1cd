from __future__ import annotations

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
