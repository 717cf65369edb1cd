"""Each sampler's own mathematics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from kaczmatch import learner
from kaczmatch.learners.belief.gaussian import GaussianLearner
from kaczmatch.recommend.samplers.information import entropy, expected_information
from kaczmatch.recommend.samplers.ranked_draw import _shares, draw_by_samples
from kaczmatch.recommend.samplers.registry import sampler
from kaczmatch.recommend.samplers.sampled_scores import to_match_probabilities
from kaczmatch.recommend.samplers.weighted_draw import draw_weighted, inclusion_probabilities

# A weight of 1e-12 of the largest is as good as none.
weights = st.lists(st.one_of(st.just(0.0), st.floats(1e-5, 1e6)), min_size=1, max_size=40).map(np.array)


@given(weights, st.integers(0, 45))
def test_chances_add_up_and_rise_with_the_weight(w: np.ndarray, size: int) -> None:
    found = inclusion_probabilities(w, size)
    assert found.sum() == pytest.approx(min(size, len(w)), rel=1e-6, abs=1e-9)
    assert np.all((found >= 0.0) & (found <= 1.0 + 1e-12))
    order = np.argsort(w)
    assert np.all(np.diff(found[order]) >= -1e-9)


@given(weights, st.integers(0, 45), st.integers(0, 9))
def test_a_race_fills_up_with_those_who_do_not_run(w: np.ndarray, size: int, seed: int) -> None:
    rows = draw_weighted(w, size, np.random.default_rng(seed)).rows
    assert len(rows) == len(set(rows.tolist())) == min(size, len(w))
    runners = int(np.count_nonzero(w))
    assert np.count_nonzero(w[rows]) == min(size, runners)
    assert np.all(w[rows[: min(size, runners)]] > 0.0)


def test_all_weights_zero_means_everybody_alike() -> None:
    assert inclusion_probabilities(np.zeros(8), 2).tolist() == [0.25] * 8
    rng = np.random.default_rng(0)
    counts = np.bincount(np.concatenate([draw_weighted(np.zeros(8), 2, rng).rows for _ in range(4000)]), minlength=8)
    assert np.abs(counts / 4000 - 0.25).max() < 0.025


def test_inclusion_is_close_to_monte_carlo() -> None:
    """Within .005 for dozens of rows; for a handful of very unequal ones nearer than k·w/Σw; exact for one draw."""
    rng = np.random.default_rng(5)
    w, size, rounds = rng.integers(20, 41, 40).astype(float), 16, 40_000
    keys = rng.exponential(size=(rounds, len(w))) / w
    drawn = np.argpartition(keys, size, axis=1)[:, :size]
    frequency = np.bincount(drawn.ravel(), minlength=len(w)) / rounds
    assert np.abs(inclusion_probabilities(w, size) - frequency).max() < 0.005 + 4.0 * np.sqrt(0.25 / rounds)
    assert inclusion_probabilities(np.array([10.0, 1.0, 1e-320]), 1) == pytest.approx([10 / 11, 1 / 11, 0.0])
    unequal = np.array([50.0, 5.0, 1.0, 1.0, 1.0, 1.0])
    keys = rng.exponential(size=(rounds, 6)) / unequal
    frequency = np.bincount(np.argsort(keys, axis=1)[:, :2].ravel(), minlength=6) / rounds
    naive = np.minimum(2 * unequal / unequal.sum(), 1.0)
    assert np.abs(inclusion_probabilities(unequal, 2) - frequency).max() < np.abs(naive - frequency).max() / 3


def test_the_share_of_draws_makes_inverse_probabilities_unbiased() -> None:
    rng = np.random.default_rng(2)
    total = np.zeros(5)
    for _ in range(3000):
        scores = rng.normal(size=(40, 5)) + np.array([1.0, 0.5, 0.0, 0.0, -0.5])
        drawn = draw_by_samples(scores, 2, rng)
        total[drawn.rows] += 1.0 / drawn.inclusion_probabilities(2)[drawn.rows]
    assert total / 3000 == pytest.approx(np.ones(5), abs=0.08)


def test_tag_stuffing_is_capped_and_no_tags_are_still_shown(crowd: Callable[..., Any]) -> None:
    norms = np.append(np.full(98, 30.0), [60.0, 0.0])

    class Norms:
        squared_norms = norms
        capped = np.zeros(100, np.bool_)

        def __len__(self) -> int:
            return 100

    published = sampler("row-norm").draw(Norms(), 10, np.random.default_rng(0)).inclusion_probabilities(10)  # type: ignore[arg-type]
    assert published[98] / published[0] == pytest.approx(1.9, abs=0.1)
    assert published[99] == 0.0
    fair = sampler("row-norm", least=0.5, most=1.2).draw(Norms(), 10, np.random.default_rng(0)).inclusion_probabilities(10)  # type: ignore[arg-type]
    assert fair[98] / fair[0] == pytest.approx(1.2, abs=0.03)
    assert fair[99] / fair[0] == pytest.approx(0.5, abs=0.03)


@given(st.floats(-4.0, 4.0), st.floats(1e-4, 9.0))
def test_information_is_that_of_a_monte_carlo(mean: float, spread: float) -> None:
    rule = learner("probit")
    assert isinstance(rule, GaussianLearner)
    tastes = mean + np.sqrt(spread) * np.random.default_rng(0).standard_normal(20_000)
    p = rule.label_noise + (1 - 2 * rule.label_noise) * ndtr(tastes / np.sqrt(rule.alpha))
    expected = entropy(p.mean()) - entropy(p).mean()
    assert expected_information(np.array([mean]), np.array([spread]), rule.alpha, rule.label_noise)[0] == pytest.approx(
        expected, abs=0.02
    )


def test_information_does_not_ask_the_same_twice() -> None:
    """Of two twins and a stranger, the second card is the stranger."""
    rule = learner("probit")
    features = np.array([[1.0, 0, 0, 0], [1.0, 0, 0, 0], [0, 0.0, 1, 1]])

    class Twins:
        capped = np.zeros(3, np.bool_)
        others = np.zeros((3, 2))

        class viewer:  # noqa: N801
            learner = rule
            state = rule.start(np.zeros(4))

        def __init__(self) -> None:
            self.features = features

        def __len__(self) -> int:
            return 3

    for seed in range(5):
        rows = sampler("information").draw(Twins(), 2, np.random.default_rng(seed)).rows  # type: ignore[arg-type]
        assert 2 in rows.tolist()


@given(st.lists(st.floats(-30.0, 30.0), min_size=1, max_size=40), st.floats(0.0, 0.49))
def test_probabilities_without_an_exponential_are_those_of_the_normal(z: list[float], label_noise: float) -> None:
    scores = np.array([z, z], np.float32)
    expected = (label_noise + (1.0 - 2.0 * label_noise) * ndtr(2.0 * scores[0].astype(float))) * 0.5
    to_match_probabilities(scores, np.full(len(z), 2.0, np.float32), np.float32(label_noise), np.full(len(z), 0.5, np.float32))
    np.testing.assert_allclose(scores, [expected, expected], atol=6e-7)


@given(st.integers(0, 10_000))
def test_mutual_without_a_draw_is_greedy_however_unsure_the_belief(seed: int) -> None:
    """What a draw leaves open is averaged over, not taken for certain: a sure 0.7 comes before a guess."""
    rng = np.random.default_rng(seed)
    rule = learner("probit-diag")
    state = rule.start(np.zeros(6))
    for row in (rng.random((8, 6)) < 0.4).astype(float) * [1, 1, 1, 1, 0, 0]:  # of two tags nothing is known
        state = rule.swipe(state, row, 1 if rng.random() < 0.5 else -1)
    features, back = (rng.random((12, 6)) < 0.5).astype(float), rng.random(12)

    class Some:
        capped = np.zeros(12, np.bool_)
        others = np.zeros((12, 2))
        backward = back
        mutual = rule.probability(state, features) * back

        class viewer:  # noqa: N801
            learner = rule

        def __init__(self) -> None:
            self.features, self.viewer.state = features, state

        def __len__(self) -> int:
            return 12

    pool: Any = Some()
    found = sampler("mutual", temper=0.0).draw(pool, 12, rng).rows
    best = sampler("greedy").draw(pool, 12, rng).rows
    np.testing.assert_allclose(pool.mutual[found], pool.mutual[best], atol=2e-6)


@given(st.integers(1, 12), st.integers(0, 14), st.integers(0, 99))
def test_chances_of_one_of_many_are_shares_of_rows_for_any_depth(candidates: int, size: int, seed: int) -> None:
    """Whether the depth is within what was drawn or beyond it."""
    scores = np.random.default_rng(seed).random((9, candidates)).astype(np.float32)
    draw = draw_by_samples(scores, size, np.random.default_rng(0))
    places = np.argsort(np.argsort(-scores, axis=1), axis=1)
    for n in range(candidates + 2):
        assert draw.inclusion_probabilities(n) == pytest.approx((places < n).mean(axis=0))


def test_decks_of_every_size_run_one_compiled_kernel() -> None:
    """The service compiles it when it starts. A request that needed it for another kind of array would wait for a second."""
    scores = np.random.default_rng(1).random((8, 20), np.float32)
    for size in (1, 2, 7):
        inclusion = draw_by_samples(scores, size, np.random.default_rng(0)).conditional(np.empty(0, np.int64))
        for asked in (1, 2, 7, 19):
            inclusion(asked)
    assert len({kind for kind in _shares.signatures if "float32" in str(kind)}) == 1  # type: ignore[attr-defined]
