"""No score knows what came after its moment, nor its own user's decisions through the back door."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kaczmatch.evaluation.contenders import RANDOM, Contender, Fold, Source
from kaczmatch.evaluation.matches import MatchPairs, MutualSwipes, match_pairs
from kaczmatch.evaluation.trial import Protocol, Trial
from kaczmatch.formats.swipe_table import SwipeTable
from kaczmatch.runner.local import LocalRunner
from worlds.logs import mutual_table, small_table
from worlds.trials import fitted, table_of

pytestmark = pytest.mark.slow  # a whole evaluation per example

T = 5


def trial_of(table: SwipeTable, **protocol: Any) -> Trial:
    return Trial(table, Protocol(**{"times": (0, T), "rest": 2} | protocol))


def compared(trial: Trial, *, pooled: bool = True) -> list[Source]:
    return fitted(trial, "tk", "probit-diag", "probit-traits", traits=True, pooled=pooled)


def scores(trial: Trial, among: list[Source]) -> dict[int, np.ndarray]:
    """Every user's scores of the rest after t swipes, but for those at random."""
    table = table_of(trial, among, [T])
    said = np.array([column for name, column in table.said.items() if name != RANDOM])
    return {user: said[:, ~table.ahead & (table.user == user)] for user in np.unique(table.user[~table.ahead]).tolist()}


def relabelled(table: SwipeTable, rows: np.ndarray, rng: np.random.Generator) -> SwipeTable:
    like = table.like.copy()
    like[rows] = rng.random(int(rows.sum())) < 0.5
    return replace(table, like=like)


@settings(max_examples=5)
@given(seed=st.integers(0, 10_000))
def test_answers_at_or_after_the_split_change_no_score(seed: int) -> None:
    table = small_table(seed)
    trial = trial_of(table)
    among = compared(trial)
    before = scores(trial, among)
    for user in list(before)[:3]:
        moment = trial.clock[trial.begin[user] + T]
        own_later = (table.user == user) & (np.arange(len(table)) >= trial.begin[user] + T)
        later = (trial.clock >= moment) & (table.user != user) | own_later
        after = scores(trial_of(relabelled(table, later, np.random.default_rng(seed))), among)
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
    same_fit(compared(trial, pooled=False), compared(other, pooled=False))


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000))
def test_a_users_own_swipes_never_enter_the_appeal_they_see(seed: int) -> None:
    table = small_table(seed, candidates=6)  # few, so that everybody meets candidates again
    trial = trial_of(table)
    for user in (1, 3):
        mine = table.user == user
        other = trial_of(relabelled(table, mine, np.random.default_rng(seed)))
        seen, again = trial.appeal_when_swiped[mine], other.appeal_when_swiped[mine]
        assert seen == pytest.approx(again, abs=1e-12)  # up to rounding: it is added and taken out
        rest, again_rest = (one.held_out(np.array([user]), [T]).appeal for one in (trial, other))
        assert rest == pytest.approx(again_rest, abs=1e-12)


@settings(max_examples=5)
@given(seed=st.integers(0, 10_000))
def test_tested_users_do_not_enter_what_is_fitted(seed: int) -> None:
    """Pooled models neither: they say the same of the same question."""
    table = small_table(seed)
    trial = trial_of(table)
    other = trial_of(relabelled(table, ~trial.fit[table.user], np.random.default_rng(seed)))
    one, again = compared(trial), compared(other)
    same_fit(one, again)
    pooled, its_twin = ([each for each in some if each.name.startswith("pooled")] for some in (one, again))
    for name in (each.name for each in pooled):
        assert np.array_equal(*(table_of(trial, some, [T]).said[name] for some in (pooled, its_twin)), equal_nan=True)


def same_fit(one: list[Source], other: list[Source]) -> None:
    for each, again in zip(one, other, strict=True):
        if isinstance(each, Contender) and isinstance(again, Contender):
            assert (each.name, each.learner) == (again.name, again.learner)
            assert each.prior.fingerprint == again.prior.fingerprint
            if each.traits is not None and again.traits is not None:
                assert np.array_equal(each.traits.sites.sites, again.traits.sites.sites)


@settings(max_examples=5)
@given(seed=st.integers(0, 10_000))
def test_matches_are_predicted_before_either_side_has_decided(seed: int) -> None:
    table = mutual_table(seed)
    trial = trial_of(table)
    among = compared(trial, pooled=False)
    before = match_pairs(Fold(trial, among), T, LocalRunner(1))
    for user in np.unique(before.viewer)[:2]:
        later = trial.clock >= trial.clock[trial.begin[user] + T]
        mixed = trial_of(relabelled(table, later, np.random.default_rng(seed)))
        after = match_pairs(Fold(mixed, among), T, LocalRunner(1))
        for side in ("forward", "backward"):
            assert np.array_equal(*(said_of(pairs, side, user) for pairs in (before, after)))


def said_of(pairs: MatchPairs, side: str, user: int) -> np.ndarray:
    return np.array([said[pairs.viewer == user] for name, said in getattr(pairs, side).items() if name != RANDOM])


def test_a_pair_that_one_side_has_decided_already_is_not_ranked() -> None:
    table = mutual_table(0)
    early = table.at.copy() if table.at is not None else np.empty(0)
    early[table.user == 0] = 0  # user 0 decides about everybody before anything else happens
    trial = trial_of(replace(table, at=early))
    found = match_pairs(Fold(trial, fitted(trial, "all-ones")), T, LocalRunner(1))
    answers = MutualSwipes(trial).answer
    assert (answers >= 0).all()
    for user in np.unique(found.viewer):
        rows = trial.rows(np.array([user]), T)
        still = trial.clock[answers[rows]] >= trial.clock[trial.begin[user] + T]
        assert int((found.viewer == user).sum()) == int(still.sum())
        assert 0 not in table.candidate[rows[still]]
