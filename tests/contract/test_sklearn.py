"""scikit-learn's own checks, on `SwipeClassifier` with three kinds of learners, and what it does for one user and for many."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import kaczmatch
from kaczmatch.sklearn import SwipeClassifier

CHECKS = 56  # of scikit-learn 1.9, per learner
KINDS = ("probit-diag", "tk", "block-nk")  # a belief, a rule, a rule that waits for a block


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([SwipeClassifier(slug) for slug in KINDS])
def test_scikit_learn_checks_it(estimator: SwipeClassifier, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_no_check_is_lost() -> None:
    """A release with fewer checks than before shows here."""
    assert len(list(estimator_checks_generator(SwipeClassifier()))) >= CHECKS


ROWS = np.array([[1.0, 0.0], [0.0, 1.0]] * 20)
LIKED = np.array([1, 0] * 20)


@pytest.mark.parametrize("liked", [["like", "pass"], ["Like", "Pass"], [True, False], [1, 0], [1, -1]])
@pytest.mark.parametrize("slug", ["probit-diag", "tk"])
def test_a_like_is_the_like_in_whatever_way_it_is_written(liked: list[Any], slug: str) -> None:
    classifier = SwipeClassifier(slug, prior=np.ones(2)).fit(ROWS, np.array(liked * 20))
    assert classifier.predict(ROWS[:2]).tolist() == liked
    direct = kaczmatch.learner(slug)
    state = direct.start(np.ones(2))
    for row, label in zip(ROWS, ["like", "pass"] * 20, strict=True):
        state = direct.swipe(state, row, label)
    assert dict(classifier.states_) == {0: state}


def test_parts_give_the_same_bits_as_the_whole() -> None:
    whole = SwipeClassifier("probit").fit(ROWS, LIKED)
    parts = SwipeClassifier("probit")
    for first in range(0, len(ROWS), 8):
        parts.partial_fit(ROWS[first : first + 8], LIKED[first : first + 8], classes=[0, 1])
    assert dict(parts.states_) == dict(whole.states_)


def test_learners_without_probabilities_have_no_predict_proba() -> None:
    assert not hasattr(SwipeClassifier("tk"), "predict_proba")
    assert hasattr(SwipeClassifier("logistic"), "predict_proba")


def test_settings_of_the_learner_are_parameters() -> None:
    classifier = clone(SwipeClassifier("tk", alpha=9.0))
    assert classifier.fit(ROWS, LIKED).states_.learner == kaczmatch.TikhonovKaczmarz(alpha=9.0)
    assert classifier.get_params()["hinge"] == kaczmatch.Hinge()
    classifier.set_params(learner="nk", eta=0.1, direction="unit")
    assert classifier.get_params()["eta"] == 0.1
    with pytest.raises(ValueError, match="alfa"):
        SwipeClassifier("tk").set_params(alfa=2.0)
    with pytest.raises(kaczmatch.InvalidInput, match="alpha: is not a setting of 'nk'"):
        classifier.fit(ROWS, LIKED)
    search = GridSearchCV(SwipeClassifier("probit-diag"), {"alpha": [0.02, 1e6], "label_noise": [0.05]}, cv=2).fit(ROWS, LIKED)
    assert search.best_params_["alpha"] == 0.02


def test_weights_and_sparse_rows_are_refused() -> None:
    with pytest.raises(TypeError, match="sample_weight"):
        SwipeClassifier().fit(ROWS, LIKED, sample_weight=np.ones(40))
    for classifier in (SwipeClassifier(), SwipeClassifier(user=0)):
        with pytest.raises(TypeError, match="Sparse data was passed for X, but dense data is required"):
            classifier.fit(csr_array(ROWS), LIKED)


# Many users: each has a taste around a common one, and candidates have a charm that no tag tells.
USERS, CANDIDATES = 30, 40
TAGS = ["climbing", "jazz", "chess", "night owl"]


def crowd(seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    tags = (rng.random((CANDIDATES, len(TAGS))) < 0.5).astype(float)
    taste = np.array([2.0, -2.0, 0.0, 0.0]) + rng.normal(size=(USERS, len(TAGS)))
    charm, moved = 2.0 * rng.normal(size=CANDIDATES), 1.0 + rng.normal(size=USERS)
    user, candidate = (each.ravel() for each in np.meshgrid(np.arange(USERS), np.arange(CANDIDATES), indexing="ij"))
    felt = (taste[user] * (tags[candidate] - 0.5)).sum(axis=1) + moved[user] * charm[candidate]
    frame = pd.DataFrame(tags[candidate], columns=TAGS).assign(
        user=[f"u{each}" for each in user],
        candidate=candidate,
        at=pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.permutation(len(user)), "min"),
    )
    order = rng.permutation(len(frame))
    return frame.iloc[order].reset_index(drop=True), np.where(felt + rng.logistic(size=len(felt)) > 0.0, "like", "pass")[order]


def classifier_of_many(learner: str = "probit-diag", **settings: Any) -> SwipeClassifier:
    return SwipeClassifier(learner, user="user", candidate="candidate", at="at", **settings)


def auc(classifier: Any, frame: Any, liked: Any) -> float:
    return float(roc_auc_score(np.asarray(liked) == "like", classifier.predict_proba(frame)[:, 0]))


def test_many_users_learn_as_with_the_library_itself() -> None:
    frame, liked = crowd()
    frame = frame.drop(columns="candidate")
    found = SwipeClassifier("probit-diag", user="user", at="at").fit(frame, liked)
    order = np.argsort(frame["at"], kind="stable")
    log = {
        "user": frame["user"][order],
        "features": frame[TAGS].to_numpy()[order],
        "label": liked[order],
        "at": frame["at"][order],
    }
    learner = kaczmatch.ProbitDiagonal()
    prior = kaczmatch.fit_prior(learner, log, neutral=np.zeros(len(TAGS)))
    assert dict(found.states_) == dict(kaczmatch.replay(learner, log, prior=prior))
    row = frame.iloc[[7]]
    expected = learner.probability(found.states_[row["user"].iloc[0]], row[TAGS].to_numpy())
    assert found.predict_proba(row)[:, 0].tolist() == expected.tolist()
    newcomer = learner.probability(learner.start(prior), row[TAGS].to_numpy())
    assert found.predict_proba(row.assign(user="new"))[:, 0].tolist() == newcomer.tolist()


@pytest.mark.parametrize("slug", ["probit-diag", "probit-traits"])
def test_what_others_said_of_a_candidate_counts_and_anybody_may_be_new(slug: str) -> None:
    frame, liked = crowd()
    late = (frame["at"] >= frame["at"].quantile(0.8)).to_numpy()
    some = np.isin(frame["user"], [f"u{each}" for each in range(10)])
    for held in (some & late, some):
        found = classifier_of_many(slug).fit(frame[~held], liked[~held])
        tags = frame.drop(columns="candidate")
        plain = SwipeClassifier("probit-diag", user="user", at="at").fit(tags[~held], liked[~held])
        assert auc(found, frame[held], liked[held]) > auc(plain, tags[held], liked[held])
    nobody_knows = frame[held].assign(candidate=-1)
    same_tags = nobody_knows.assign(user="new").drop_duplicates(TAGS)
    assert len(set(found.predict_proba(same_tags)[:, 0])) == len(same_tags)  # tags alone tell them apart


@pytest.mark.parametrize("most", [12, 2_000])
def test_traits_are_told_by_people_whom_they_were_not_fitted_on_too(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, liked = crowd()
    monkeypatch.setattr("kaczmatch.sklearn.fit_population", partial(kaczmatch.fit_population, most=most, traits=True))
    found = classifier_of_many("probit-traits", traits=1, directions=1).fit(frame, liked)
    assert found.states_.learner.slug == "probit-traits"
    assert auc(found, frame, liked) > auc(found, frame.assign(candidate=-1), liked) + 0.02


def test_frames_of_polars_and_arrays_say_the_same() -> None:
    frame, liked = crowd()
    one = classifier_of_many().fit(frame, liked).predict_proba(frame)
    polars_frame = pl.DataFrame({name: frame[name].to_list() for name in frame.columns})
    other = classifier_of_many().fit(polars_frame, liked).predict_proba(polars_frame)
    array = frame.assign(at=(frame["at"] - pd.Timestamp(0)) / pd.Timedelta(seconds=1))[
        ["user", "candidate", "at", *TAGS]
    ].to_numpy()
    places = SwipeClassifier("probit-diag", user=0, candidate=1, at=2).fit(array, liked).predict_proba(array)
    assert one.tolist() == other.tolist()
    assert one.tolist() == places.tolist()


def test_many_users_in_pipelines_searches_and_groups() -> None:
    frame, liked = crowd()
    scaled = make_column_transformer(
        (StandardScaler(), TAGS), remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="pandas")
    piped = make_pipeline(scaled, classifier_of_many())
    scores = cross_val_score(piped, frame, liked, groups=frame["user"], cv=GroupKFold(3), scoring="roc_auc")
    assert scores.min() > 0.6
    search = GridSearchCV(piped, {"swipeclassifier__alpha": [0.02, 1e6]}, cv=GroupKFold(2), scoring="roc_auc")
    search.fit(frame, liked, groups=frame["user"])
    assert search.best_estimator_[-1].states_.learner.alpha == search.best_params_["swipeclassifier__alpha"]
    assert len(set(search.cv_results_["mean_test_score"])) == 2


def test_rules_without_beliefs_rank_for_many_users_too() -> None:
    frame, liked = crowd()
    found = classifier_of_many("tk").fit(frame, liked)
    assert roc_auc_score(liked == "pass", found.decision_function(frame)) > 0.6


def test_columns_that_cannot_be_used_are_named() -> None:
    frame, liked = crowd()
    for changed, field in (({"user": "usr"}, "user"), ({"user": None}, "user"), ({"prior": np.zeros(4)}, "prior")):
        with pytest.raises(kaczmatch.InvalidInput, match=f"^{field}: "):
            classifier_of_many("probit-traits").set_params(**changed).fit(frame, liked)
    with pytest.raises(kaczmatch.InvalidInput, match=r"^candidate: .* has other numbers in a later row"):
        classifier_of_many().fit(frame.assign(jazz=np.arange(len(frame))), liked)
    assert not hasattr(classifier_of_many(), "partial_fit")
