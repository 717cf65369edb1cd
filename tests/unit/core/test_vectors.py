from __future__ import annotations

import numpy as np
import pytest

from kaczmatch import InvalidInput
from kaczmatch.core.vectors import as_matrix, as_vector, check_vector, cosine, problem_with, unit, unit_rows


def test_a_good_vector_is_taken_as_it_is() -> None:
    v = np.ones(3)
    assert as_vector(v, "v") is v


def test_everything_else_becomes_contiguous_float64() -> None:
    for value in (
        [1, 2],
        np.array([1, 2], ">i2"),
        np.arange(1.0, 5.0)[::2] / 1.5 * 1.5,
        np.frombuffer(b"x" + np.ones(2).tobytes(), np.uint8)[1:].view("f8"),
    ):
        v = as_vector(value, "v")
        assert v.dtype == np.float64
        assert v.flags.c_contiguous
        assert v.flags.aligned


def test_a_ragged_matrix_is_refused() -> None:
    with pytest.raises(InvalidInput, match="rows: must be numbers, all rows of one length"):
        as_matrix([[1.0], [1.0, 2.0]], "rows")


def test_what_is_wrong_with_a_vector_is_said() -> None:
    assert problem_with(np.array([1.0, np.nan])) == "entry 1 is nan; every entry must be finite"
    assert "rescale" in problem_with(np.array([1e80]))
    with pytest.raises(InvalidInput, match="entry 0 is inf"):
        check_vector(np.array([np.inf]), "v")


def test_zero_has_no_direction() -> None:
    zero = np.zeros(2)
    assert unit(zero).tolist() == [0, 0]
    assert cosine(zero, np.ones(2)) == cosine(np.ones(2), zero) == 0.0
    assert unit_rows(np.array([[0.0, 0.0], [3.0, 4.0]])).tolist() == [[0, 0], [0.6, 0.8]]
