from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch.core.compiled import cosine_of, dot, normalise, products, usable


@given(st.integers(0, 70), st.integers(0, 2**32 - 1))
def test_sums_in_lanes_are_the_sums(n: int, seed: int) -> None:
    v, a = np.random.default_rng(seed).normal(size=(2, n))
    assert dot(v, a) == pytest.approx(math.fsum(v * a), abs=1e-12)
    assert products(v, a) == pytest.approx((v @ a, v @ v, a @ a), abs=1e-12)
    assert products(v, a) == (dot(v, a), dot(v, v), dot(a, a))


def test_lengths_that_would_leave_float64_are_not_usable() -> None:
    assert [usable(x) for x in (0.0, 1.0, 1e-100, 1e100)] == [True] * 4
    assert [usable(x) for x in (math.nan, math.inf, 1e-101, 1e101, 5e-324)] == [False] * 5


def test_the_cosine_of_extreme_lengths_neither_overflows_nor_underflows() -> None:
    assert cosine_of(1e100, 1e200, 1.0) == pytest.approx(1.0)
    assert cosine_of(1e-100, 1e-100, 1e-100) == pytest.approx(1.0)
    assert cosine_of(0.0, 0.0, 1.0) == 0.0


def test_zero_stays_zero_when_normalised() -> None:
    v = np.zeros(5)
    normalise(v)
    assert not v.any()
