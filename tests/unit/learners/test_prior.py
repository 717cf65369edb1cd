from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kaczmatch import InvalidInput, Prior


def test_a_prior_keeps_its_own_copy() -> None:
    weights = np.ones(3)
    prior = Prior(weights, version="a")
    weights[0] = 5.0
    assert prior.weights.tolist() == [1, 1, 1]
    assert not prior.weights.flags.writeable
    assert Prior.of(prior) is prior


def test_the_usual_threshold_is_the_papers_cosine_for_a_taste_of_that_length() -> None:
    assert Prior.ones(60).usual_threshold == pytest.approx(-0.52 * 2 * np.sqrt(30))
    assert Prior(np.zeros(4)).usual_threshold == 0.0
    assert Prior(np.ones(4), "a", threshold=1.5).usual_threshold == 1.5


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"weights": []}, "prior"),
        ({"weights": [np.inf]}, "prior"),
        ({"weights": [1.0], "version": 7}, "version"),
        ({"weights": [1.0], "version": "x" * 201}, "version"),
        ({"weights": [1.0], "threshold": 0.3}, "version"),
        ({"weights": [1.0], "version": "a", "threshold": np.nan}, "threshold"),
        ({"weights": [1.0], "version": "a", "appeal": "much"}, "appeal"),
        ({"weights": [1.0], "version": "a", "appeal": None}, "appeal"),
        ({"weights": [1.0], "version": "a", "appeal": 1e308}, "appeal"),
        ({"weights": [1.0], "version": "a", "covariance": np.eye(3) * 1e300}, "covariance"),
        ({"weights": [1.0], "version": "a", "covariance": np.eye(2)}, "covariance"),
        ({"weights": [1.0], "version": "a", "covariance": np.triu(np.ones((3, 3)))}, "covariance"),
        ({"weights": [1.0], "version": "a", "covariance": np.ones((3, 3))}, "covariance"),
    ],
)
def test_a_bad_prior_names_what_is_wrong(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Prior(**arguments)
    assert caught.value.field == field


def test_new_tags_are_expected_to_be_like_the_average_one() -> None:
    prior = Prior(np.array([0.0, 2.0]), "a", 0.5, 0.1, np.diag([1.0, 3.0, 5.0, 7.0]))
    grown = prior.grown(4)
    assert grown.weights.tolist() == [0, 2, 1, 1]
    assert (grown.usual_threshold, grown.appeal) == (0.5, 0.1)
    assert grown.covariance is not None
    assert np.diag(grown.covariance).tolist() == [1, 3, 2, 2, 5, 7]
    assert Prior.ones(3).grown(5).usual_threshold == Prior.ones(3).usual_threshold
    assert prior.grown(2) is prior
    with pytest.raises(InvalidInput, match="shrink"):
        prior.grown(1)
