from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch.core.vectors import Vector
from kaczmatch.solvers.alias import AliasTable, alias_table


def probabilities(table: AliasTable) -> Vector:
    """What the boxes hold of each outcome, by adding up."""
    m = len(table.share)
    held = np.clip(table.share, 0.0, 1.0)
    total = held.copy()
    np.add.at(total, table.other, 1.0 - held)
    return total / m


weights = st.lists(st.one_of(st.just(0.0), st.floats(1e-6, 1e6)), min_size=1, max_size=60).filter(any)


@given(weights)
def test_the_table_holds_each_weight(values: list[float]) -> None:
    given_weights = np.array(values)
    table = alias_table(given_weights)
    assert probabilities(table) == pytest.approx(given_weights / given_weights.sum(), abs=1e-12)


@given(weights, st.integers(0, 2**32))
def test_what_has_no_weight_is_never_drawn(values: list[float], seed: int) -> None:
    drawn = alias_table(np.array(values)).draw(np.random.default_rng(seed), 300)
    assert np.all(np.array(values)[drawn] > 0.0)


def test_draws_come_as_often_as_their_weight_says() -> None:
    drawn = alias_table(np.array([1.0, 2.0, 0.0, 7.0])).draw(np.random.default_rng(0), 100_000)
    assert np.bincount(drawn, minlength=4) / 100_000 == pytest.approx([0.1, 0.2, 0.0, 0.7], abs=0.005)


def test_a_draw_takes_one_uniform_number_whatever_the_number_of_weights() -> None:
    for m in (1, 10, 100_000):
        rng, other = np.random.default_rng(5), np.random.default_rng(5)
        alias_table(np.random.default_rng(m).random(m) + 0.1).draw(rng, 50)
        other.random(50)
        assert rng.random() == other.random()
