from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kaczmatch
from kaczmatch import InvalidInput, Prior, SwipeLog, fit_prior, fit_prior_from_states

D = 6


def people(seed: int, users: int, swipes: int, *, with_appeal: bool = True) -> dict[str, Any]:
    """Users whose tastes vary around one taste, each with a threshold of their own."""
    rng = np.random.default_rng(seed)
    n = users * swipes
    user = np.repeat(np.arange(users), swipes)
    features = (rng.random((n, D)) < 0.5).astype(float)
    appeal = rng.normal(size=n)
    common = np.array([2.0, -2.0, 1.0, -1.0, 0.0, 0.0])
    tastes = common + 0.3 * rng.normal(size=(users, D))
    x = features / np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1.0)
    score = np.sum(x * tastes[user], axis=1) + 0.5 + appeal * with_appeal + 0.2 * rng.normal(size=n)
    columns = {"user": user, "features": features, "label": np.where(score > 0, 1, -1)}
    return columns | ({"others": kaczmatch.appeal_rows(appeal)} if with_appeal else {})


@pytest.mark.parametrize("slug", ["probit", "probit-diag"])
def test_the_fit_finds_what_people_have_in_common(slug: str) -> None:
    learner = kaczmatch.learner(slug, appeal=True)
    prior = fit_prior(learner, people(0, 60, 60))
    common = np.array([2.0, -2.0, 1.0, -1.0, 0.0, 0.0])
    assert np.corrcoef(prior.weights, common)[0, 1] > 0.97
    assert prior.appeal > 0.5
    assert prior.label_noise is not None
    assert prior.label_noise < 0.1
    newcomer, neutral = learner.start(prior), learner.start(np.zeros(D))
    test = SwipeLog(**people(1, 20, 20))
    right = {
        name: np.mean((learner.score(state, test.features, test.others) > 0) == (test.label > 0))
        for name, state in (("fitted", newcomer), ("neutral", neutral))
    }
    assert right["fitted"] > 0.85 > right["neutral"]


@pytest.mark.parametrize("slug", ["probit", "probit-diag", "tk", "block-nk"])
def test_few_users_are_shrunk_towards_the_neutral_prior(slug: str) -> None:
    learner = kaczmatch.learner(slug)
    columns = people(2, 40, 30, with_appeal=False)
    neutral = Prior.ones(D)
    distances = []
    for users in (0, 1, 2, 40):
        part = {name: column[columns["user"] < users] for name, column in columns.items()}
        prior = fit_prior(learner, part, neutral=neutral, rounds=3)
        assert np.isfinite(prior.weights).all()
        if prior.covariance is not None:
            assert np.linalg.eigvalsh(prior.covariance)[0] > 0.0
        distances.append(float(np.linalg.norm(prior.weights - neutral.weights)))
    assert distances[0] == pytest.approx(0.0, abs=1e-12)
    assert distances[0] < distances[1] < distances[3]


@settings(max_examples=20)
@given(st.permutations(range(5)), st.sampled_from(["probit", "probit-diag", "nk"]))
def test_the_order_of_users_does_not_matter(order: list[int], slug: str) -> None:
    learner = kaczmatch.learner(slug)
    columns = people(3, 5, 8, with_appeal=False)
    shuffled = np.concatenate([np.flatnonzero(columns["user"] == user) for user in order])
    renamed = {name: column[shuffled] for name, column in columns.items()}
    renamed["user"] = np.array([f"user {order.index(user)}" for user in renamed["user"]])
    one, other = (fit_prior(learner, log, rounds=2) for log in (columns, renamed))
    assert one.version == other.version
    assert one.to_bytes() == other.to_bytes()


def test_one_user_with_a_huge_history_counts_once() -> None:
    learner = kaczmatch.learner("probit-diag")
    log = people(4, 20, 30, with_appeal=False)
    rng = np.random.default_rng(5)
    n = 20_000
    loud = {"user": np.full(n, 99), "features": (rng.random((n, D)) < 0.5).astype(float)}
    loud["label"] = np.where(loud["features"][:, 1] > 0, 1, -1)  # the opposite of everybody else
    both = {name: np.concatenate([log[name], loud[name]]) for name in log}
    without, with_loud = (fit_prior(learner, each) for each in (log, both))
    assert np.corrcoef(without.weights, with_loud.weights)[0, 1] > 0.9
    assert with_loud.weights[1] < -0.5


def test_stored_states_give_one_round_of_the_same() -> None:
    learner = kaczmatch.learner("probit")
    log = people(6, 12, 20, with_appeal=False)
    neutral = Prior(np.zeros(D), "nothing")
    states = kaczmatch.replay(learner, log, prior=neutral)
    stored = [learner.from_bytes(state.to_bytes(), neutral) for state in states.values()]
    assert fit_prior_from_states(learner, stored, neutral=neutral).to_bytes() == (
        fit_prior(learner, log, neutral=neutral, rounds=1).to_bytes()
    )
    with pytest.raises(InvalidInput, match="grow it first"):
        fit_prior_from_states(learner, stored, neutral=Prior.ones(D + 1))


def test_the_six_rules_start_from_the_mean_direction_at_the_neutral_length() -> None:
    learner = kaczmatch.learner("block-nk")
    prior = fit_prior(learner, people(7, 30, 60, with_appeal=False), neutral=Prior(np.full(D, D**-0.5)))
    assert np.linalg.norm(prior.weights) == pytest.approx(1.0)
    assert prior.weights[0] > prior.weights[1]


def test_a_fitted_prior_survives_bytes_and_names_its_states() -> None:
    learner = kaczmatch.learner("probit", appeal=True)
    prior = fit_prior(learner, people(8, 10, 15), rounds=2)
    again = Prior.from_bytes(prior.to_bytes())
    assert again.to_bytes() == prior.to_bytes()
    assert again.version.startswith("population-")
    assert again.fingerprint == prior.fingerprint
    state = learner.swipe(learner.start(prior), np.ones(D), "like")
    assert learner.from_bytes(state.to_bytes(), again) == state


def test_correlations_that_few_people_cannot_show_are_not_believed() -> None:
    learner = kaczmatch.learner("probit")
    columns = people(9, 200, 40, with_appeal=False)
    columns["features"][:, 5] = columns["features"][:, 4]  # tastes for these two cannot be told apart

    def largest_correlation(users: int) -> float:
        part = {name: column[columns["user"] < users] for name, column in columns.items()}
        covariance = fit_prior(learner, part).covariance
        assert covariance is not None
        sd = np.sqrt(np.diag(covariance))
        return float(np.abs(covariance / np.outer(sd, sd) - np.eye(D + 2)).max())

    assert largest_correlation(2) < 0.1
    assert largest_correlation(2) < largest_correlation(200)


def test_the_diagonal_learner_starts_from_what_the_full_covariance_finds() -> None:
    """A diagonal belief cannot tell the threshold from tags that everybody likes, and would fit a poorer prior."""
    rng = np.random.default_rng(0)
    candidates = (rng.random((80, 6)) < 0.5).astype(float)
    rows = rng.integers(0, 80, 900)
    log = {
        "user": np.repeat(np.arange(30), 30),
        "candidate": rows,
        "candidates": candidates,
        "label": np.where(candidates[rows].sum(axis=1) + rng.logistic(size=900) > 3.0, 1, -1),
    }
    full, diagonal = (kaczmatch.fit_prior(kaczmatch.learner(slug), log) for slug in ("probit", "probit-diag"))
    assert full.version == diagonal.version
    assert diagonal.weights.min() > 0.0
