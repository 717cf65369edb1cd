"""Intervals under continuous looking: they cover at all looks together, which usual ones do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kaczmatch.inference.sequential import MIN_UNITS, ConfidenceSequence, difference_sequence, mean_sequence

STUDIES, UNITS = 300, 1_500


def rates(rng: np.random.Generator, p: Any) -> Any:
    """Likes a card of people who differ a lot, over a dozen cards each."""
    return rng.binomial(12, np.clip(rng.beta(1.0, 3.0, np.shape(p)) * 4.0 * p, 0.0, 1.0)) / 12.0


def ever_missed(course: ConfidenceSequence, truth: float) -> bool:
    known = ~np.isnan(course.value)
    return bool(((course.low > truth) | (course.high < truth))[known].any())


def test_a_look_after_every_unit_misses_the_truth_in_at_most_one_study_of_twenty() -> None:
    rng = np.random.default_rng(0)
    missed = {"difference": 0, "mean": 0, "usual": 0}
    base, more = 0.2, 0.05
    population = (
        rates(np.random.default_rng(1), np.full(200_000, base)),
        rates(np.random.default_rng(2), np.full(200_000, base + more)),
    )
    effect, level = float(population[1].mean() - population[0].mean()), float(population[0].mean())
    for _ in range(STUDIES):
        treated = rng.random(UNITS) < 0.5
        values = rates(rng, np.where(treated, base + more, base))
        course = difference_sequence(values, treated)
        missed["difference"] += ever_missed(course, effect)
        missed["mean"] += ever_missed(mean_sequence(rates(rng, np.full(UNITS, base))), level)
        known = np.flatnonzero(~np.isnan(course.value))
        reach = usual(values, treated, known)
        missed["usual"] += bool((np.abs(course.value[known] - effect) > reach).any())
    assert missed["difference"] <= 0.05 * STUDIES + 2.0 * np.sqrt(0.05 * 0.95 * STUDIES), missed
    assert missed["mean"] <= 0.05 * STUDIES + 2.0 * np.sqrt(0.05 * 0.95 * STUDIES), missed
    assert missed["usual"] > 0.25 * STUDIES  # what one would conclude by looking at 95 % intervals again and again


def usual(values: Any, treated: Any, known: Any) -> Any:
    """1.96 standard errors after each unit."""
    total = 0.0
    for some in (treated, ~treated):
        n, sums, squares = np.cumsum(some), np.cumsum(values * some), np.cumsum(values**2 * some)
        total = total + ((squares - sums**2 / np.maximum(n, 1)) / np.maximum(n * (n - 1), 1))
    return 1.96 * np.sqrt(np.asarray(total)[known])


def test_a_real_difference_is_found_and_none_is_said_of_a_few() -> None:
    rng = np.random.default_rng(3)
    treated = np.arange(800) % 2 == 0
    values = rng.binomial(10, np.where(treated, 0.35, 0.25)) / 10.0
    course = difference_sequence(values, treated)
    found = course.last()
    assert found is not None
    assert found.low > 0.0
    assert found.covers(0.1)
    assert np.isnan(course.value[: 2 * MIN_UNITS - 1]).all()
    assert not np.isnan(course.value[2 * MIN_UNITS - 1 :]).any()
    assert difference_sequence(values[:40], treated[:40]).last() is None
    assert mean_sequence(np.empty(0)).last() is None
    assert mean_sequence(np.full(100, 0.3)).last() is None  # all alike: how far the next might be off is not known


def test_the_last_interval_is_about_half_as_wide_again_as_a_usual_one() -> None:
    values = np.random.default_rng(4).random(500)
    found = mean_sequence(values).last()
    assert found is not None
    assert found.value == pytest.approx(values.mean())
    assert found.high - found.value == pytest.approx(3.04 * values.std(ddof=1) / np.sqrt(500), rel=0.01)


def test_a_rare_outcome_in_a_small_arm_is_not_spoken_of_too_soon() -> None:
    """One match in thirty people is no measure of how far thirty people may be off."""
    rng = np.random.default_rng(5)
    missed = {"difference": 0, "mean": 0}
    for _ in range(STUDIES):
        values = rng.binomial(20, 0.005, 1_000) / 20.0
        missed["difference"] += ever_missed(difference_sequence(values, rng.random(1_000) < 0.1), 0.0)
        missed["mean"] += ever_missed(mean_sequence(values), 0.005)
    assert max(missed.values()) <= 0.05 * STUDIES + 2.0 * np.sqrt(0.05 * 0.95 * STUDIES), missed
