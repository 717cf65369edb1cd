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
    assert Prior.ones(60).effective_threshold == pytest.approx(-0.52 * 2 * np.sqrt(30))
    assert Prior(np.zeros(4)).effective_threshold == 0.0
    assert Prior(np.ones(4), "a", threshold=1.5).effective_threshold == 1.5


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
        ({"weights": [1.0], "version": "a", "label_noise": 0.5}, "label_noise"),
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
    assert (grown.effective_threshold, grown.appeal) == (0.5, 0.1)
    assert grown.covariance is not None
    assert np.diag(grown.covariance).tolist() == [1, 3, 2, 2, 5, 7]
    assert Prior.ones(3).grown(5).effective_threshold == Prior.ones(3).effective_threshold
    assert prior.grown(2) is prior
    assert (prior.added_tags, grown.added_tags, grown.grown(5).added_tags, grown.grown(5).original_tags) == (0, 2, 3, 2)
    with pytest.raises(InvalidInput, match="shrink"):
        prior.grown(1)


def test_a_prior_survives_bytes() -> None:
    plain, full = Prior([1.0, 2.0]), Prior(np.array([0.0, 2.0]), "a", 0.5, 0.1, np.diag([1.0, 3.0, 5.0, 7.0]), 0.3)
    for prior in (plain, full, Prior.ones(5), Prior.ones(5).grown(7), Prior(np.ones(2), "b", threshold=1.0)):
        again = Prior.from_bytes(prior.to_bytes())
        assert again.to_bytes() == prior.to_bytes()
        assert (again.version, again.label_noise, again.appeal) == (prior.version, prior.label_noise, prior.appeal)
        assert again.effective_threshold == prior.effective_threshold
        assert again.added_tags == prior.added_tags
        assert again.fingerprint == prior.fingerprint
    data = bytearray(full.to_bytes())
    data[20] ^= 1
    for wrong in (bytes(data), full.to_bytes()[:-3], b"", b"kp", "text"):
        with pytest.raises(InvalidInput, match="prior"):
            Prior.from_bytes(wrong)  # type: ignore[arg-type]


def test_a_fingerprint_covers_everything_it_says() -> None:
    base: dict[str, Any] = {"weights": np.ones(1), "version": "a", "threshold": 0.1, "covariance": np.eye(3), "label_noise": 0.2}
    others = ({"covariance": 2 * np.eye(3)}, {"label_noise": 0.1}, {"threshold": 0.2}, {"appeal": 1.0}, {"weights": np.zeros(1)})
    prints = {Prior(**(base | other)).fingerprint for other in ({}, *others)}
    assert len(prints) == 6
    assert Prior(**base).with_content_version("x").version == Prior(**(base | {"version": "b"})).with_content_version("x").version


def test_a_prior_of_another_format_is_refused() -> None:
    data = bytearray(Prior(np.array([0.5, -1.0]), "old", threshold=0.25).to_bytes())
    data[2] = 2
    with pytest.raises(InvalidInput, match="stored in format 2, this release reads format 4; export with"):
        Prior.from_bytes(bytes(data))


def test_it_does_not_matter_in_how_many_steps_a_prior_grows() -> None:
    """A vocabulary may get a tag per day for years."""
    rng = np.random.default_rng(0)
    first = Prior(rng.normal(size=6), "fitted", threshold=-0.5, covariance=np.diag(rng.random(8)))
    grown = first
    for dimensions in range(7, 67):
        grown = grown.grown(dimensions)
    assert grown.to_bytes() == first.grown(66).to_bytes()
    assert grown.version == "fitted+60"
