from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch.learners.logs.fold import group_by_user

columns = st.one_of(
    st.lists(st.integers(-5, 5), min_size=1),
    st.lists(st.integers(-(2**62), 2**62), min_size=1),
    st.lists(st.text("abc", max_size=3), min_size=1),
    st.lists(st.floats(0, 3), min_size=1),
)


@given(columns)
def test_each_users_rows_stand_together_in_their_order(column: list[Any]) -> None:
    users, order, begin = group_by_user(np.asarray(column))
    assert sorted(order.tolist()) == list(range(len(column)))
    assert len(set(users)) == len(users) == len(begin) - 1
    for place, user in enumerate(users):
        rows = order[begin[place] : begin[place + 1]].tolist()
        assert rows == [row for row, name in enumerate(column) if name == user]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_narrow_integers_do_not_overflow(dtype: Any) -> None:
    info = np.iinfo(dtype)
    column = np.array([info.max, info.min, info.max], dtype)
    assert group_by_user(column)[0] == [info.min, info.max]


def test_all_numbers_of_a_narrow_type_are_kept_apart() -> None:
    users, order, begin = group_by_user(np.arange(-128, 128).astype(np.int8)[::-1])
    assert users == list(range(-128, 128))
    assert order.tolist() == list(range(255, -1, -1))
    assert np.diff(begin).tolist() == [1] * 256


def test_any_keys_will_do() -> None:
    column = np.empty(3, object)
    column[:] = [("a", 1), None, ("a", 1)]
    users, order, _ = group_by_user(column)
    assert users == [("a", 1), None]
    assert order.tolist() == [0, 2, 1]
