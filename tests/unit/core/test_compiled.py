from __future__ import annotations

import io
import math
import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch.core import compiled
from kaczmatch.core.compiled import cosine_from_products, dot, drop_stale_kernels, normalise, products, ridge_step, usable_norm


@given(st.integers(0, 70), st.integers(0, 2**32 - 1))
def test_sums_in_lanes_are_the_sums(n: int, seed: int) -> None:
    v, a = np.random.default_rng(seed).normal(size=(2, n))
    assert dot(v, a) == pytest.approx(math.fsum(v * a), abs=1e-12)
    assert products(v, a) == pytest.approx((v @ a, v @ v, a @ a), abs=1e-12)
    assert products(v, a) == (dot(v, a), dot(v, v), dot(a, a))


def test_lengths_that_would_leave_float64_are_not_usable() -> None:
    assert [usable_norm(x) for x in (0.0, 1.0, 1e-100, 1e100)] == [True] * 4
    assert [usable_norm(x) for x in (math.nan, math.inf, 1e-101, 1e101, 5e-324)] == [False] * 5


def test_the_cosine_of_extreme_lengths_neither_overflows_nor_underflows() -> None:
    assert cosine_from_products(1e100, 1e200, 1.0) == pytest.approx(1.0)
    assert cosine_from_products(1e-100, 1e-100, 1e-100) == pytest.approx(1.0)
    assert cosine_from_products(0.0, 0.0, 1.0) == 0.0


def test_near_singular_rows_are_solved_to_nine_digits() -> None:
    """A Cholesky factor alone would lose them: κ(A) = 1e5 means κ(AAᵀ) = 1e10."""
    rng = np.random.default_rng(0)
    u, v = (np.linalg.qr(rng.normal(size=(n, n)))[0] for n in (6, 9))
    rows = u @ np.diag(np.geomspace(1.0, 1e-5, 6)) @ v[:6]
    r = rng.normal(size=6)
    assert ridge_step(rows, r, 0.0) == pytest.approx(np.linalg.pinv(rows) @ r, rel=1e-9)


def test_kernels_older_than_their_sources_are_dropped(tmp_path: Path) -> None:
    source, old, new = (tmp_path / name for name in ("rule.py", "rule.old.nbi", "rule.new.nbc"))
    for path, age in ((old, 100), (source, 50), (new, 0)):
        path.touch()
        os.utime(path, (time.time() - age,) * 2)
    drop_stale_kernels(tmp_path)
    assert not old.exists()
    assert new.exists()


def test_without_a_place_for_the_cache_everything_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(function: object, *, cache: bool) -> None:
        assert cache
        raise RuntimeError("cannot cache function: no locator available")  # what numba says in a read-only image

    monkeypatch.setattr(compiled, "_jit", refuse)
    with pytest.warns(RuntimeWarning, match="set NUMBA_CACHE_DIR to a writable folder"):
        assert not compiled._can_cache()


@pytest.mark.parametrize("watched", [True, False])
def test_whoever_waits_for_kernels_is_told_why_once(watched: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    monkeypatch.setattr(said, "isatty", lambda: watched)
    monkeypatch.setattr(sys, "stderr", said)
    monkeypatch.setattr(compiled, "_CACHE", False)
    compiled._say_that_it_takes_long.cache_clear()
    for _ in range(2):
        compiled.compiled_as("f8(f8)")(lambda x: x + 1.0)
    assert said.getvalue().count("once per installation") == watched


def test_zero_stays_zero_when_normalised() -> None:
    v = np.zeros(5)
    normalise(v)
    assert not v.any()


def test_the_cosine_with_nothing_is_zero() -> None:
    assert cosine_from_products(0.0, 4.0, 0.0) == cosine_from_products(0.0, 0.0, 4.0) == 0.0
    assert cosine_from_products(2.0, 4.0, 4.0) == 0.5
