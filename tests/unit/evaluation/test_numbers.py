"""Intervals and calibration against what they are by definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch.evaluation.scores import Scores, calibration_error, losses, reliability

SAID = st.lists(st.tuples(st.floats(0.0, 1.0), st.booleans()), min_size=1, max_size=40)


def scores(values: np.ndarray) -> Scores:
    """Of users x contenders, or times x users x contenders."""
    areas = values if values.ndim == 3 else values[None]
    return Scores([str(column) for column in range(areas.shape[2])], range(len(areas)), areas, [5])


def test_an_interval_is_as_wide_as_the_standard_error_says() -> None:
    values = np.random.default_rng(0).normal(0.3, 2.0, (400, 1))
    mean, low, high = scores(values).at(0, "0")
    assert mean == pytest.approx(values.mean())
    assert high - low == pytest.approx(2 * 1.96 * values.std() / 20.0, rel=0.1)


def test_pairing_takes_out_what_users_have_in_common() -> None:
    draw = np.random.default_rng(1)
    easy = draw.normal(0.0, 1.0, 300)
    drawn = scores(np.stack([easy + 0.1 + 0.05 * draw.normal(size=300), easy], axis=1))
    gap = drawn.difference(0, "0", "1")
    assert gap.above_zero
    assert gap.mean == pytest.approx(drawn.at(0, "0").mean - drawn.at(0, "1").mean)
    assert gap.high - gap.low < 0.2 * (drawn.at(0, "0").high - drawn.at(0, "0").low)
    assert drawn.difference(0, "1", "0").below_zero


def test_each_number_of_swipes_has_all_who_can_be_tested_there_and_the_heaviest_all_numbers() -> None:
    values = np.random.default_rng(2).random((3, 40, 2))
    values[1, 30:], values[2, 10:, 1] = np.nan, np.nan
    found = scores(values)
    assert [found.users(place) for place in range(3)] == [40, 30, 10]
    assert found.at(1, "0").mean == pytest.approx(values[1, :30, 0].mean())
    heavy = found.heaviest()
    assert [heavy.users(place) for place in range(3)] == [10, 10, 10]
    assert heavy.at(0, "1").mean == pytest.approx(values[0, :10, 1].mean())


def test_intervals_at_single_numbers_hold_for_all_of_them_at_once() -> None:
    """Of twenty equals at three numbers of swipes, pointwise intervals call some better or worse; simultaneous ones do not."""
    rng = np.random.default_rng(0)
    found = scores(rng.normal(0.0, 0.1, (1, 60, 1)) + rng.normal(0.0, 0.01, (3, 60, 21)))
    places = [(place, str(column)) for place in range(3) for column in range(1, 21)]
    pointwise = [found.difference(place, name, "0") for place, name in places]
    together = [found.together(place, name, "0") for place, name in places]
    assert any(gap.above_zero or gap.below_zero for gap in pointwise)
    assert not any(gap.above_zero or gap.below_zero for gap in together)
    assert all(wide.low < narrow.low for wide, narrow in zip(together, pointwise, strict=True))


def test_the_best_of_many_must_beat_the_luck_of_the_best() -> None:
    """Where nobody is better than anybody, picking the best of thirty wins against a plain interval all too often."""
    plain = picked = 0
    for seed in range(60):
        values = np.random.default_rng(seed).normal(size=(50, 31))
        drawn, best = scores(values), str(int(values[:, 1:].mean(axis=0).argmax()) + 1)
        plain += drawn.difference(0, best, "0").above_zero
        picked += drawn.beats(0, best, "0", 30)
    assert plain >= 10  # where one in forty is what it claims
    assert picked <= 6
    clear = np.random.default_rng(0).normal(size=(50, 2)) + np.array([0.0, 2.0])
    assert scores(clear).beats(0, "1", "0", 30)


def test_the_same_seed_draws_the_same_users_and_nobody_gives_no_number() -> None:
    values = np.random.default_rng(2).random((30, 3))
    assert scores(values).at(0, "1") == scores(values).at(0, "1")
    assert all(math.isnan(number) for number in scores(np.empty((0, 2))).at(0, "1"))


@given(SAID)
def test_calibration_error_by_its_definition(said: list[tuple[float, bool]]) -> None:
    bins = reliability(np.array([p for p, _ in said]), np.array([y for _, y in said]))
    expected = 0.0
    for tenth in range(10):
        inside = [(p, y) for p, y in said if min(int(p * 10), 9) == tenth]
        if inside:
            expected += abs(sum(p for p, _ in inside) - sum(y for _, y in inside)) / len(said)
    assert calibration_error(bins) == pytest.approx(expected)
    assert sum(one.swipes for one in bins) == len(said)
    assert all(one.low - 1e-9 <= one.observed <= one.high + 1e-9 for one in bins)


def test_what_is_certain_and_wrong_costs_a_lot_but_not_everything() -> None:
    found = losses(np.array([1.0, 0.0, 0.5, 0.25]), np.array([False, False, True, True]))
    assert found.tolist() == pytest.approx([-math.log(1e-12), 0.0, math.log(2), math.log(4)], rel=1e-3, abs=1e-9)
    assert math.isnan(calibration_error([]))
