"""The table of predictions: learn, freeze, rank, as by hand; and what is recommended of what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kaczmatch
from kaczmatch import InvalidInput
from kaczmatch.core import ranking_metrics as ranking
from kaczmatch.core.ranking_metrics import NDCG
from kaczmatch.evaluation.contenders import APPEAL, OWN_RATE, RANDOM, UNLEARNED, Contender, named_learner, published_start
from kaczmatch.evaluation.predictions import Predictions, usable_times
from kaczmatch.evaluation.scores import Scores, recommend
from kaczmatch.evaluation.trial import Protocol, Trial
from worlds.logs import small_table
from worlds.trials import areas, fitted, learning, table_of

TIMES = (0, 3, 8)
SLUGS = ("all-ones", "block-nk", "probit", "rocchio")


@pytest.fixture(scope="module")
def trial() -> Trial:
    return Trial(small_table(1, users=20, tags=9), Protocol(times=TIMES, rest=3))


@pytest.fixture(scope="module")
def among(trial: Trial) -> list[Contender]:
    return learning(trial, *SLUGS)


@pytest.fixture(scope="module")
def table(trial: Trial) -> Predictions:
    return table_of(trial, fitted(trial, *SLUGS, pooled=True), TIMES)


def test_one_user_by_live_calls(trial: Trial, among: list[Contender], table: Predictions) -> None:
    """Scores after t swipes, and the probability before each swipe, are those of the same calls in an app."""
    log = trial.table
    user = int(np.intersect1d(*(trial.testable(t) for t in TIMES[1:]))[0])
    rows = np.arange(trial.begin[user], trial.begin[user + 1])
    for each in among:
        state, found = each.learner.start(each.prior), []
        for place, row in enumerate([*rows, None]):
            if place in TIMES:
                rest, moment = rows[place:], trial.clock[rows[place]]
                appeal = trial.appeals(log.user[rest], log.candidate[rest], np.full(len(rest), moment))
                said = each.learner.score(state, log.features[log.candidate[rest]], kaczmatch.appeal_rows(appeal))
                there = (table.user == user) & (table.t == place) & ~table.ahead
                assert np.array_equal(table.row[there], rest)
                assert table.said[each.name][there] == pytest.approx(said, abs=1e-12)
            if row is not None:
                features, heard = log.features[log.candidate[row]], kaczmatch.appeal_rows(trial.appeal_when_swiped[[row]])
                if isinstance(each.learner, kaczmatch.ProbabilisticLearner):
                    found.append(float(each.learner.probability(state, features[None], heard)[0]))
                seen = kaczmatch.ShownCandidate(features, heard[0])
                state = each.learner.swipe(state, seen, "like" if log.like[row] else "pass")
        if found:
            assert table.said[each.name][(table.user == user) & table.ahead] == pytest.approx(found, abs=1e-12)


def test_measures_are_those_of_each_users_rows(trial: Trial, table: Predictions) -> None:
    users, names = trial.tested, ["probit", OWN_RATE]
    found, gains = (table.by_user(names, TIMES, users, measure) for measure in (0, NDCG))
    for place, t in enumerate(TIMES):
        assert set(users[np.isfinite(found[place]).all(axis=1)]) == set(trial.testable(t).tolist())
        for column, user in enumerate(users):
            rows = (table.user == user) & (table.t == t) & ~table.ahead
            if np.isfinite(found[place, column, 0]):
                scores, like = np.round(table.said["probit"][rows], 12), table.like[rows]
                assert found[place, column, 0] == ranking.auc(scores, like)
                assert gains[place, column, 0] == ranking.ndcg(scores, like, 10)
    assert np.nanmin(found[:, :, 1]) == np.nanmax(found[:, :, 1]) == 0.5  # a user's own rate orders nobody
    assert not trial.fit[table.user].any()


def test_what_is_compared(trial: Trial, table: Predictions) -> None:
    assert list(table.said) == [
        "all-ones",
        "block-nk",
        "block-nk + population",
        "block-nk" + UNLEARNED,
        "block-nk + population" + UNLEARNED,
        "probit",
        "probit + population",
        "probit + population + appeal",
        "probit" + UNLEARNED,
        "probit + population" + UNLEARNED,
        "probit + population + appeal" + UNLEARNED,
        "rocchio",
        "rocchio" + UNLEARNED,
        "pooled logistic regression",
        "pooled gradient boosting",
        APPEAL,
        OWN_RATE,
        RANDOM,
    ]
    assert np.linalg.norm(published_start(kaczmatch.learner("tk"), 9).weights) == pytest.approx(1.0)
    assert not published_start(kaczmatch.learner("probit"), 9).weights.any()


def test_without_own_swipes_a_state_is_as_at_0_and_hears_others_all_the_same(trial: Trial, table: Predictions) -> None:
    name = "probit + population + appeal"
    start, later = ((table.t == t) & ~table.ahead for t in (0, 8))
    assert np.array_equal(table.said[name][start], table.said[name + UNLEARNED][start])
    assert not np.array_equal(table.said[name][later], table.said[name + UNLEARNED][later])
    one = next(each for each in fitted(trial, "probit") if each.name == name)
    assert isinstance(one, Contender)
    asked = trial.held_out(trial.tested, [8])
    features = trial.table.features[trial.table.candidate[asked.row]]
    said = one.learner.score(one.learner.start(one.prior), features, kaczmatch.appeal_rows(asked.appeal))
    assert table.said[name + UNLEARNED][later] == pytest.approx(said, abs=1e-12)


@pytest.mark.parametrize("knowledge", ["strict", "mature"])
def test_candidates_without_history_are_those_about_whom_nobody_else_had_decided(knowledge: Any) -> None:
    log = small_table(4, candidates=60)
    trial = Trial(log, Protocol(times=(5,), rest=2, knowledge=knowledge))
    asked = trial.held_out(trial.tested, [5])
    for place, row in enumerate(asked.row):
        others = (log.candidate == log.candidate[row]) & (log.user != asked.user[place])
        known = others & (trial.clock < (asked.moment[place] if knowledge == "strict" else np.inf))
        assert trial.known_by_others(asked)[place] == known.any()


@pytest.mark.parametrize(
    ("settings", "field"),
    [({"times": ()}, "times"), ({"times": (-1,)}, "times"), ({"rest": 1}, "rest"), ({"knowledge": "last"}, "protocol")],
)
def test_a_protocol_that_makes_no_sense_is_refused(settings: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Protocol(**settings)  # type: ignore[arg-type]
    assert caught.value.field == field


def test_too_few_users_are_counted_at_each_number_of_swipes(trial: Trial) -> None:
    with pytest.raises(InvalidInput, match=r"the longest history has 14 swipes; 0 users can be tested after 500\); lower --at"):
        usable_times(Trial(trial.table, Protocol(times=(500,), rest=3)), 2)


def test_a_learner_is_typed_with_its_settings() -> None:
    assert named_learner("probit-diag(alpha=2, appeal=True)") == kaczmatch.learner("probit-diag", alpha=2, appeal=True)
    assert named_learner("nk(direction='unit')") == kaczmatch.learner("nk", direction="unit")
    assert named_learner("tk") == named_learner("tk()") == kaczmatch.learner("tk")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("probt(alpha=2)", "there is no learner 'probt'; did you mean 'probit'"),
        ("probit-diag(alfa=2)", "alfa: is not a setting of 'probit-diag'; did you mean 'alpha'"),
        ("probit-diag(alpha=two)", "alpha: of 'probit-diag' must be a number, a text in quotes, True or False, got two"),
        ("probit-diag(alpha=-1)", "alpha: must be"),
        ("probit-diag(2)", "learner: must be a learner such as 'probit' or 'probit-diag(alpha=2)', got 'probit-diag(2)'"),
        ("probit-diag(alpha=2", "learner: must be a learner"),
        ("probit-diag(alpha=1, alpha=2)", "alpha: is given twice"),
        ("probit-diag(**{'alpha': 2})", "learner: must be a learner"),
        ("probit-diag(alpha=2)(alpha=3)", "learner: must be a learner"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(text: str, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        named_learner(text)
    assert says in str(caught.value)


def made_up(best: float, small: float, appeal: float, among: list[Contender]) -> Scores:
    """Forty users for whom probit, its smaller rival block-nk, and appeal have these AUCs, and everybody else chance."""
    names = [*(each.name for each in among), APPEAL, OWN_RATE, RANDOM]
    levels = {"probit": best, "block-nk": small, APPEAL: appeal}
    auc = np.array([levels.get(name, 0.5) for name in names]) + 0.02 * np.random.default_rng(0).normal(size=(2, 40, len(names)))
    return Scores(names, (0, 5), auc, [0])


def test_the_best_is_recommended_or_a_far_smaller_equal_or_appeal(
    among: list[Contender], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kaczmatch.evaluation.scores.FAR_SMALLER", 3)  # so few tags make no large states
    assert recommend(made_up(0.8, 0.7, 0.6, among), among, {}).chosen == "probit"
    cheaper = recommend(made_up(0.802, 0.8, 0.6, among), among, {})
    assert (cheaper.chosen, cheaper.best) == ("block-nk", "probit")
    humble = recommend(made_up(0.6, 0.6, 0.7, among), among, {})
    assert humble.chosen == APPEAL
    assert not humble.proven
    assert not recommend(made_up(0.5, 0.5, 0.5, among), among, {}).proven


@pytest.mark.parametrize("log_loss", [{"probit": 0.5}, {"probit": 0.5, "block-nk": 0.511}])
def test_bytes_are_not_paid_for_with_log_loss(
    among: list[Contender], log_loss: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kaczmatch.evaluation.scores.FAR_SMALLER", 3)
    equal = made_up(0.802, 0.8, 0.6, among)
    assert recommend(equal, among, log_loss).chosen == "probit"
    assert recommend(equal, among, {"probit": 0.5, "block-nk": 0.505}).chosen == "block-nk"


def test_what_is_recommended_is_nowhere_far_behind(among: list[Contender]) -> None:
    """Not what has the highest mean over numbers of swipes, which hides where it fails."""
    names = [*(each.name for each in among), APPEAL, OWN_RATE]
    levels = {"probit": (0.70, 0.80), "block-nk": (0.79, 0.74)}
    values = np.stack([[levels.get(name, (0.5, 0.5))[place] for name in names] for place in range(2)])
    auc = values[:, None] + 0.01 * np.random.default_rng(0).normal(size=(2, 40, len(names)))
    assert recommend(Scores(names, (0, 5), auc, [0]), among, {}).chosen == "block-nk"


def test_pooled_models_do_not_see_what_is_ranked() -> None:
    """With shuffled decisions they rank at chance, also where other people's future is past and appeal could tell a swipe's own
    decision (a model trained on appeal without its own decision reaches .9 there)."""
    for knowledge in ("strict", "mature"):
        log = small_table(1, users=80, swipes=50, candidates=25, tags=3)
        trial = Trial(log, Protocol(times=(0, 10), rest=5, knowledge=knowledge))  # type: ignore[arg-type]
        found = np.nanmean(areas(trial, [each for each in fitted(trial, pooled=True) if "pooled" in each.name], (0, 10)), axis=1)
        assert np.abs(found - 0.5).max() < 0.035, knowledge
