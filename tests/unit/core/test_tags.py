"""Dictionaries of tags, wherever features or a swipe log are accepted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kaczmatch
from kaczmatch import InvalidInput, SwipeLog

LEARNER = kaczmatch.learner("probit")


def test_a_learner_takes_tags_by_name_once_it_has_started_from_names() -> None:
    named, plain = LEARNER.start({"climbing": 0.0, "jazz": 0.5}), LEARNER.start([0.0, 0.5])
    assert named == plain
    named, plain = LEARNER.swipe(named, {"jazz": 1}, True), LEARNER.swipe(plain, [0, 1], "like")
    assert named == plain
    assert LEARNER.probability(named, {"climbing": 1}) == LEARNER.probability(plain, [1, 0])
    rows = [{"climbing": True}, {"jazz": 0.5}]
    assert LEARNER.score(named, rows).tolist() == LEARNER.score(plain, [[1, 0], [0, 0.5]]).tolist()
    read = LEARNER.from_bytes(named.to_bytes(), named.prior)
    assert LEARNER.score(read, {"jazz": 1}) == LEARNER.score(plain, [0, 1])
    with pytest.raises(InvalidInput, match="there is no tag 'jaz'; did you mean 'jazz'"):
        LEARNER.swipe(named, {"jaz": 1}, "like")
    with pytest.raises(InvalidInput, match="does not know the names of its tags"):
        LEARNER.swipe(plain, {"jazz": 1}, "like")
    with pytest.raises(InvalidInput, match="only 2 of 3 tags have names"):
        LEARNER.score(LEARNER.grow(named, 3), {"jazz": 1})
    with pytest.raises(InvalidInput, match="must be a number"):
        LEARNER.swipe(named, {"jazz": "much"}, "like")


@pytest.mark.parametrize("way", ["features", "mapping", "rows"])
def test_a_log_takes_dictionaries_of_tags(way: str) -> None:
    people = {"x": {"climbing": 1}, "y": {"jazz": 1}}
    seen = ["x", "y", "x"]
    columns: dict[str, Any] = {
        "features": {"features": [people[each] for each in seen]},
        "mapping": {"candidate": seen, "candidates": people},
        "rows": {"candidate": [0, 1, 0], "candidates": list(people.values())},
    }[way]
    log = {"user": [1, 1, 2], "label": [True, False, True], **columns}
    states = kaczmatch.replay(LEARNER, log, prior={"jazz": 0.25, "climbing": 0.5})
    by_hand = kaczmatch.replay(
        LEARNER, {"user": [1, 1, 2], "label": [1, -1, 1], "features": np.eye(2)[[0, 1, 0]]}, prior=[0.5, 0.25]
    )
    assert dict(states) == dict(by_hand)
    assert LEARNER.probability(states[1], {"jazz": 1}) == LEARNER.probability(by_hand[1], [0, 1])
    later = kaczmatch.replay(LEARNER, {**log, "tags": states.prior.tags}, states=states)
    assert len(later) == 2


def test_names_must_fit() -> None:
    log: dict[str, Any] = {"user": [1], "label": [True]}
    with pytest.raises(InvalidInput, match="must be 2 different names"):
        SwipeLog(**log, features=[[1, 0]], tags=["jazz", "jazz"])
    with pytest.raises(InvalidInput, match="there is no tag 'chess'"):
        SwipeLog(**log, features=[{"chess": 1}], tags=["jazz"])
    with pytest.raises(InvalidInput, match="other tags than the log"):
        kaczmatch.replay(LEARNER, {**log, "features": [{"chess": 1}]}, prior={"jazz": 1.0})
