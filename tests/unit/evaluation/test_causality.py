"""No score knows what came after its moment, nor its own user's decisions through the back door."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kaczmatch.evaluation.measures.holdout_ranking import ranked_holdouts
from kaczmatch.evaluation.measures.match_pairs import MutualSwipes, match_pairs
from kaczmatch.evaluation.measures.shuffled_labels import shuffled_trial
from kaczmatch.evaluation.peers.crossover import with_fit_users
from kaczmatch.evaluation.protocol.contenders import Contender, contenders
from kaczmatch.evaluation.protocol.trial import Protocol, Trial
from kaczmatch.formats.swipe_table import SwipeTable
from worlds.logs import mutual_table, small_table

pytestmark = pytest.mark.slow  # a whole evaluation per example

T = 5
WAYS = [{}, {"appeal_at": "first"}, {"appeal_from": "fit"}, {"appeal_from": "fit", "appeal_at": "first"}]


def trial_of(table: SwipeTable, **protocol: Any) -> Trial:
    return Trial(table, Protocol(**{"times": (0, T), "rest": 2} | protocol))


def compared(trial: Trial) -> list[Contender]:
    return contenders(trial, ["tk", "probit-diag", "probit-traits"], tick=lambda _: None, traits=True)


def scores(trial: Trial, among: list[Contender], t: int) -> dict[int, np.ndarray]:
    """Every user's scores of the rest after t swipes, but for those at random."""
    found = ranked_holdouts(trial, among, [t], np.flatnonzero(~trial.fit), np.random.default_rng(0))
    return {one.user: one.scores[:-1] for _, one in found}


def relabelled(table: SwipeTable, rows: np.ndarray, rng: np.random.Generator) -> SwipeTable:
    like = table.like.copy()
    like[rows] = rng.random(int(rows.sum())) < 0.5
    return replace(table, like=like)


@pytest.mark.parametrize("way", WAYS, ids=str)
@settings(max_examples=5)
@given(seed=st.integers(0, 10_000))
def test_answers_at_or_after_the_split_change_no_score(way: dict[str, str], seed: int) -> None:
    table = small_table(seed)
    trial = trial_of(table, **way)
    among = compared(trial)
    before = scores(trial, among, T)
    for user in list(before)[:3]:
        moment = trial.clock[trial.begin[user] + T]
        own_later = (table.user == user) & (np.arange(len(table)) >= trial.begin[user] + T)
        later = (trial.clock >= moment) & (table.user != user) | own_later
        other = trial_of(relabelled(table, later, np.random.default_rng(seed)), **way)
        after = scores(other, among, T)
        if user in after:
            assert np.array_equal(before[user], after[user])


@settings(max_examples=5)
@given(seed=st.integers(0, 10_000))
def test_forward_nothing_that_was_fitted_depends_on_what_comes_after_the_fit(seed: int) -> None:
    """Priors, what tags say of traits, and the fit's sites."""
    table = small_table(seed)
    begins = np.arange(len(table.users)) % 4 * 10_000_000  # so that some begin late
    table = replace(table, at=table.at + begins[table.user])
    trial = trial_of(table, knowledge="forward")
    later = trial.clock >= trial.fitted_at
    assert not trial.fit_rows[later].any()
    other = trial_of(relabelled(table, later, np.random.default_rng(seed)), knowledge="forward")
    for one, again in zip(compared(trial), compared(other), strict=True):
        assert one.prior.fingerprint == again.prior.fingerprint
        if one.traits is not None and again.traits is not None:
            assert np.array_equal(one.traits.sites.sites, again.traits.sites.sites)


def test_forward_the_same_users_are_tested_with_fewer_to_fit() -> None:
    table = small_table(0)
    trial = trial_of(replace(table, at=table.at + np.arange(len(table.users))[table.user] * 10_000_000), knowledge="forward")
    fewer = with_fit_users(trial, 2)
    assert fewer.fit.sum() == 2
    assert fewer.fitted_at == trial.fitted_at
    assert [fewer.table.users[user] for user in fewer.tested] == [table.users[user] for user in trial.tested]


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000))
def test_a_users_own_swipes_never_enter_the_appeal_they_see(seed: int) -> None:
    table = small_table(seed, candidates=6)  # few, so that everybody meets candidates again
    trial = trial_of(table)
    for user in (1, 3):
        mine = table.user == user
        other = trial_of(relabelled(table, mine, np.random.default_rng(seed)))
        assert trial.appeal_when_swiped[mine] == pytest.approx(
            other.appeal_when_swiped[mine], abs=1e-12
        )  # up to rounding: it is added and taken out
        rest = trial.holdout_rows(np.array([user]), T)
        assert trial.appeal_when_ranked(rest, T) == pytest.approx(other.appeal_when_ranked(rest, T), abs=1e-12)


@settings(max_examples=5)
@given(seed=st.integers(0, 10_000))
def test_tested_users_do_not_enter_the_population(seed: int) -> None:
    table = small_table(seed)
    trial = trial_of(table, appeal_from="fit")
    tested = ~trial.fit[table.user]
    other = trial_of(relabelled(table, tested, np.random.default_rng(seed)), appeal_from="fit")
    for one, again in zip(compared(trial), compared(other), strict=True):
        assert one.prior.fingerprint == again.prior.fingerprint


@settings(max_examples=5)
@given(seed=st.integers(0, 10_000))
def test_matches_are_predicted_before_either_side_has_decided(seed: int) -> None:
    table = mutual_table(seed)
    trial = trial_of(table)
    among = compared(trial)
    before = match_pairs(trial, among, T, advance=lambda _: None)
    for user in np.unique(before.viewer)[:2]:
        moment = trial.clock[trial.begin[user] + T]
        later = trial.clock >= moment
        after = match_pairs(trial_of(relabelled(table, later, np.random.default_rng(seed))), among, T, advance=lambda _: None)
        here, there = before.viewer == user, after.viewer == user
        assert np.array_equal(before.forward[:-1, here], after.forward[:-1, there])
        assert np.array_equal(before.backward[:-1, here], after.backward[:-1, there])


def test_shuffling_keeps_every_users_likes_and_nothing_else() -> None:
    trial = trial_of(small_table(3))
    mixed = shuffled_trial(trial, 0)
    for user in range(len(trial.table.users)):
        rows = slice(trial.begin[user], trial.begin[user + 1])
        assert trial.table.like[rows].sum() == mixed.table.like[rows].sum()
    assert (trial.table.like != mixed.table.like).any()
    assert np.array_equal(trial.table.candidate, mixed.table.candidate)


def test_a_pair_that_one_side_has_decided_already_is_not_ranked() -> None:
    table = mutual_table(0)
    early = table.at.copy() if table.at is not None else np.empty(0)
    early[table.user == 0] = 0  # user 0 decides about everybody before anything else happens
    trial = trial_of(replace(table, at=early))
    found = match_pairs(trial, [], T, advance=lambda _: None)
    answers = MutualSwipes(trial).answer
    assert (answers >= 0).all()
    for user in np.unique(found.viewer):
        rows = trial.holdout_rows(np.array([user]), T)
        moment = trial.clock[trial.begin[user] + T]
        open_ones = int((trial.clock[answers[rows]] >= moment).sum())
        assert int((found.viewer == user).sum()) == open_ones
        assert 0 not in table.candidate[rows[trial.clock[answers[rows]] >= moment]]
