"""Against definitions written out: every pair, every order that ties allow."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch.core import ranking_metrics as ranking

# Few different scores, so that most lists have ties.
LISTS = st.lists(st.tuples(st.integers(-1, 2), st.booleans()), min_size=1, max_size=6)


def columns(pairs: list[tuple[int, bool]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([score for score, _ in pairs], float), np.array([like for _, like in pairs])


def orders(scores: np.ndarray) -> list[tuple[int, ...]]:
    """Every order that puts higher scores first."""
    found = permutations(range(len(scores)))
    return [order for order in found if all(scores[a] >= scores[b] for a, b in pairwise(order))]


@given(LISTS)
def test_auc_counts_every_pair(pairs: list[tuple[int, bool]]) -> None:
    scores, likes = columns(pairs)
    chances = [float(a > b) + 0.5 * float(a == b) for a in scores[likes] for b in scores[~likes]]
    expected = np.mean(chances) if chances else np.nan
    assert ranking.auc(scores, likes) == pytest.approx(expected, nan_ok=True)


@given(LISTS, st.integers(1, 7))
def test_the_top_of_a_list_is_the_average_over_all_orders_that_ties_allow(pairs: list[tuple[int, bool]], k: int) -> None:
    scores, likes = columns(pairs)
    discounts = 1.0 / np.log2(np.arange(len(scores)) + 2.0)
    gains, shares, any_found = [], [], []
    for order in orders(scores):
        top = likes[list(order)][:k]
        gains.append(float(top @ discounts[: len(top)]))
        shares.append(float(top.mean()))
        any_found.append(float(top.any()))
    ideal = discounts[: min(k, likes.sum())].sum()
    assert ranking.ndcg(scores, likes, k) == pytest.approx(np.mean(gains) / ideal if likes.any() else np.nan, nan_ok=True)
    assert ranking.precision(scores, likes, k) == pytest.approx(np.mean(shares))
    assert ranking.hit_rate(scores, likes, k) == pytest.approx(np.mean(any_found))


def test_nobody_to_rank() -> None:
    nothing, none = np.empty(0), np.empty(0, bool)
    for value in (
        ranking.auc(nothing, none),
        ranking.ndcg(nothing, none, 3),
        ranking.precision(nothing, none, 3),
        ranking.hit_rate(nothing, none, 3),
    ):
        assert np.isnan(value)
