"""Folds: everybody is tested once, with what was fitted on others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch import InvalidInput
from kaczmatch.evaluation.evaluate import Choices, EvaluationResult, evaluate
from kaczmatch.evaluation.measures.holdout_ranking import holdout_ranking
from kaczmatch.evaluation.peers.comparison import DEFAULT
from kaczmatch.evaluation.peers.population import BPR, PopulationPeer
from kaczmatch.evaluation.protocol.contenders import TRAITS, contenders
from kaczmatch.evaluation.protocol.progress import SilentProgress
from kaczmatch.evaluation.protocol.trial import Protocol, Trial
from kaczmatch.evaluation.reporting.report import scope_words, trait_words
from kaczmatch.formats.swipe_table import SwipeTable
from worlds.logs import mutual_table, small_table


def trial_of(table: SwipeTable, folds: int = 2, **protocol: Any) -> Trial:
    return Trial(table, Protocol(**{"times": (0, 5), "rest": 2, "folds": folds} | protocol))


def in_waves(table: SwipeTable, of: int) -> SwipeTable:
    return replace(table, others={"wave": table.user // of})


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
    """Priors, what tags say of traits, and whether there are traits. Appeal counts the fitted alone."""
    table, rng = small_table(seed), np.random.default_rng(seed)
    trial = trial_of(table, 2, appeal_from="fit", knowledge=knowledge)
    for place, one in enumerate(trial.folds):
        theirs = np.isin(table.user, one.tested)
        like = np.where(theirs, rng.random(len(table)) < 0.5, table.like)
        other = trial_of(replace(table, like=like), 2, appeal_from="fit", knowledge=knowledge).folds[place]
        slugs = ["tk", "probit-diag", "probit-traits"]
        pairs = zip(*(contenders(each, slugs, tick=lambda _: None) for each in (one, other)), strict=True)
        for fitted, again in pairs:
            assert (fitted.name, fitted.learner) == (again.name, again.learner)
            assert fitted.prior.fingerprint == again.prior.fingerprint


class Liked:
    """A peer's model that scores by the likes in what it was fitted on."""

    def __init__(self, decisions: Any) -> None:
        self.likes = np.asarray(decisions.sum(axis=0))

    def scores(self, _user: int, _own: Any) -> Any:
        return self.likes


def evaluated(knowledge: str) -> EvaluationResult:
    choices = Choices(["probit-diag", "probit-traits"], peers=[PopulationPeer(BPR, lambda decisions, _: Liked(decisions))])
    return evaluate(trial_of(mutual_table(3), knowledge=knowledge), choices, SilentProgress(), clock=lambda: 0.0)


@pytest.fixture(scope="module")
def strict() -> EvaluationResult:
    return evaluated("strict")


@pytest.mark.slow
def test_the_same_folds_give_the_same_answer(strict: EvaluationResult) -> None:
    assert np.array_equal(strict.scores.ranking.auc, evaluated("strict").scores.ranking.auc, equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize("knowledge", ["strict", "mature"])
def test_every_measure_is_over_the_users_of_all_folds(knowledge: str, strict: EvaluationResult) -> None:
    found = strict if knowledge == "strict" else evaluated(knowledge)
    ranking = found.scores.ranking
    assert sorted(ranking.users.tolist()) == list(range(16))
    for fold in found.folds:
        alone = holdout_ranking(fold.trial, fold.contenders, ranking.times, fold.trial.tested, advance=lambda _: None)
        there = np.isin(ranking.users, fold.trial.tested)
        assert np.array_equal(ranking.auc[:, there], alone.auc, equal_nan=True)
    assert (found.probabilities.users, found.probabilities.swipes) == (16, len(found.trial.table))
    assert found.matches is not None
    assert found.shuffled.users == 16
    assert found.peers is not None
    assert np.array_equal(found.peers.scores.ranking.users, ranking.users)
    place = list(found.peers.scores.names).index(DEFAULT)
    assert np.array_equal(
        found.peers.scores.ranking.auc[:, :, place], ranking.auc[:, :, list(ranking.names).index(DEFAULT)], equal_nan=True
    )
    assert found.crossover is not None
    assert found.crossover.tested == 16


@pytest.mark.slow
def test_the_report_says_who_was_tested_and_whether_each_fold_has_traits(strict: EvaluationResult) -> None:
    found = strict
    words = scope_words(found.trial)
    assert (
        "In 2 folds everybody with swipes enough is tested once: 16 users (8 + 8), each fold with the population fitted" in words
    )
    assert "Fold 1: " in trait_words(found)
    assert "Fold 2: " in trait_words(found)
    assert TRAITS in found.scores.names  # with traits or what takes their place


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
