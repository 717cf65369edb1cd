"""Traits of candidates: sums without an order, exact subtraction, bounds, ageing, growth, and a causal log."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kaczmatch import CandidateTraits, InvalidInput, Prior, ShownCandidate, SwipeLog, TraitModel
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.learners.belief.kernels import BEHAVIOUR
from kaczmatch.learners.logs.replay import progressive_predictions, replay
from kaczmatch.learners.population.trait_log import SiteLog, follow_traits
from kaczmatch.learners.population.traits import FARTHEST, FARTHEST_SITE, LARGEST_FITTED, LARGEST_PRECISION, UNITS
from worlds.gaussian import after_swipe

D, DIRECTIONS, DAY = 5, 2, 86_400


def fitted(k: int, seed: int = 0, directions: int = DIRECTIONS) -> Prior:
    rng = np.random.default_rng(seed)
    n = D + 1 + directions + k
    root = rng.normal(size=(n, n)) / 3.0
    return Prior(
        rng.normal(size=D),
        "fitted",
        0.3,
        covariance=root @ root.T + 0.1 * np.eye(n),
        label_noise=0.01,
        traits=rng.normal(size=k),
        trait_map=rng.normal(size=(D + 1, directions + k)),
    )


def learner_of(k: int) -> ProbitTraits:
    return ProbitTraits(traits=k, directions=DIRECTIONS)


def model(k: int, **settings_: Any) -> TraitModel:
    return TraitModel(learner=learner_of(k), prior=fitted(k), **settings_)


def sites_of(one: TraitModel, count: int, seed: int = 0, at: float = 0.0) -> tuple[np.ndarray[Any, Any], list[Any]]:
    """A candidate, and what so many raters with different histories say of it."""
    rng = np.random.default_rng(seed)
    candidate = (rng.random(D) < 0.6).astype(float)
    found = []
    for _ in range(count):
        state = one.learner.start(one.prior)
        for _ in range(int(rng.integers(0, 30))):
            features = (rng.random(D) < 0.5).astype(float)
            state = one.learner.swipe(state, features, int(rng.choice([1, -1])))
        found.append(one.site(state, candidate, int(rng.choice([1, -1])), at))
    return candidate, found


@pytest.mark.parametrize("k", [1, 4, 8])
@given(seed=st.integers(0, 1000))
@settings(max_examples=15)
def test_sums_have_no_order_and_taking_a_site_back_is_exact(k: int, seed: int) -> None:
    one = model(k)
    _, found = sites_of(one, 6, seed)
    order = np.random.default_rng(seed).permutation(6)
    forwards, shuffled = CandidateTraits.unknown(k), CandidateTraits.unknown(k)
    for place in range(6):
        forwards, shuffled = forwards.plus(found[place]), shuffled.plus(found[order[place]])
    assert forwards == shuffled
    without = CandidateTraits.unknown(k)
    for site in found[1:]:
        without = without.plus(site)
    assert forwards.minus(found[0]) == without
    assert CandidateTraits.from_bytes(forwards.to_bytes()) == forwards


@pytest.mark.parametrize("k", [1, 4])
@given(seed=st.integers(0, 1000), raters=st.integers(1, 40))
@settings(max_examples=20)
def test_raters_move_a_trait_within_the_bound(k: int, seed: int, raters: int) -> None:
    one = model(k)
    candidate, found = sites_of(one, raters, seed)
    total = CandidateTraits.unknown(k)
    for site in found:
        total = total.plus(site)
        assert (site[:k] >= 0).all()
        assert (site[:k] <= LARGEST_PRECISION * UNITS).all()
    expected = one.expected(candidate)[0]
    said = one.shown(candidate, total, 0.0)
    precision = total.sums[:k] / UNITS
    assert np.array_equal(said[:DIRECTIONS], expected[:DIRECTIONS])  # of directions the tags tell, and no rater
    moved = np.abs(said[DIRECTIONS:-k] - expected[DIRECTIONS:])
    assert (moved <= FARTHEST * precision / (1.0 + precision) + 1e-12).all()
    assert said[-k:] == pytest.approx(1.0 / (1.0 + precision))
    one_only = one.shown(candidate, CandidateTraits.unknown(k).plus(found[0]), 0.0)
    assert (np.abs(one_only[DIRECTIONS:-k] - expected[DIRECTIONS:]) <= 0.42).all()


@pytest.mark.parametrize(("largest", "most"), [(LARGEST_PRECISION, 0.7), (LARGEST_FITTED, 1.4)])
@pytest.mark.parametrize("others", [0.0, 0.02, 0.06, 0.15, 0.25, 1.0, 5.0])
def test_the_loudest_rater_moves_a_trait_within_bounds(others: float, largest: float, most: float) -> None:
    """The loudest site there can be, on somebody of whom others have said the opposite as loudly."""
    one, candidate = model(1), np.ones(D)
    expected = float(one.expected(candidate)[0, DIRECTIONS])

    def said(*sites: tuple[float, float]) -> float:
        sums = np.rint(np.sum([[precision, precision * (expected + far)] for precision, far in sites], axis=0) * UNITS)
        return float(one.shown(candidate, CandidateTraits(sums.astype(np.int64)), 0.0)[DIRECTIONS])

    before = said((others, -FARTHEST))
    assert said((others, -FARTHEST_SITE)) == pytest.approx(before, abs=1e-5)  # no louder in sum
    assert said((others, -FARTHEST), (largest, FARTHEST_SITE)) - before < most
    assert said((largest, FARTHEST_SITE)) - expected < 0.6 * most + 1e-9


def test_a_viewers_own_site_is_left_out() -> None:
    one = model(4)
    candidate, found = sites_of(one, 3)
    total = CandidateTraits.unknown(4).plus(found[0]).plus(found[1])
    without = one.shown(candidate, total.plus(found[2]), 0.0, own=found[2])
    assert np.array_equal(without, one.shown(candidate, total, 0.0))


def test_sites_age_in_the_sum_and_in_the_pair_alike() -> None:
    one = model(2, half_life_days=10.0)
    candidate, (old,) = sites_of(one, 1, at=0.0)
    _, (new,) = sites_of(one, 1, at=10.0 * DAY)
    assert new[:2] == pytest.approx(2 * old[:2], abs=2)
    total = CandidateTraits.unknown(2).plus(old)
    now, later = (one.shown(candidate, total, at) for at in (0.0, 10.0 * DAY))
    assert 1.0 / later[-2:] - 1.0 == pytest.approx((1.0 / now[-2:] - 1.0) / 2.0, rel=1e-4)
    assert np.array_equal(one.shown(candidate, total.plus(new), 10.0 * DAY, own=new), later)


def test_new_tags_change_nothing_that_was_known() -> None:
    one = model(3)
    candidate, found = sites_of(one, 2)
    total = CandidateTraits.unknown(3).plus(found[0]).plus(found[1])
    longer = np.append(candidate, [0.0, 0.0])
    assert np.array_equal(one.shown(longer, total, 0.0), one.shown(candidate, total, 0.0))
    state = one.learner.grow(one.learner.start(one.prior), D + 2)
    assert np.array_equal(one.site(state, longer, "like", 0.0), one.site(one.learner.start(one.prior), candidate, "like", 0.0))


def test_before_a_fit_only_the_first_trait_is_learned() -> None:
    learner = ProbitTraits(traits=3)
    one = TraitModel(learner=learner, prior=Prior.ones(D))
    site = one.site(learner.start(one.prior), np.ones(D), "like", 0.0)
    assert site[0] > 0
    assert site[3] > 0
    assert not site[[1, 2, 4, 5]].any()


@pytest.mark.parametrize("bad", [b"", b"12345678", "text", None])
def test_bytes_that_are_no_traits_are_refused(bad: Any) -> None:
    with pytest.raises(InvalidInput, match="traits"):
        CandidateTraits.from_bytes(bad)


def log_of(seed: int, rows: int = 120) -> tuple[SwipeLog, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    user = rng.integers(0, 6, rows)
    log = SwipeLog(
        user=user,
        candidate=rng.integers(0, 8, rows),
        candidates=(rng.random((8, D)) < 0.5).astype(float),
        label=rng.choice([1, -1], rows),
        at=np.sort(rng.integers(0, 60, rows)).astype(float),
    )
    return log, user


@pytest.mark.parametrize("k", [1, 4])
def test_a_followed_log_is_what_live_calls_would_have_seen(k: int) -> None:
    one = model(k)
    log, user = log_of(k)
    assert log.at is not None
    assert log.candidate_row is not None
    found = follow_traits(one, log, user)
    states = dict.fromkeys(range(6), one.learner.start(one.prior))
    totals = [CandidateTraits.unknown(k)] * 8
    own: dict[tuple[int, int], Any] = {}
    waiting: list[tuple[int, int, Any]] = []
    for row in range(len(log)):
        if row and log.at[row] > log.at[row - 1]:
            for rater, whom, site in waiting:
                before = own.get((rater, whom), np.zeros(2 * k, np.int32))
                totals[whom], own[rater, whom] = totals[whom].minus(before).plus(site), site
            waiting = []
        rater, whom, moment = int(user[row]), int(log.candidate_row[row]), float(log.at[row]) / 1e6
        features, label = log.features[whom], int(log.label[row])
        said = one.shown(features, totals[whom], moment, own=own.get((rater, whom)))
        assert np.array_equal(found.said[row], said)
        site = one.site(states[rater], features, label, moment)
        assert np.array_equal(found.sites[row], site)
        states[rater] = one.learner.swipe(states[rater], ShownCandidate(features, said), label)
        waiting.append((rater, whom, site))
    folded = replay(one.learner, log.with_others(found.said), prior=one.prior)
    assert all(folded[rater] == states[rater] for rater in folded)
    p = progressive_predictions(one.learner, log.with_others(found.said), prior=one.prior)
    assert ((p > 0.0) & (p < 1.0)).all()


@given(seed=st.integers(0, 10_000), cut=st.integers(0, 59))
@settings(max_examples=30)
def test_what_is_known_at_a_moment_does_not_depend_on_what_comes_later(seed: int, cut: int) -> None:
    """Later decisions are turned over and shuffled: states, sites and traits before them stay as they were."""
    one = model(2)
    log, user = log_of(seed)
    assert log.at is not None
    later = log.at >= cut * 1_000_000
    other = log.select(np.arange(len(log)))
    other.label = np.where(later, -log.label, log.label)
    first, second = follow_traits(one, log, user), follow_traits(one, other, user)
    assert np.array_equal(first.said[log.at <= cut * 1_000_000], second.said[log.at <= cut * 1_000_000])
    assert np.array_equal(first.sites[~later], second.sites[~later])


@given(seed=st.integers(0, 10_000))
@settings(max_examples=20)
def test_questions_about_moments_are_answered_as_the_log_saw_them(seed: int) -> None:
    one = model(2)
    log, user = log_of(seed)
    assert log.at is not None
    assert log.candidate_row is not None
    found = follow_traits(one, log, user)
    kept = SiteLog(user, log.candidate_row, log.at, found.sites)
    expected = one.expected(log.features)
    assert np.array_equal(kept.traits_at(one, expected, viewer=user, candidate=log.candidate_row, at=log.at), found.said)
    nobody = np.full(8, -1)
    start = SiteLog.empty(2).traits_at(one, expected, viewer=nobody, candidate=np.arange(8), at=np.zeros(8, np.int64))
    assert np.array_equal(start, one.prior.expected_traits(log.features))


@pytest.mark.parametrize("full", [False, True])
def test_the_kernel_equals_the_readable_rule_with_traits(full: bool) -> None:
    directions = 0 if full else DIRECTIONS
    learner, rng = ProbitTraits(traits=3, directions=DIRECTIONS, full=full), np.random.default_rng(1)
    prior = fitted(3, directions=directions)
    state = learner.start(prior)
    for _ in range(60):
        said = np.concatenate([rng.normal(size=directions + 3), rng.random(3)])
        seen, label = ShownCandidate((rng.random(D) < 0.5).astype(float), said), int(rng.choice([1, -1]))
        mean, covariance, behaviour = after_swipe(learner, state, seen.features, said, label)
        state = learner.swipe(state, seen, label)
        np.testing.assert_allclose(learner.mean(state), mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(learner.covariance(state), covariance, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(state.cells[-BEHAVIOUR:], behaviour, rtol=1e-9, atol=1e-9)
        kernel = learner.kernels.predict(learner.expand(state.cells, D), seen.features, said, learner.parameters)
        assert learner.probability(state, seen.features, said) == pytest.approx(kernel, abs=1e-12)


def test_threshold_and_tags_are_kept_as_coupled_as_the_prior_has_them() -> None:
    k, slope, rng = 2, 0.3, np.random.default_rng(3)
    n = D + 1 + DIRECTIONS + k
    apart = np.eye(n)
    apart[D, :D] = -slope
    covariance = apart @ np.diag(rng.uniform(0.2, 2.0, n)) @ apart.T
    mapped = np.ones((D + 1, DIRECTIONS + k))
    prior = Prior(np.ones(D), "p", 0.1, covariance=(covariance + covariance.T) / 2, traits=np.ones(k), trait_map=mapped)
    learner = learner_of(k)
    state = learner.start(prior)
    np.testing.assert_allclose(learner.covariance(state), covariance, atol=1e-12)
    for label in (1, -1, 1):
        state = learner.swipe(state, (rng.random(D) < 0.5).astype(float), label)
    x, said = (rng.random(D) < 0.5).astype(float), np.concatenate([rng.normal(size=DIRECTIONS + k), rng.random(k)])
    row, kept = learner.coordinates(x[None], said[None]), learner.covariance(state)
    np.testing.assert_allclose(learner.score_variance(state, row), row[0] @ kept @ row[0])
    np.testing.assert_allclose(
        learner.decision_noise(state, said[None]),
        learner.alpha + said[-k:] @ (learner.mean(state)[-k:] ** 2 + np.diag(kept)[-k:]),
    )
    others = [state, learner.start(prior), learner.start(replace(prior, covariance=np.eye(n)))]
    alone = [float(learner.probability(each, x, said)) for each in others]
    np.testing.assert_allclose(learner.probabilities_by_user(others, x, said), alone)
    np.testing.assert_allclose(np.cov(learner.draws(state, 40_000, rng).T), kept, atol=0.06)


def test_a_candidate_of_whom_nobody_spoke_is_as_the_tags_lead_to_expect() -> None:
    learner, prior = learner_of(2), fitted(2)
    state, a = learner.start(prior), np.array([1.0, 0, 1, 0, 0])
    said = prior.expected_traits(a[None])[0]
    assert learner.swipe(state, a, "like") == learner.swipe(state, ShownCandidate(a, said), "like")
    assert learner.probability(state, a) == learner.probability(state, a, said)
    columns = {"user": [0], "features": a[None], "label": [1]}
    assert replay(learner, columns, prior=prior)[0] == learner.swipe(state, a, "like")


def test_a_prior_for_other_traits_is_refused_and_one_of_traits_survives_bytes() -> None:
    for other in (ProbitTraits(traits=4, directions=DIRECTIONS), ProbitTraits(traits=2, directions=8)):
        with pytest.raises(InvalidInput, match=r"has \(2, 2\) traits and directions"):
            other.start(fitted(2))
    with pytest.raises(InvalidInput, match="trait_map"):
        Prior(np.ones(2), "p", 0.0, covariance=np.eye(4), traits=np.ones(1), trait_map=np.ones((2, 1)))
    prior = fitted(3).grown(D + 2)
    again = Prior.from_bytes(prior.to_bytes())
    assert again.fingerprint == prior.fingerprint
    assert again.trait_map is not None
    assert prior.trait_map is not None
    assert np.array_equal(again.trait_map, prior.trait_map)
    assert again.directions == prior.directions == DIRECTIONS
    state = learner_of(3).start(prior)
    assert learner_of(3).from_bytes(state.to_bytes(), prior) == state


def test_a_state_of_sixty_tags_is_small() -> None:
    assert len(ProbitTraits().start(Prior.ones(60)).to_bytes()) <= 2_100


def test_a_full_covariance_of_tags_leaves_directions_nothing_to_say() -> None:
    assert ProbitTraits(full=True).directions == 0
    assert ProbitTraits().directions == 8
