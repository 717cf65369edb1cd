"""River's own checks, on `SwipeClassifier` with three kinds of learners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from river import evaluate, metrics
from river.checks import yield_checks
from river.datasets import Phishing

import kaczmatch
from kaczmatch.river import SwipeClassifier

CHECKS = 42  # of River 0.26, per learner
KINDS = ("probit-diag", "tk", "block-nk")  # a belief, a rule, a rule that waits for a block
ALL = [
    pytest.param(slug, check, id=f"{slug}-{number}-{getattr(check, '__name__', 'check')}")
    for slug in KINDS
    for number, check in enumerate(yield_checks(SwipeClassifier(slug)))
]


@pytest.mark.parametrize(("slug", "check"), ALL)
def test_river_checks_it(slug: str, check: Callable[[Any], None]) -> None:
    check(SwipeClassifier(slug).clone())


def test_no_check_is_lost() -> None:
    assert len(ALL) >= CHECKS * len(KINDS)


def test_new_names_may_come_at_any_time_and_old_ones_stay_away() -> None:
    classifier = SwipeClassifier()
    for _ in range(10):
        classifier.learn_one({"climbing": 1, "cooking": 1}, "like")
        classifier.learn_one({"cooking": 1, "jazz": 1}, np.False_)
    assert classifier.predict_proba_one({"climbing": 1})[True] > 0.5 > classifier.predict_proba_one({"jazz": 1})[True]
    unknown = classifier.predict_proba_one({"chess": 1})
    assert unknown == classifier.predict_proba_one({})
    assert classifier.state is not None
    assert classifier.state.dimensions == 3


def test_settings_of_the_learner_are_parameters() -> None:
    classifier = SwipeClassifier("tk", alpha=9.0).clone({"alpha": 2.0})
    classifier.learn_one({"jazz": 1.0}, True)
    assert classifier.state == kaczmatch.TikhonovKaczmarz(alpha=2.0).swipe(kaczmatch.TikhonovKaczmarz().start([0.0]), [1.0], True)
    with pytest.raises(kaczmatch.InvalidInput, match="alfa"):
        SwipeClassifier("tk", alfa=2.0)


def test_nothing_is_learned_from_nothing() -> None:
    classifier = SwipeClassifier("tk")
    classifier.learn_one({}, True)
    assert classifier.state is None
    assert classifier.predict_one({"jazz": 1}) is False


def test_it_learns_a_stream_of_river() -> None:
    found = evaluate.progressive_val_score(Phishing(), SwipeClassifier("probit"), metrics.ROCAUC())
    assert found.get() > 0.9
