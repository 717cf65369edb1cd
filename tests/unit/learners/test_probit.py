"""The belief learners against the mathematics they approximate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

import kaczmatch
from kaczmatch import BeliefLearner, InvalidInput, Prior, ShownCandidate

BELIEFS = ["probit", "probit-diag"]


def belief(slug: str, **settings: float) -> BeliefLearner:
    learner = kaczmatch.learner(slug, **settings)
    assert isinstance(learner, BeliefLearner)
    return learner


def exact_posterior(
    mean: np.ndarray, covariance: np.ndarray, x: np.ndarray, y: int, alpha: float, label_noise: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """Evidence, mean and covariance of N(mean, covariance) after one probit swipe with label noise, by quadrature over a grid."""
    grid = np.linspace(-9, 9, 1201)
    standard = np.stack(np.meshgrid(grid, grid, indexing="ij"), -1).reshape(-1, 2)
    tastes = mean + standard @ np.linalg.cholesky(covariance).T
    weight = np.exp(-0.5 * (standard**2).sum(1))
    likelihood = label_noise + (1 - 2 * label_noise) * ndtr(y * (tastes @ x) / np.sqrt(alpha))
    evidence = (weight * likelihood).sum() / weight.sum()
    posterior = weight * likelihood / (weight * likelihood).sum()
    new_mean = posterior @ tastes
    centred = tastes - new_mean
    return float(evidence), new_mean, (centred * posterior[:, None]).T @ centred


@pytest.mark.parametrize("y", [1, -1])
@pytest.mark.parametrize("threshold", [-2.0, 0.3, 2.5])
def test_one_swipe_matches_the_moments_of_the_exact_posterior(y: int, threshold: float) -> None:
    covariance = np.array([[1.3, 0.4, 0.0], [0.4, 0.7, 0.0], [0.0, 0.0, 1.0]])
    probit = belief("probit", alpha=0.3, label_noise=0.1)
    state = probit.start(Prior(np.array([0.8]), "p", threshold, covariance=covariance))
    a = np.array([2.0])
    evidence, mean, moments = exact_posterior(probit.mean(state), covariance[:2, :2], np.ones(2), y, 0.3, 0.1)
    likely = float(probit.probability(state, a))
    assert (likely if y > 0 else 1 - likely) == pytest.approx(evidence, abs=1e-6)
    after = probit.swipe(state, a, y)
    assert probit.mean(after) == pytest.approx(mean, abs=1e-6)
    assert probit.covariance(after) == pytest.approx(moments, abs=1e-6)


def independent(d: int) -> np.ndarray:
    """What `probit-diag` takes for independent, a row each: weights, the threshold beyond what they ask for, appeal."""
    rows = np.eye(d + 2)
    rows[d, :d] = 0.52 / np.sqrt(2 * d)
    return rows


@pytest.mark.parametrize("y", [1, -1])
def test_the_diagonal_learner_keeps_the_variances_of_the_full_one(y: int) -> None:
    full, diagonal = belief("probit", appeal=True), belief("probit-diag", appeal=True)
    a = np.array([1.0, 0.0, 1.0, 1.0])
    states = [learner.swipe(learner.start(np.ones(4)), ShownCandidate(a, [0.4, 0.0]), y) for learner in (full, diagonal)]
    assert full.mean(states[0]) == pytest.approx(diagonal.mean(states[1]))
    rows = independent(4)
    found = [rows @ learner.covariance(state) @ rows.T for learner, state in zip((full, diagonal), states, strict=True)]
    assert np.diag(found[0]) == pytest.approx(np.diag(found[1]))
    assert found[1] == pytest.approx(np.diag(np.diag(found[1])))


def test_nobody_knows_beforehand_what_share_somebody_likes() -> None:
    """Of people drawn from `Prior.ones`, a share of 0 to 10 % is about as likely as one of 70 to 80 %, or any between."""
    rng = np.random.default_rng(0)
    candidates = (rng.random((500, 60)) < 0.5).astype(float)
    for slug in BELIEFS:
        learner = belief(slug)
        tastes = learner.draws(learner.start(Prior.ones(60)), 4_000, rng)
        rates = (learner.coordinates(candidates) @ tastes.T > 0.0).mean(axis=0)
        shares = np.histogram(rates, bins=10, range=(0, 1))[0] / 4_000
        assert shares[:8] == pytest.approx(np.full(8, 0.11), abs=0.05)


def test_defaults_are_one_set_for_everything() -> None:
    for slug in BELIEFS:
        learner = belief(slug)
        assert learner == kaczmatch.learner(slug, alpha=0.02, label_noise=0.2, tag_sd=1.0, threshold_sd=0.5, appeal=False)
        state = learner.start(Prior.ones(60))
        assert learner.mean(state)[:60].tolist() == [1.0] * 60
        assert learner.mean(state)[60] == pytest.approx(-5.70, abs=0.005)
        covariance = learner.covariance(state)
        assert np.array_equal(covariance[:60, :60], np.eye(60))
        assert covariance[60, :60] == pytest.approx(np.full(60, -0.52 / np.sqrt(120)))
        assert covariance[60, 60] == pytest.approx(0.5**2 + 0.52**2 / 2)
        assert learner.covariance(learner.start(np.zeros(60)))[:60, 60].any() == (slug == "probit-diag")


def test_bytes_a_user_at_sixty_tags() -> None:
    full, diagonal = (len(belief(slug).start(Prior.ones(60)).to_bytes()) for slug in ("probit", "probit-diag"))
    assert full <= 15.5 * 1024
    assert diagonal <= 1.05 * 1024


@pytest.mark.parametrize("slug", BELIEFS)
def test_forgetting_goes_towards_the_prior(slug: str) -> None:
    learner = belief(slug)
    rng = np.random.default_rng(0)
    start = learner.start(rng.normal(size=6))
    state = start
    for _ in range(30):
        state = learner.swipe(state, (rng.random(6) < 0.5).astype(float), int(rng.choice([-1, 1])))
    assert learner.forget(state, 1.0) == state
    assert learner.forget(state, 0.0) == start
    half = learner.forget(state, 0.5)
    assert learner.mean(half) == pytest.approx((learner.mean(start) + learner.mean(state)) / 2)
    expected = 0.25 * learner.covariance(state) + 0.75 * learner.covariance(start)
    assert learner.covariance(half) == pytest.approx(expected)
    for keep in (-0.1, 1.1, float("nan")):
        with pytest.raises(InvalidInput, match="keep"):
            learner.forget(state, keep)


@pytest.mark.parametrize("slug", BELIEFS)
def test_draws_have_the_beliefs_mean_and_covariance(slug: str) -> None:
    learner = belief(slug)
    state = learner.start(np.ones(3))
    for a in (np.array([1.0, 1, 0]), np.array([0.0, 1, 1])):
        state = learner.swipe(state, a, "like")
    rng = np.random.default_rng(0)
    draws = np.array([learner.draw(state, rng) for _ in range(20_000)])
    assert draws.mean(0) == pytest.approx(learner.mean(state), abs=0.03)
    assert np.cov(draws.T) == pytest.approx(learner.covariance(state), abs=0.03)
    assert np.array_equal(learner.draw(state, np.random.default_rng(7)), learner.draw(state, np.random.default_rng(7)))


@pytest.mark.parametrize("slug", BELIEFS)
def test_appeal_is_learned_only_where_it_is_used(slug: str) -> None:
    a = np.ones(4)
    plain, with_appeal = belief(slug), belief(slug, appeal=True)
    for learner, matters in ((plain, False), (with_appeal, True)):
        state = learner.start(np.zeros(4))
        for appeal, label in ((2.0, 1), (-2.0, -1), (1.5, 1), (-1.0, -1)):
            state = learner.swipe(state, ShownCandidate(a, [appeal, 0.0]), label)
        assert bool(learner.score(state, a, [2.0, 0.0]) > learner.score(state, a, [-2.0, 0.0])) is matters
        assert bool(learner.probability(state, a, [2.0, 0.0]) > learner.probability(state, a, [-2.0, 0.0])) is matters
        assert learner.coordinates(a, [2.0, 0.0]).tolist() == [0.5] * 4 + [1.0] + [2.0] * matters


@pytest.mark.parametrize("slug", BELIEFS)
def test_a_prior_covariance_is_taken_up_and_grown(slug: str) -> None:
    rng = np.random.default_rng(3)
    root = rng.normal(size=(5, 5))
    prior = Prior(rng.normal(size=3), "pop", 0.2, 0.7, (root @ root.T + root @ root.T) / 2 + np.eye(5))
    assert prior.covariance is not None
    learner = belief(slug, appeal=True)
    covariance = learner.covariance(learner.start(prior))
    if slug == "probit":
        assert np.array_equal(covariance, prior.covariance)
    else:
        rows = independent(3)
        assert rows @ covariance @ rows.T == pytest.approx(np.diag(np.diag(rows @ prior.covariance @ rows.T)))
    grown = learner.grow(learner.start(prior), 5)
    assert learner.mean(grown) == pytest.approx([*prior.weights, *[prior.weights.mean()] * 2, 0.2, 0.7])
    assert learner.forget(grown, 0.0).cells == pytest.approx(grown.cells, abs=1e-15)


@pytest.mark.parametrize("slug", BELIEFS)
def test_the_threshold_does_not_ask_for_tags_that_came_later(slug: str) -> None:
    learner = belief(slug)
    grown = learner.grow(learner.start(Prior.ones(4)), 6)
    assert grown.cells == pytest.approx(learner.start(Prior.ones(4).grown(6)).cells, abs=1e-12)
    covariance = learner.covariance(grown)
    assert (covariance[6, :4] < -0.1).all()
    assert not covariance[6, 4:6].any()
    swiped = learner.swipe(grown, np.array([1.0, 1, 0, 0, 0, 0]), "like")
    assert learner.mean(swiped)[4:6].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("alpha", 0.0),
        ("label_noise", 0.0),
        ("label_noise", 0.5),
        ("alpha", "0.05"),
        ("alpha", 10**400),
        ("tag_sd", 0.0),
        ("tag_sd", 1e4),
        ("threshold_sd", -1),
        ("half_life_days", 0),
        ("appeal", 1),
    ],
)
def test_settings_that_make_no_sense_are_refused(setting: str, value: float) -> None:
    for slug in BELIEFS:
        with pytest.raises(InvalidInput) as caught:
            kaczmatch.learner(slug, **{setting: value})
        assert caught.value.field == setting


@pytest.mark.parametrize("slug", BELIEFS)
def test_the_widest_settings_stay_sound(slug: str) -> None:
    learner = belief(slug, tag_sd=1e3, threshold_sd=1e3, alpha=1e-6)
    rng = np.random.default_rng(0)
    log = {
        "user": np.zeros(50_000, int),
        "candidate": rng.integers(0, 5, 50_000),
        "candidates": rng.integers(0, 2, (5, 6)),
        "label": rng.choice([-1, 1], 50_000),
    }
    state = kaczmatch.replay(learner, log)[0]
    assert np.isfinite(state.cells).all()
    assert (np.diag(learner.covariance(state)) > 0).all()


def test_appeal_has_a_value_for_each_candidate_or_for_all() -> None:
    learner = belief("probit", appeal=True)
    state = learner.start(np.ones(2))
    rows = kaczmatch.appeal_rows([1.0, np.nan, 2.0])
    for others, message in ((rows[:2], "2 rows for 3"), (rows, "row 1"), ([["x", "y"]], "numbers")):
        with pytest.raises(InvalidInput, match=message) as caught:
            learner.probability(state, np.ones((3, 2)), others)
        assert caught.value.field == "others"
    one, all_alike = (learner.probability(state, np.ones((3, 2)), some) for some in ([0.5, 0.0], rows[[0, 0, 0]] / 2))
    assert one.tolist() == all_alike.tolist()
    with pytest.raises(InvalidInput, match="entry 0 is nan"):
        learner.coordinates([np.nan, 1.0])


@pytest.mark.slow
def test_probabilities_match_what_happens_when_the_model_is_right() -> None:
    """Users drawn from the prior and swiping by the model: within two points in each tenth."""
    rng = np.random.default_rng(0)
    learner = belief("probit", alpha=0.05, threshold_sd=1.0, label_noise_swipes=np.inf)
    d, users, swipes = 8, 400, 40
    said, happened = [], []
    for _ in range(users):
        taste = np.append(rng.normal(size=d), rng.normal())
        state = learner.start(np.zeros(d))
        for _ in range(swipes):
            a = (rng.random(d) < 0.5).astype(float)
            likes = (taste @ learner.coordinates(a) + np.sqrt(0.05) * rng.normal() > 0) ^ (rng.random() < 0.2)
            said.append(float(learner.probability(state, a)))
            happened.append(likes)
            state = learner.swipe(state, a, 1 if likes else -1)
    probabilities, likes = np.array(said), np.array(happened)
    bins = (probabilities * 10).astype(int)
    errors = [abs(np.sum(probabilities[bins == b] - likes[bins == b])) for b in range(10)]
    assert sum(errors) / len(likes) < 0.02
