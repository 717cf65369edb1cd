"""Who is fitted on and who is tested: never the same user. With folds everybody is tested once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch import InvalidInput
from kaczmatch.evaluation.contenders import Contender
from kaczmatch.evaluation.evaluate import Choices, measure
from kaczmatch.evaluation.peers import BPR, PopulationPeer
from kaczmatch.evaluation.report import Report
from kaczmatch.evaluation.trial import Protocol, Trial, fit_users
from kaczmatch.formats.swipe_table import SwipeTable
from worlds.logs import mutual_table, small_table
from worlds.trials import areas, fitted


def trial_of(table: SwipeTable, folds: int = 2, **protocol: Any) -> Trial:
    return Trial(table, Protocol(**{"times": (0, 5), "rest": 2, "folds": folds} | protocol))


def in_waves(table: SwipeTable, of: int) -> SwipeTable:
    return replace(table, others={"wave": table.user // of})


def test_even_identifiers_fit_and_odd_ones_are_tested() -> None:
    table = small_table(0)
    assert fit_users(table).tolist() == [user % 2 == 0 for user in table.users]
    assert fit_users(replace(table, others={"wave": table.user // 5 + 1.0}), "wave").tolist() == [
        user // 5 == 1 for user in table.users
    ]


def test_texts_are_divided_the_same_way_every_time() -> None:
    table = replace(small_table(0), users=[f"user {i}" for i in range(12)])
    fit = fit_users(table)
    assert fit.tolist() == fit_users(table).tolist()
    assert fit.any()
    assert not fit.all()


def test_a_user_in_two_groups_is_refused() -> None:
    table = small_table(0)
    wave = np.ones(len(table), int)
    wave[3] = 2
    with pytest.raises(InvalidInput, match="user 0 has more than one 'wave'"):
        fit_users(replace(table, others={"wave": wave}), "wave")


def test_nobody_left_to_test_is_refused() -> None:
    table = replace(small_table(0), users=list(range(0, 24, 2)))
    with pytest.raises(InvalidInput, match="leaves nobody to be tested"):
        fit_users(table)


@given(seed=st.integers(0, 100), folds=st.integers(2, 12))
def test_everybody_is_in_one_fold_and_fitted_on_in_all_others(seed: int, folds: int) -> None:
    trial = trial_of(small_table(seed), folds)
    tested = np.concatenate([one.tested for one in trial.folds])
    assert sorted(tested.tolist()) == trial.tested.tolist() == list(range(12))
    assert (np.sum([one.fit for one in trial.folds], axis=0) == folds - 1).all()
    for one in trial.folds:
        assert not one.fit[one.tested].any()


def test_those_of_one_wave_are_in_one_fold() -> None:
    trial = trial_of(in_waves(small_table(0), 2), 3, split="wave")
    assert [one.tested.tolist() for one in trial.folds] == [[0, 1, 6, 7], [2, 3, 8, 9], [4, 5, 10, 11]]


def test_the_second_of_two_folds_is_the_usual_test() -> None:
    table = small_table(1)
    assert np.array_equal(trial_of(table).folds[1].fit, Trial(table, Protocol()).fit)


@pytest.mark.slow
@pytest.mark.parametrize(("knowledge", "seed"), [("strict", 0), ("mature", 1)])
def test_nothing_that_is_fitted_in_a_fold_knows_a_decision_of_those_it_tests(knowledge: str, seed: int) -> None:
    """Priors, what tags say of traits, and whether there are traits."""
    table, rng = small_table(seed), np.random.default_rng(seed)
    for place, one in enumerate(trial_of(table, knowledge=knowledge).folds):
        like = np.where(np.isin(table.user, one.tested), rng.random(len(table)) < 0.5, table.like)
        other = trial_of(replace(table, like=like), knowledge=knowledge).folds[place]
        for found, again in zip(*(fitted(each, "tk", "probit-diag", "probit-traits") for each in (one, other)), strict=True):
            assert found.name == again.name
            if isinstance(found, Contender) and isinstance(again, Contender):
                assert found.prior.fingerprint == again.prior.fingerprint


class Liked:
    """A peer's model that scores by the likes in what it was fitted on."""

    def __init__(self, decisions: Any, _seed: int) -> None:
        self.likes = np.asarray(decisions.sum(axis=0))

    def scores(self, _user: int, _own: Any) -> Any:
        return self.likes


@pytest.fixture(scope="module", params=["strict", "mature"])
def found(request: pytest.FixtureRequest) -> Report:
    choices = Choices(["probit-diag", "probit-traits"], both_ways=True, peers=[PopulationPeer(BPR, Liked)])
    return measure(trial_of(mutual_table(3), knowledge=request.param), choices)


@pytest.mark.slow
def test_every_measure_is_over_the_users_of_all_folds(found: Report) -> None:
    assert np.unique(found.predictions.user).tolist() == list(range(16))
    for fold in found.folds:
        alone = areas(fold.trial, fold.contenders, found.times)
        names = [each.name for each in fold.contenders]
        joined = found.predictions.by_user(names, found.times, np.arange(16))[:, fold.trial.tested]
        assert np.array_equal(joined, alone, equal_nan=True)
    assert int(found.predictions.ahead.sum()) == len(found.trial.table)
    assert found.shuffled.users == 16
    assert found.scores.users() == 16
    assert {row["peer"] for row in found.tables["peers-leads"]} == {BPR}


@pytest.mark.slow
def test_the_report_says_who_was_tested_and_whether_each_fold_has_traits(found: Report) -> None:
    said = "In 2 folds everybody with swipes enough is tested once: 16 users (8 + 8), each fold with the population fitted"
    assert said in found.scope
    assert "Fold 1: " in found.scope
    assert "Fold 2: " in found.scope
    assert "probit-traits + population" in found.scores.names  # with traits or what takes their place


@pytest.mark.parametrize(
    ("protocol", "says"),
    [
        ({"folds": 1}, r"must be 2 or more, got 1; without it, one half is fitted on and the other tested"),
        ({"folds": 2, "knowledge": "forward"}, "forward tests only those who began after the fit.*choose strict or mature"),
    ],
)
def test_folds_that_make_no_sense_are_refused(protocol: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        Protocol(**protocol)


def test_folds_without_users_are_refused() -> None:
    trial = trial_of(in_waves(small_table(0), 6), 3, split="wave")
    with pytest.raises(InvalidInput, match="by 'wave' one of 3 has no users; name fewer, or split by another column"):
        _ = trial.folds
