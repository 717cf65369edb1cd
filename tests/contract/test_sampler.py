"""What every sampler keeps: different people, stated probabilities that come true, and an answer in every corner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from kaczmatch import InvalidInput
from kaczmatch.recommend.samplers.contract import Pool, Sampler
from kaczmatch.recommend.samplers.registry import SAMPLERS, sampler
from kaczmatch.recommend.scoring import product

NEEDS_BELIEF = {"thompson", "mutual", "information"}


@pytest.fixture(params=list(SAMPLERS))
def one(request: pytest.FixtureRequest) -> Sampler:
    return sampler(request.param)


def make_pool(people: Any, rows: np.ndarray, **changes: Any) -> Pool:
    features = np.array([people.profiles[i].features for i in rows.tolist()]).reshape(len(rows), 13)
    return Pool(
        people.viewer(0),
        product,
        squared_norms=np.einsum("ij,ij->i", features, features),
        features=lambda: (features, np.zeros(len(rows))),
        states=lambda: people.states_of(rows.tolist()),
        **changes,
    )


def test_it_draws_different_rows_with_probabilities(crowd: Callable[..., Any], one: Sampler) -> None:
    people = crowd(60)
    pool = make_pool(people, np.arange(1, 41))
    drawn = one.draw(pool, 10, np.random.default_rng(0))
    assert len(drawn.rows) == len(set(drawn.rows.tolist())) == 10
    for size in (0, 1, 10, 39, 40, 41):
        chances = drawn.inclusion_probabilities(size)
        assert chances.shape == (40,)
        assert np.all((chances >= 0.0) & (chances <= 1.0))
        assert chances.sum() == pytest.approx(min(size, 40), rel=0.02)
    assert np.all(drawn.inclusion_probabilities(10)[drawn.rows] > 0.0)


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_small_and_empty_pools_are_shown_whole(crowd: Callable[..., Any], one: Sampler, rows: int) -> None:
    pool = make_pool(crowd(60), np.arange(1, rows + 1))
    drawn = one.draw(pool, 8, np.random.default_rng(0))
    assert sorted(drawn.rows.tolist()) == list(range(rows))
    assert drawn.inclusion_probabilities(8).tolist() == [1.0] * rows


def test_the_same_seed_draws_the_same(crowd: Callable[..., Any], one: Sampler) -> None:
    people = crowd(60)
    draws = [one.draw(make_pool(people, np.arange(1, 41)), 10, np.random.default_rng(7)) for _ in range(2)]
    assert draws[0].rows.tolist() == draws[1].rows.tolist()
    assert draws[0].inclusion_probabilities(10).tolist() == draws[1].inclusion_probabilities(10).tolist()


def test_who_has_had_their_share_comes_last(crowd: Callable[..., Any], one: Sampler) -> None:
    people = crowd(60)
    capped = np.arange(40) % 2 == 0
    pool = make_pool(people, np.arange(1, 41), capped=capped)
    drawn = one.draw(pool, 20, np.random.default_rng(0))
    assert not capped[drawn.rows].any()
    more = one.draw(pool, 30, np.random.default_rng(0))
    assert np.count_nonzero(capped[more.rows]) == 10


def test_stated_probabilities_come_true(crowd: Callable[..., Any], one: Sampler) -> None:
    """Frequencies over many draws against the stated probabilities, by chi-square, and their inverse against 1."""
    people = crowd(60)
    rng = np.random.default_rng(11)
    rounds, size, n = 1500, 4, 12
    settings = {"draws": 64} if one.slug in {"thompson", "mutual"} else {}
    shown, stated, weighed = np.zeros(n), np.zeros(n), np.zeros(n)
    for _ in range(rounds):
        drawn = sampler(one.slug, **settings).draw(make_pool(people, np.arange(1, n + 1)), size, rng)
        chances = drawn.inclusion_probabilities(size)
        shown[drawn.rows] += 1
        stated += chances
        weighed[drawn.rows] += 1.0 / chances[drawn.rows]
    chance = stated / rounds
    if one.slug in {"greedy", "information"}:  # nothing left to chance
        assert shown.tolist() == (rounds * (chance > 0.5)).tolist()
        return
    spread = rounds * chance * (1.0 - chance)
    free = spread > 5.0
    statistic = float((((shown - rounds * chance) ** 2)[free] / spread[free]).sum())
    # Negatively correlated counts of one draw: below chi-square with as many degrees of freedom as rows.
    assert statistic < chi2.ppf(0.999, int(free.sum()))
    assert np.abs(shown / rounds - chance).max() < 0.04
    supported = chance > 0.05
    np.testing.assert_allclose(weighed[supported] / rounds, 1.0, atol=0.25)
    assert weighed[supported].mean() / rounds == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("slug", sorted(NEEDS_BELIEF))
def test_without_a_belief_the_message_names_a_learner_that_has_one(crowd: Callable[..., Any], slug: str) -> None:
    with pytest.raises(InvalidInput, match="'probit-diag', not 'tk'"):
        sampler(slug).draw(make_pool(crowd(60, "tk"), np.arange(1, 9)), 3, np.random.default_rng(0))


@pytest.mark.parametrize("slug", sorted(SAMPLERS.keys() - NEEDS_BELIEF))
@pytest.mark.parametrize("rule", ["tk", "block-nk", "logistic", "rocchio"])
def test_the_others_take_any_learner(crowd: Callable[..., Any], slug: str, rule: str) -> None:
    drawn = sampler(slug).draw(make_pool(crowd(60, rule), np.arange(1, 21)), 5, np.random.default_rng(0))
    assert len(set(drawn.rows.tolist())) == 5


def test_unknown_samplers_and_settings_suggest_the_nearest() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'mutual'"):
        sampler("mutuel")
    with pytest.raises(InvalidInput, match="did you mean 'temper'"):
        sampler("mutual", tempr=1.0)
    for slug, bad in (
        ("mutual", {"temper": -1.0}),
        ("mutual", {"draws": 0}),
        ("row-norm", {"most": 0.5}),
        ("row-norm", {"least": 2.0}),
        ("information", {"pool_size": 0}),
        ("thompson", {"draws": 1.5}),
    ):
        with pytest.raises(InvalidInput):
            sampler(slug, **bad)
