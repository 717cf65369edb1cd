"""Frames of polars and pandas, and dictionaries of tags, wherever a swipe log or features are accepted."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import kaczmatch
from kaczmatch import InvalidInput, SwipeLog

MORNING = datetime(2026, 5, 1, 8)
SWIPES = {
    "user": ["ann", "ann", "bea", "ann", "bea"],
    "candidate": ["x", "y", "y", "z", "x"],
    "decision": ["like", "Pass", "like", "skip", "pass"],
    "at": [MORNING + timedelta(minutes=minute) for minute in (0, 1, 2, 3, 4)],
}
PEOPLE = {"id": ["x", "y", "z"], "climbing": [1, 0, 1], "jazz": [0.0, 1.0, 0.5]}
BY_HAND = SwipeLog(
    user=["ann", "ann", "bea", "bea"],
    candidate=["x", "y", "y", "x"],
    candidates={"x": [1, 0], "y": [0, 1], "z": [1, 0.5]},
    label=[1, -1, 1, -1],
    at=[SWIPES["at"][row] for row in (0, 1, 2, 4)],
)
LEARNER = kaczmatch.learner("probit")
both = pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame], ids=["polars", "pandas"])


def same(found: Any, expected: Any) -> bool:
    return {user: found[user] for user in found} == {user: expected[user] for user in expected}


@both
def test_two_frames_are_a_log_as_two_files_are(frame: Any) -> None:
    log = (frame(SWIPES), frame(PEOPLE))
    states = kaczmatch.replay(LEARNER, log)
    assert same(states, kaczmatch.replay(LEARNER, BY_HAND))
    assert (
        kaczmatch.influence(LEARNER, log, "ann").angles.tolist() == kaczmatch.influence(LEARNER, BY_HAND, "ann").angles.tolist()
    )
    fitted, by_hand = (kaczmatch.fit_population(each, traits=False) for each in (log, BY_HAND))
    assert fitted.prior.fingerprint == by_hand.prior.fingerprint
    assert SwipeLog.of(log).tags == ("climbing", "jazz")


@both
def test_frames_as_files_have_them_with_texts_for_times_and_lists_of_tags(frame: Any) -> None:
    texts = SWIPES | {"at": [moment.isoformat() for moment in SWIPES["at"]]}
    about = {"id": ["x", "y", "z"], "name": ["X", "Y", "Z"], "tags": ["climbing", "jazz", None], "height": [0.1, 0.2, 0.3]}
    found = SwipeLog.of((frame(texts), frame(about)))
    assert found.tags == ("height", "climbing", "jazz")  # as files are read
    assert found.features.tolist() == [[0.1, 1, 0], [0.2, 0, 1], [0.3, 0, 0]]
    assert found.at is not None
    assert BY_HAND.at is not None
    assert found.at.tolist() == BY_HAND.at.tolist()
    listed = SwipeLog.of((frame(texts), frame(about | {"tags": [["climbing"], ["jazz"], []]})))
    assert listed.features.tolist() == found.features.tolist()
    with pytest.raises(InvalidInput, match="row 0: must be a time such as"):
        SwipeLog.of((frame(SWIPES | {"at": ["yesterday"] * 5}), frame(PEOPLE)))


@both
def test_one_frame_has_a_column_per_tag(frame: Any) -> None:
    place = [PEOPLE["id"].index(each) for each in SWIPES["candidate"]]
    tags = {name: [PEOPLE[name][row] for row in place] for name in ("climbing", "jazz")}
    assert same(kaczmatch.replay(LEARNER, frame(SWIPES | tags)), kaczmatch.replay(LEARNER, BY_HAND))
    nobody = {name: column for name, column in SWIPES.items() if name != "candidate"}
    log = SwipeLog.of(frame(nobody | tags))
    assert log.candidate_row is None
    assert same(kaczmatch.replay(LEARNER, log), kaczmatch.replay(LEARNER, BY_HAND))
    changed = tags | {"jazz": [9.0, *tags["jazz"][1:]]}
    with pytest.raises(InvalidInput, match="'x' has other tags in a later row"):
        SwipeLog.of(frame(SWIPES | changed))


@both
@pytest.mark.parametrize("column", ["at", "seq"])
def test_swipes_are_brought_into_their_order(frame: Any, column: str) -> None:
    backwards = {name: values[::-1] for name, values in SWIPES.items()}
    if column == "seq":
        del backwards["at"]
        backwards["seq"] = [5, 4, 3, 2, 1]
    found = kaczmatch.replay(kaczmatch.learner("tk"), (frame(backwards), frame(PEOPLE)))
    assert same(found, kaczmatch.replay(kaczmatch.learner("tk"), BY_HAND))


@both
@pytest.mark.parametrize("liked", [[1, 0, 1, 0, 0], [1.0, -1.0, 1.0, 0.0, -1.0], [True, False, True, False, False]])
def test_decisions_are_written_as_in_files(frame: Any, liked: list[Any]) -> None:
    log = SwipeLog.of((frame(SWIPES | {"decision": liked}), frame(PEOPLE)))
    assert log.label.tolist() == [1, -1, 1, -1, -1]


@both
@pytest.mark.parametrize(
    ("swipes", "people", "problem"),
    [
        ({"decision": ["like", "love", "pass", "pass", "pass"]}, {}, "decision: row 1: .* got 'love'"),
        ({"candidate": ["x", "y", "nobody", "x", "x"]}, {}, "'nobody' is not among the candidates"),
        ({}, {"id": ["x", "x", "z"]}, "more than once"),
        ({}, {"climbing": ["yes", "no", "yes"]}, "climbing: must be numbers.*drop the column"),
    ],
)
def test_what_is_wrong_with_a_frame_is_named(frame: Any, swipes: dict[str, Any], people: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        SwipeLog.of((frame(SWIPES | swipes), frame(PEOPLE | people)))


@both
def test_a_missing_column_and_missing_tags_are_named(frame: Any) -> None:
    with pytest.raises(InvalidInput, match="decision: this column is missing from the swipes"):
        SwipeLog.of(frame({"user": ["a"], "desicion": ["like"], "jazz": [1]}))
    with pytest.raises(InvalidInput, match="give two frames"):
        SwipeLog.of(frame(SWIPES))
    with pytest.raises(InvalidInput, match="pair of data frames"):
        SwipeLog.of([frame(SWIPES)])  # type: ignore[arg-type]


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
    assert same(states, by_hand)
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
