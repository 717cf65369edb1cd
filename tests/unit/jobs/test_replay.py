"""How a piece of a log is read: where candidates are, and what was decided."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch.jobs.replay import _decided, _places_of_numbers

NUMBERS = st.integers(-40, 40)


@given(st.lists(NUMBERS, min_size=1, unique=True), st.lists(NUMBERS))
def test_a_table_finds_numbers_as_a_dictionary_does(ids: list[int], wanted: list[int]) -> None:
    found = _places_of_numbers(pl.Series(ids, dtype=pl.Int64), pl.Series(wanted, dtype=pl.Int64))
    places = {one: place for place, one in enumerate(ids)}
    if max(ids) - min(ids) < 4 * len(ids):
        assert found is not None
        assert found.tolist() == [places.get(one, -1) for one in wanted]
    else:
        assert found is None


@pytest.mark.parametrize("kind", [pl.UInt8, pl.UInt32, pl.UInt64, pl.Int32])
def test_numbers_without_a_sign_are_found_too(kind: type[pl.DataType]) -> None:
    found = _places_of_numbers(pl.Series([7, 5, 6], dtype=kind), pl.Series([0, 5, 200, 7], dtype=kind))
    assert found is not None
    assert found.tolist() == [-1, 1, -1, 0]


@pytest.mark.parametrize(
    ("column", "likes", "skips"),
    [
        (pl.Series(["like", "PASS", " Like ", "skip"]), [True, False, True, False], [False, False, False, True]),
        (pl.Series(["like", "pass"], dtype=pl.Categorical), [True, False], None),
        (pl.Series([True, False]), [True, False], None),
        (pl.Series([1, -1, 0]), [True, False, False], None),
        (pl.Series(["pass", "pass"]), [False, False], None),
    ],
)
def test_decisions_are_read_in_every_way_they_are_written(column: pl.Series, likes: list[bool], skips: list[bool] | None) -> None:
    like, skip = _decided(column, str)
    assert like.to_list() == likes
    assert (None if skip is None else skip.to_list()) == skips
