from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kaczmatch import InvalidInput
from kaczmatch.core.labels import sign, signs


def test_a_label_is_a_sign() -> None:
    for not_one in (1 + 0j, 0, "liked", [], "", None):
        with pytest.raises(InvalidInput):
            sign(not_one)
    assert [sign(label) for label in ("like", "pass", 1, -1, 1.0, np.int8(-1))] == [1, -1, 1, -1, 1, -1]
    assert [sign(label) for label in (True, False, np.True_, np.False_, "Like", " PASS ")] == [1, -1, 1, -1, 1, -1]


@pytest.mark.parametrize(
    "column",
    [
        ["like", "pass"],
        ["Like", "Pass"],
        [1, -1],
        [True, False],
        np.array([True, False]),
        np.array([1.0, -1.0]),
        np.array(["like", -1], object),
        [np.True_, np.False_],
    ],
)
def test_a_column_of_labels_is_a_column_of_signs(column: Any) -> None:
    assert signs(column).tolist() == [1.0, -1.0]
    assert signs(column).dtype == np.float64


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([1, 0], r"row 1: .* got 0; for a 0/1 column pass column == 1"),
        (["like", "love"], "row 1: .* got 'love'"),
        ([1.0, float("nan")], "row 1: .* got nan"),
        ([[1]], "one column"),
        (np.array(["like", None], object), "row 1: .* got None"),
    ],
)
def test_a_bad_label_is_named_with_its_row(column: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        signs(column)
    assert caught.value.field == "label"
