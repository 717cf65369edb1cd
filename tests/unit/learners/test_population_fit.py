"""Fitting a population with traits, and finding out whether they pay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kaczmatch import InvalidInput, SwipeLog, fit_population
from kaczmatch.learners.belief.gaussian import Probit, ProbitDiagonal, ProbitTraits
from kaczmatch.learners.population import trait_fit
from kaczmatch.learners.population.population_fit import clearly_lower, people_with_history
from kaczmatch.learners.population.trait_fit import taste_directions
from kaczmatch.runner.local import LocalRunner
from kaczmatch.simulation.world import HONEST, PAPER, Condition, world


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
    found = fit_population(log)
    assert found.learner == ProbitTraits()
    assert found.sites is not None
    assert len(found.fitted) == len(found.names) == 60
    first, again = (fit_population(log, learner=ProbitTraits(traits=1), traits=True) for _ in range(2))
    assert first.prior.version == again.prior.version
    assert first.sites is not None
    assert again.sites is not None
    assert np.array_equal(first.sites.sites, again.sites.sites)


def test_progress_counts_the_steps_of_each_stage() -> None:
    told = dict[str, list[tuple[int, int]]]()
    fit_population(simulated(0, shared=2.0), progress=lambda what, done, steps: told.setdefault(what, []).append((done, steps)))
    assert list(told) == ["with traits or without", "traits, and where people start"]
    for steps in told.values():
        assert steps == [(done, len(steps) - 1) for done in range(len(steps))]


def test_directions_in_which_tastes_go_together_are_found_and_independent_tags_have_none() -> None:
    rng = np.random.default_rng(0)
    loadings = rng.uniform(-0.8, 0.8, (12, 2)) / np.sqrt(2.0)
    rest = 1.0 - np.sum(loadings**2, axis=1)
    found, alone = taste_directions(loadings @ loadings.T + np.diag(rest), 2)
    np.testing.assert_allclose(found @ found.T, loadings @ loadings.T, atol=0.02)
    np.testing.assert_allclose(alone, rest, atol=0.02)
    assert not taste_directions(np.eye(12), 2)[0].any()


def test_swipes_tell_of_traits_and_tags_of_directions() -> None:
    """Both are there at once, each in the number that its setting says."""
    found = fit_population(simulated(2, shared=1.0, users=30, tags=12), learner=ProbitTraits(traits=3, directions=5), traits=True)
    assert found.sites is not None
    assert found.sites.sites.shape[1] == 2 * 3
    assert (found.sites.sites[:, :3] > 0).all()
    assert (len(found.prior.traits), found.prior.directions) == (3, 5)
    assert np.asarray(found.prior.trait_map)[:, :5].any(axis=0).all()


def test_where_nothing_is_shared_there_are_no_traits() -> None:
    found = fit_population(simulated(1, shared=0.0))
    assert found.learner == ProbitDiagonal(appeal=True)
    assert found.sites is None


def test_what_takes_the_place_of_traits_has_the_same_form_and_forgets_alike() -> None:
    log = simulated(1, shared=0.0, users=30, tags=6)
    for full, kind in ((False, ProbitDiagonal), (True, Probit)):
        rule = ProbitTraits(traits=1, full=full, half_life_days=90.0)
        assert fit_population(log, learner=rule, traits=True).learner == rule
        assert fit_population(log, learner=rule, traits=False).learner == kind(appeal=True, half_life_days=90.0)


@pytest.mark.parametrize(
    ("lower_by", "spread", "clear"),
    [
        (0.02, 0.05, True),  # four standard errors
        (0.006, 0.05, True),  # a little over one
        (0.004, 0.05, False),  # a little under one
        (0.0, 0.0, False),  # alike
        (-0.004, 0.05, False),  # higher, within an error
        (-0.02, 0.05, False),
    ],
)
def test_a_log_loss_is_lower_where_it_is_so_by_a_standard_error(lower_by: float, spread: float, clear: bool) -> None:
    apart = np.tile([spread, -spread], 50) * np.sqrt(99 / 100) - lower_by  # a standard error of spread/10
    others = np.linspace(0.4, 0.7, 100)
    assert clearly_lower(others + apart, others) is clear


def test_without_people_to_compare_nothing_is_lower() -> None:
    assert not clearly_lower(np.empty(0), np.empty(0))
    assert not clearly_lower(np.array([0.1]), np.array([0.9]))  # one alone: there is no error to go by


def test_one_person_alone_has_no_traits() -> None:
    log = simulated(0, shared=2.0)
    assert fit_population(log.select(np.asarray(log.user) == 0)).sites is None


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
    assert fit_population(log).sites is None


@pytest.mark.parametrize("condition", [PAPER, HONEST], ids=["paper", "honest"])
def test_in_simulated_populations_nothing_is_shared(condition: Condition) -> None:
    one, swipes = world(replace(condition, users=40, sessions=4), 0), 100
    user, whom = np.repeat(np.arange(40), swipes), one.pools.reshape(40, -1)[:, :swipes].ravel()
    turned = one.turned[:, :swipes].ravel() == 1
    log = SwipeLog(
        user=user,
        candidate=whom,
        candidates=one.tags,
        label=np.where(one.likes[0][user, whom] ^ turned, 1, -1),
        at=np.tile(np.arange(swipes), 40).astype(float),
    )
    assert fit_population(log).sites is None


def test_people_with_a_history_are_preferred() -> None:
    swipes = np.array([3, 50, 0, 21, 4, 90, 30])
    assert people_with_history(swipes, 3).tolist() == [1, 3, 6]
    assert people_with_history(swipes, 5).tolist() == [1, 3, 4, 5, 6]
    assert people_with_history(swipes, 9).tolist() == [0, 1, 3, 4, 5, 6]


def test_a_log_without_times_or_candidates_is_refused() -> None:
    with pytest.raises(InvalidInput, match="who was swiped"):
        fit_population(SwipeLog(user=[0], features=np.ones((1, 2)), label=[1]))


def test_the_number_of_workers_does_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trait_fit, "_USERS", 7)  # so that sixty people are many parts
    monkeypatch.setattr(trait_fit, "_CANDIDATES", 7)
    log = simulated(2, shared=2.0)
    one, four = (fit_population(log, traits=True, runner=LocalRunner(workers)) for workers in (1, 4))
    assert one.prior.to_bytes() == four.prior.to_bytes()
    assert one.sites is not None
    assert four.sites is not None
    assert one.sites.sites.tobytes() == four.sites.sites.tobytes()
