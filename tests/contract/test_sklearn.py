"""scikit-learn's own checks, on `SwipeClassifier` with three kinds of learners; `benchmarks/adapters.py` runs them on all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import kaczmatch
from adapters import ACCURACY, exemptions
from kaczmatch.sklearn import SwipeClassifier

CHECKS = 56  # of scikit-learn 1.9, per learner
KINDS = (
    "probit-diag",
    "block-nk",
    "k-nonorm",
)  # a belief; a rule that waits for a block; a rule that some checks are too hard for


def expected_failures(classifier: SwipeClassifier) -> dict[str, str]:
    return exemptions(classifier.learner)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([SwipeClassifier(slug) for slug in KINDS], expected_failed_checks=expected_failures, xfail_strict=True)
def test_scikit_learn_checks_it(estimator: SwipeClassifier, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_no_check_is_lost() -> None:
    """A release with fewer checks than before, or with other names for the exempted ones, shows here."""
    found = Counter(str(check.func.__name__) for _, check in estimator_checks_generator(SwipeClassifier()))
    assert found.total() >= CHECKS
    assert found[ACCURACY] == 3


ROWS = np.array([[1.0, 0.0], [0.0, 1.0]] * 20)


@pytest.mark.parametrize("liked", [["like", "pass"], ["Like", "Pass"], [True, False], [1, 0], [1, -1]])
@pytest.mark.parametrize("slug", ["probit-diag", "tk"])
def test_a_like_is_the_like_in_whatever_way_it_is_written(liked: list[Any], slug: str) -> None:
    classifier = SwipeClassifier(slug, prior=np.ones(2)).fit(ROWS, np.array(liked * 20))
    assert classifier.predict(ROWS[:2]).tolist() == liked
    direct = kaczmatch.learner(slug)
    state = direct.start(np.ones(2))
    for row, label in zip(ROWS, ["like", "pass"] * 20, strict=True):
        state = direct.swipe(state, row, label)
    assert classifier.state_ == state


def test_parts_give_the_same_bits_as_the_whole() -> None:
    labels = np.array([1, 0] * 20)
    whole = SwipeClassifier("probit").fit(ROWS, labels)
    parts = SwipeClassifier("probit")
    for first in range(0, len(ROWS), 8):
        parts.partial_fit(ROWS[first : first + 8], labels[first : first + 8], classes=[0, 1])
    assert parts.state_ == whole.state_


def test_learners_without_probabilities_have_no_predict_proba() -> None:
    assert not hasattr(SwipeClassifier("tk"), "predict_proba")
    assert hasattr(SwipeClassifier("logistic"), "predict_proba")


def test_it_is_used_like_any_classifier_with_frames_and_settings() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((200, 3)) < 0.5, columns=["climbing", "jazz", "chess"]).astype(float)
    answers = np.where(frame["climbing"] > 0.5, "like", "pass")
    scores = cross_val_score(SwipeClassifier("probit", {"label_noise": 0.05}), frame, answers, scoring="roc_auc")
    assert scores.mean() > 0.95


def test_a_setting_that_there_is_not_is_refused_when_it_is_used() -> None:
    with pytest.raises(kaczmatch.InvalidInput, match="alfa"):
        SwipeClassifier("tk", {"alfa": 2.0}).fit(ROWS, np.array([1, 0] * 20))
