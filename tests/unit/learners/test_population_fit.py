"""Fitting a population with traits, and selecting how many."""

from __future__ import annotations

import numpy as np
import pytest

from kaczmatch import InvalidInput, SwipeLog, fit_population
from kaczmatch.learners.population import trait_fit
from kaczmatch.learners.population.population_fit import people_with_history
from kaczmatch.learners.population.taste_directions import TasteDirections
from kaczmatch.learners.population.trait_selection import TraitChoice, selected
from kaczmatch.runner.local import LocalRunner


def simulated(seed: int, *, shared: float, users: int = 60, swipes: int = 40, candidates: int = 50, tags: int = 6) -> SwipeLog:
    """Tastes over tags, and over two traits that nobody's tags tell, `shared` strong."""
    rng = np.random.default_rng(seed)
    features = (rng.random((candidates, tags)) < 0.5).astype(float)
    tastes, weights, hidden = rng.normal(size=(users, tags)), rng.normal(size=(users, 2)), rng.normal(size=(candidates, 2))
    user, whom = np.repeat(np.arange(users), swipes), rng.integers(0, candidates, users * swipes)
    value = (tastes[user] * features[whom]).sum(axis=1) / np.sqrt(tags / 2) + rng.normal(size=len(user))
    value += shared * (weights[user] * hidden[whom]).sum(axis=1)
    return SwipeLog(
        user=user, candidate=whom, candidates=features, label=np.where(value > 0, 1, -1), at=np.tile(np.arange(swipes), users)
    )


def test_traits_that_no_tag_tells_are_found_the_same_each_time() -> None:
    log = simulated(0, shared=2.0)
    found = fit_population(log, choices=(0, 4))
    assert found.traits == 4
    assert found.sites is not None
    assert len(found.fitted) == len(found.names) == 60
    first, again = (fit_population(log, choices=(1,)) for _ in range(2))
    assert first.prior.version == again.prior.version
    assert first.sites is not None
    assert again.sites is not None
    assert np.array_equal(first.sites.sites, again.sites.sites)


def test_directions_in_which_tastes_go_together_are_found_and_independent_tags_have_none() -> None:
    rng = np.random.default_rng(0)
    loadings = rng.uniform(-0.8, 0.8, (12, 2)) / np.sqrt(2.0)
    rest = 1.0 - np.sum(loadings**2, axis=1)
    found = TasteDirections.of(loadings @ loadings.T + np.diag(rest), 2)
    np.testing.assert_allclose(found.loadings @ found.loadings.T, loadings @ loadings.T, atol=0.02)
    np.testing.assert_allclose(found.rest, rest, atol=0.02)
    assert not TasteDirections.of(np.eye(12), 2).loadings.any()


def test_eight_traits_are_one_that_swipes_tell_and_seven_directions_of_tags() -> None:
    found = fit_population(simulated(2, shared=1.0, users=30, tags=12), choices=(8,))
    assert found.sites is not None
    precisions = found.sites.sites[:, :8]
    assert (precisions[:, 0] > 0).all()
    assert not precisions[:, 1:].any()


def test_where_nothing_is_shared_the_fewest_traits_are_taken() -> None:
    found = fit_population(simulated(1, shared=0.0), choices=(0, 4))
    assert found.traits == 0
    assert found.sites is None
    assert [each.traits for each in found.choices] == [0, 4]


def test_covariances_of_tags_are_kept_where_they_are_asked_for_with_traits_and_without() -> None:
    log = simulated(1, shared=0.0, users=30, tags=6)
    for choice, slugs in ((0, ("probit-diag", "probit")), (1, ("probit-traits", "probit-traits"))):
        sizes = []
        for full, slug in zip((False, True), slugs, strict=True):
            found = fit_population(log, choices=(choice,), full=full)
            assert (found.learner.slug, found.traits) == (slug, choice)
            sizes.append(len(found.learner.start(found.prior).cells))
        assert sizes[1] > sizes[0]


def tried(traits: int, behind: float, error: float, ahead: float = 0.02, ahead_error: float = 0.01) -> TraitChoice:
    return TraitChoice(traits, 0.58 + behind, behind, error, ahead if traits else 0.0, ahead_error if traits else 0.0)


def test_the_fewest_within_an_error_of_the_best_are_selected() -> None:
    assert selected([tried(0, 0.02, 0.01), tried(1, 0.005, 0.006), tried(4, 0.0, 0.0)]) == 1


def test_a_gain_that_does_not_matter_buys_no_traits() -> None:
    assert selected([tried(0, 0.0001, 0.00001), tried(8, 0.0, 0.0)]) == 0


def test_traits_that_do_not_rank_better_are_not_selected_however_well_they_predict() -> None:
    assert selected([tried(0, 0.02, 0.001), tried(1, 0.001, 0.001, ahead=0.005), tried(4, 0.0, 0.0)]) == 4
    assert selected([tried(0, 0.02, 0.001), tried(1, 0.001, 0.001, ahead=0.005), tried(4, 0.0, 0.0, ahead=-0.01)]) == 0


def test_shares_of_likes_that_are_predicted_better_buy_no_traits() -> None:
    """Everybody likes so many, whoever it is: there is nothing to rank by."""
    rng, users, swipes = np.random.default_rng(0), 60, 60
    log = SwipeLog(
        user=np.repeat(np.arange(users), swipes),
        candidate=rng.integers(0, 300, users * swipes),
        candidates=(rng.random((300, 20)) < 0.5).astype(float),
        label=np.where(rng.random(users * swipes) < 0.8, 1, -1),
        at=np.tile(np.arange(swipes), users),
    )
    found = fit_population(log, choices=(0, 1))
    assert found.choices[1].behind == 0.0  # traits predict best
    assert found.choices[0].behind > found.choices[0].error
    assert found.traits == 0


def test_people_with_a_history_are_preferred() -> None:
    swipes = np.array([3, 50, 0, 21, 4, 90, 30])
    assert people_with_history(swipes, 3).tolist() == [1, 3, 6]
    assert people_with_history(swipes, 5).tolist() == [1, 3, 4, 5, 6]
    assert people_with_history(swipes, 9).tolist() == [0, 1, 3, 4, 5, 6]


def test_a_log_without_times_or_candidates_is_refused() -> None:
    with pytest.raises(InvalidInput, match="who was swiped and when"):
        fit_population(SwipeLog(user=[0], features=np.ones((1, 2)), label=[1]))


def test_the_number_of_workers_does_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trait_fit, "_USERS", 7)  # so that sixty people are many parts
    monkeypatch.setattr(trait_fit, "_CANDIDATES", 7)
    log = simulated(2, shared=2.0)
    one, four = (fit_population(log, choices=(4,), runner=LocalRunner(workers)) for workers in (1, 4))
    assert one.prior.to_bytes() == four.prior.to_bytes()
    assert one.sites is not None
    assert four.sites is not None
    assert one.sites.sites.tobytes() == four.sites.sites.tobytes()
