from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

import kaczmatch
from kaczmatch import Hinge, InvalidInput


def test_every_slug_makes_the_learner_of_that_name() -> None:
    assert set(kaczmatch.LEARNERS) == {
        "tk", "k-nonorm", "ogd", "nk", "block-tk", "block-nk", "block-adaptive", "probit", "probit-diag", "probit-traits",
        "all-ones", "rocchio", "pa-ii", "pegasos", "logistic",
    }  # fmt: skip
    for slug, rule in kaczmatch.LEARNERS.items():
        assert isinstance(kaczmatch.learner(slug), rule)
        assert rule.slug == slug


def test_settings_are_part_of_the_learner() -> None:
    learner = kaczmatch.learner("block-nk", alpha=2.0, k=16, hinge=Hinge(theta=0.4))
    assert learner == kaczmatch.learner("block-nk", k=16, alpha=2.0, hinge=Hinge(theta=0.4, delta=0.05))
    assert learner != kaczmatch.learner("block-nk")
    assert len({learner, kaczmatch.learner("block-nk", alpha=2.0, k=16, hinge=Hinge(theta=0.4))}) == 1
    with pytest.raises(FrozenInstanceError):
        learner.alpha = 1.0  # type: ignore[attr-defined]


@pytest.mark.parametrize("bad", [{"theta": 2.0}, {"theta": float("nan")}, {"delta": -1.0}])
def test_a_hinge_that_makes_no_sense_is_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidInput) as caught:
        Hinge(**bad)
    assert caught.value.field in bad


@pytest.mark.parametrize(
    ("slug", "settings", "field", "message"),
    [
        ("blok-nk", {}, "slug", "did you mean 'block-nk'"),
        ("tk", {"alfa": 1}, "alfa", "did you mean 'alpha'"),
        ("all-ones", {"alpha": 1}, "alpha", "it has none"),
        ("nk", {"along": "unit"}, "along", "is not a setting"),
        ("nk", {"direction": "up"}, "direction", "'raw' or 'unit'"),
        ("tk", {"alpha": -1}, "alpha", "at least 0"),
        ("tk", {"alpha": "big"}, "alpha", "a number"),
        ("tk", {"hinge": 0.5}, "hinge", "a Hinge"),
        ("ogd", {"eta": 0}, "eta", "above 0"),
        ("block-tk", {"k": 0}, "k", "whole number"),
        ("block-tk", {"k": 2.5}, "k", "whole number"),
        ("pa-ii", {"c": 0}, "c", "at least"),
        ("pegasos", {"regularisation": 0}, "regularisation", "at least"),
        ("rocchio", {"pass_weight": -1}, "pass_weight", "at least 0"),
        ("logistic", {"eta": float("nan")}, "eta", "above 0"),
    ],
)
def test_what_is_wrong_is_named(slug: str, settings: dict[str, object], field: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        kaczmatch.learner(slug, **settings)
    assert caught.value.field == field
