"""Learn, freeze, rank: the same as by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kaczmatch
from kaczmatch import InvalidInput
from kaczmatch.core import ranking_metrics as ranking
from kaczmatch.evaluation.measures.bootstrap_scores import BootstrapScores
from kaczmatch.evaluation.measures.holdout_ranking import APPEAL, OWN_RATE, RANDOM, HoldoutRanking, holdout_ranking, usable_times
from kaczmatch.evaluation.measures.recommendation import recommend
from kaczmatch.evaluation.protocol.contenders import TRAITS, Contender, contenders, published_start
from kaczmatch.evaluation.protocol.trial import Protocol, Trial
from kaczmatch.evaluation.reporting.ranking import ranking_tables
from worlds.logs import small_table

TIMES = (0, 3, 8)


@pytest.fixture(scope="module")
def trial() -> Trial:
    return Trial(small_table(1, users=20, tags=9), Protocol(times=TIMES, rest=3))


@pytest.fixture(scope="module")
def among(trial: Trial) -> list[Contender]:
    return contenders(trial, ["all-ones", "block-nk", "probit", "rocchio"], tick=lambda _: None)


@pytest.fixture(scope="module")
def found(trial: Trial, among: list[Contender]) -> HoldoutRanking:
    return holdout_ranking(trial, among, TIMES, trial.tested, advance=lambda _: None)


def test_one_user_by_live_calls(trial: Trial, among: list[Contender], found: HoldoutRanking) -> None:
    table = trial.table
    user = int(np.flatnonzero(found.cohort)[0])
    rows = np.arange(trial.begin[found.users[user]], trial.begin[found.users[user] + 1])
    for place, t in enumerate(TIMES):
        rest = rows[t:]
        moment = trial.clock[rest[0]]
        for column, each in enumerate(among):
            state = each.learner.start(each.prior)
            for row in rows[:t]:
                seen = kaczmatch.ShownCandidate(table.features[table.candidate[row]], [trial.appeal_when_swiped[row], 0.0])
                state = each.learner.swipe(state, seen, "like" if table.like[row] else "pass")
            appeal = trial.appeals(table.user[rest], table.candidate[rest], np.full(len(rest), moment))
            scores = np.round(each.learner.score(state, table.features[table.candidate[rest]], kaczmatch.appeal_rows(appeal)), 12)
            assert found.auc[place, user, column] == pytest.approx(ranking.auc(scores, table.like[rest]))
            assert found.ndcg[place, user, column] == pytest.approx(ranking.ndcg(scores, table.like[rest], 10))


def test_users_who_cannot_be_tested_everywhere_are_left_out_of_the_cohort(found: HoldoutRanking, trial: Trial) -> None:
    assert set(found.users[found.cohort]) == set.intersection(*(set(trial.testable(t).tolist()) for t in TIMES))
    for place, t in enumerate(TIMES):
        assert set(found.users[found.testable(place)]) == set(trial.testable(t).tolist())
    assert not trial.fit[found.users].any()


def test_the_users_own_rate_orders_nobody_and_chance_comes_out_at_a_half(found: HoldoutRanking) -> None:
    column = list(found.names).index(OWN_RATE)
    assert np.nanmin(found.auc[:, :, column]) == np.nanmax(found.auc[:, :, column]) == 0.5
    assert found.names[-1] == RANDOM


def test_learners_without_a_population_start_as_published() -> None:
    assert np.linalg.norm(published_start(kaczmatch.learner("tk"), 9).weights) == pytest.approx(1.0)
    assert not published_start(kaczmatch.learner("probit"), 9).weights.any()


def test_who_can_start_from_a_population_does(among: list[Contender]) -> None:
    names = [each.name for each in among]
    assert names == [
        "all-ones",
        "block-nk",
        "block-nk + population",
        "probit",
        "probit + population",
        "probit + population + appeal",
        "rocchio",
    ]


def test_tables_hold_every_contender_at_every_number_of_swipes(found: HoldoutRanking) -> None:
    scores = BootstrapScores.of(found, np.random.default_rng(0))
    tables = {table.name: table for table in ranking_tables(scores)}
    assert len(tables["ranking"].rows) == len(TIMES) * len(found.names)
    row = next(row for row in tables["ranking"].rows if row["learner"] == "probit" and row["swipes"] == 3)
    appeal = next(row for row in tables["ranking"].rows if row["learner"] == APPEAL and row["swipes"] == 3)
    assert row["over_appeal"] == pytest.approx(row["auc"] - appeal["auc"])
    assert row["low"] <= row["auc"] <= row["high"]
    assert set(tables["auc"].rows[0]) == {"learner", "after_0", "after_3", "after_8"}


def test_too_long_a_wish_is_answered_with_what_to_lower(trial: Trial) -> None:
    greedy = Trial(trial.table, Protocol(times=(500,), rest=3))
    with pytest.raises(InvalidInput, match=r"the longest history has 14 swipes.*lower --at, --rest or --at-least"):
        usable_times(greedy, 2)


@pytest.mark.parametrize(
    ("settings", "field"),
    [({"times": ()}, "times"), ({"times": (-1,)}, "times"), ({"rest": 1}, "rest"), ({"appeal_at": "last"}, "appeal_at")],
)
def test_a_protocol_that_makes_no_sense_is_refused(settings: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Protocol(**settings)  # type: ignore[arg-type]
    assert caught.value.field == field


def made_up(best: float, small: float, appeal: float, among: list[Contender]) -> BootstrapScores:
    """Forty users for whom probit, its smaller rival block-nk, and appeal have these AUCs, and everybody else chance."""
    names = [*(each.name for each in among), APPEAL, OWN_RATE, RANDOM]
    levels = {"probit": best, "block-nk": small, APPEAL: appeal}
    rng = np.random.default_rng(0)
    auc = np.array([levels.get(name, 0.5) for name in names]) + 0.02 * rng.normal(size=(2, 40, len(names)))
    return BootstrapScores.of(HoldoutRanking(names, (0, 5), np.arange(40), auc, auc, auc), rng)


def test_the_best_is_recommended_or_a_far_smaller_equal_or_appeal(among: list[Contender]) -> None:
    assert recommend(made_up(0.8, 0.7, 0.6, among), among, {}).chosen == "probit"
    cheaper = recommend(made_up(0.8, 0.8, 0.6, among), among, {})
    assert cheaper.chosen == "block-nk"
    assert set(cheaper.equals) == {"probit", "block-nk"}
    humble = recommend(made_up(0.6, 0.6, 0.7, among), among, {})
    assert humble.chosen == APPEAL
    assert not humble.proven
    assert not recommend(made_up(0.5, 0.5, 0.5, among), among, {}).proven


@pytest.mark.parametrize("log_loss", [{"probit": 0.5}, {"probit": 0.5, "block-nk": 0.511}])
def test_bytes_are_not_paid_for_with_log_loss(
    among: list[Contender], log_loss: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kaczmatch.evaluation.measures.recommendation.FAR_SMALLER", 3)  # so few tags make no large states
    equal = made_up(0.802, 0.8, 0.6, among)
    spared = recommend(equal, among, log_loss)
    assert (spared.chosen, spared.best, spared.costly) == ("probit", "probit", ["block-nk"])
    assert recommend(equal, among, {"probit": 0.5, "block-nk": 0.505}).chosen == "block-nk"


def test_what_hearing_of_others_costs_where_nobody_has_decided_has_an_interval() -> None:
    rng = np.random.default_rng(0)
    names = ["probit-diag + population", TRAITS, APPEAL]
    unknown = 0.6 + 0.1 * rng.normal(size=(2, 60, 1)) + 0.01 * rng.normal(size=(2, 60, 3)) + np.array([0.0, -0.02, 0.0])
    unknown[1, :10] = np.nan  # who cannot be tested there
    ranking = HoldoutRanking(names, (0, 5), np.arange(60), unknown, unknown, unknown)
    tables = {table.name: table for table in ranking_tables(BootstrapScores.of(ranking, rng))}
    rows = tables["unknown-leads"].rows
    assert [(row["swipes"], row["users"]) for row in rows] == [(0, 60), (5, 50)]
    for row, each in zip(rows, unknown, strict=True):
        assert row["lead"] == pytest.approx(np.nanmean(each[:, 1] - each[:, 0]))
        assert row["low"] < row["lead"] < row["high"] < 0.0


@pytest.mark.parametrize("knowledge", ["strict", "mature"])
def test_candidates_without_history_are_those_about_whom_nobody_else_had_decided(knowledge: Any) -> None:
    table = small_table(4, candidates=60)
    trial = Trial(table, Protocol(times=(0, 5), rest=2, knowledge=knowledge))
    for user in (1, 3):
        rows = trial.holdout_rows(np.array([user]), 5)
        moment = trial.clock[trial.begin[user] + 5] if knowledge == "strict" else np.inf
        known = [
            bool(((table.candidate == table.candidate[row]) & (table.user != user) & (trial.clock < moment)).any())
            for row in rows
        ]
        assert trial.known_by_others(rows, 5).tolist() == known


def test_too_few_users_are_counted_at_each_number_of_swipes() -> None:
    trial = Trial(small_table(4), Protocol(times=(0, 9), rest=2))
    with pytest.raises(InvalidInput, match=r"6 users can be tested after 0, \d users can be tested after 9"):
        usable_times(trial, 10)
