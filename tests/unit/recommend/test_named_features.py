"""Wherever features are taken, a dictionary of tags says the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kaczmatch
from kaczmatch import DATING, InvalidInput, Profile, ShownCandidate, Vocabulary

WORDS = Vocabulary.of(["climbing", "cooking", "jazz"], ["height"]).retire("cooking")
NAMED, PLACED = {"jazz": 1, "height": 1.5}, [0.0, 0.0, 1.0, 1.5]
START = {"climbing": 0.0, "cooking": 0.0, "jazz": 0.0, "height": 0.0}


@pytest.mark.parametrize("slug", ["tk", "probit-diag"])
def test_a_shown_candidate_by_name_teaches_the_same(slug: str) -> None:
    learner = kaczmatch.learner(slug)
    state = learner.start(START)
    by_name = learner.swipe(state, ShownCandidate(NAMED, others=[0.5, 0.0]), "like")
    assert by_name == learner.swipe(state, ShownCandidate(PLACED, others=[0.5, 0.0]), "like")
    with pytest.raises(InvalidInput, match="there is no tag 'jaz'; did you mean 'jazz'"):
        learner.swipe(state, ShownCandidate({"jaz": 1}), "like")


def test_a_profile_takes_names_and_the_vocabulary_that_has_them() -> None:
    who = {"id": "ann", "i_am": {"woman"}, "i_look_for": {"man"}}
    profile = Profile(**who, features=NAMED, vocabulary=WORDS)
    assert profile.features.tolist() == PLACED
    assert replace(profile, id="bea").features.tolist() == PLACED
    assert (profile.i_am, profile.schema) == (frozenset({"woman"}), DATING)
    with pytest.raises(InvalidInput, match="say in which vocabulary too"):
        Profile(**who, features=NAMED)
    with pytest.raises(InvalidInput, match="there is no tag 'cooking'"):
        Profile(**who, features={"cooking": 1}, vocabulary=WORDS)


def test_an_explanation_takes_names() -> None:
    learner = kaczmatch.learner("probit-diag")
    state = learner.swipe(learner.start(START), {"jazz": 1}, "like")
    viewer = kaczmatch.Viewer(Profile(id="ann", i_am={"woman"}, i_look_for={"man"}, features=PLACED), learner, state)
    words = Vocabulary.of(["climbing", "cooking", "jazz"], ["height"])
    found = kaczmatch.explain(viewer, {"jazz": 1}, words)
    assert found == kaczmatch.explain(viewer, np.array([0, 0, 1.0, 0]), words)
    assert found.raising[0][0] == "jazz"


def test_traits_are_expected_by_name() -> None:
    learner = kaczmatch.learner("probit-traits")
    model = kaczmatch.TraitModel(learner=learner, prior=kaczmatch.Prior.of(START))  # type: ignore[arg-type]
    assert np.array_equal(model.expected(NAMED), model.expected(PLACED))
    state = learner.start(START)
    assert np.array_equal(model.site(state, NAMED, "like", 0.0), model.site(state, PLACED, "like", 0.0))
