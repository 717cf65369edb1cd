from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kaczmatch
from kaczmatch import InvalidInput
from kaczmatch.recommend.people.vocabulary import Vocabulary

WORDS = Vocabulary.of(tags=["climbing", "jazz"], features=["activity"])


def test_names_become_a_vector() -> None:
    assert WORDS.vector(["jazz"], {"activity": 0.4}).tolist() == [0.0, 1.0, 0.4]
    assert WORDS.vector().tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("tags", "features", "field", "message"),
    [
        (["jaz"], None, "tags", "there is no tag 'jaz'; did you mean 'jazz'"),
        (["activity"], None, "tags", "there is no tag 'activity'"),
        ("jazz", None, "tags", "must be a list of tags"),
        ([], {"jazz": 1.0}, "features", "there is no feature 'jazz'"),
        ([], {"activity": float("nan")}, "features", "finite"),
        ([], {"activity": True}, "features", "finite number"),
        ([], {"activity": "much"}, "features", "finite number"),
    ],
)
def test_what_is_not_in_the_vocabulary_is_an_error(tags: Any, features: Any, field: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        WORDS.vector(tags, features)
    assert caught.value.field == field


def test_changes_raise_the_version_and_keep_every_place() -> None:
    changed = WORDS.rename("jazz", "bebop").retire("climbing").add(tags=["chess"], features=["distance"])
    assert (WORDS.version, changed.version) == (1, 4)
    assert changed.vector(["bebop", "chess"], {"distance": 2.0}).tolist() == [0.0, 1.0, 0.0, 1.0, 2.0]
    with pytest.raises(InvalidInput, match="tags: 'climbing' was retired"):
        changed.vector(["climbing"])
    with pytest.raises(InvalidInput, match="there is no 'jazz'"):
        changed.retire("jazz")


def test_states_survive_every_change() -> None:
    learner = kaczmatch.learner("probit-diag")
    state = learner.swipe(learner.start(np.ones(3)), WORDS.vector(["jazz"]), "like")
    later = WORDS.rename("jazz", "bebop").add(tags=["chess"])
    grown = learner.grow(state, later.dimensions)
    assert learner.score(grown, later.vector(["bebop"])) == pytest.approx(learner.score(state, WORDS.vector(["jazz"])))
    learner.swipe(grown, later.vector(["chess"]), "pass")


@pytest.mark.parametrize("names", [[], ["a", "a"], [" "], [3]])
def test_a_vocabulary_has_different_names_that_say_something(names: Any) -> None:
    with pytest.raises(InvalidInput, match="name"):
        Vocabulary.of(tags=names)


def test_terms_of_a_kind_are_for_that_kind_and_keep_it() -> None:
    words = WORDS.add(["python"], ["years"], kinds=["mentor", "coach"]).rename("python", "Python").retire("years")
    assert [term.kinds for term in words.terms] == [(), (), (), ("mentor", "coach"), ("mentor", "coach")]
    assert words.vector(["Python", "jazz"], kinds={"coach"}).tolist() == [0.0, 1.0, 0.0, 1.0, 0.0]
    assert words.vector(["Python"]).tolist() == [0.0, 0.0, 0.0, 1.0, 0.0]
    with pytest.raises(InvalidInput, match="tags: 'Python' is for mentor or coach, not for mentee"):
        words.vector(["Python"], kinds={"mentee"})
