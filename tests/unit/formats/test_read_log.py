"""A log from files and from frames."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import kaczmatch
from kaczmatch import InvalidInput, SwipeLog, read_log
from kaczmatch.formats.tables import write_table

MORNING = datetime(2026, 5, 1, 8)
SWIPES: dict[str, list[Any]] = {
    "user": ["ann", "ann", "bea", "ann", "bea"],
    "candidate": ["x", "y", "y", "z", "x"],
    "decision": ["like", "Pass", "like", "skip", "pass"],
    "at": [MORNING + timedelta(minutes=minute) for minute in (0, 1, 2, 3, 4)],
}
PEOPLE: dict[str, list[Any]] = {"id": ["x", "y", "z"], "climbing": [1, 0, 1], "jazz": [0.0, 1.0, 0.5]}
BY_HAND = SwipeLog(
    user=["ann", "ann", "bea", "bea"],
    candidate=["x", "y", "y", "x"],
    candidates={"x": [1, 0], "y": [0, 1], "z": [1, 0.5]},
    label=[1, -1, 1, -1],
    at=[SWIPES["at"][row] for row in (0, 1, 2, 4)],
)


class Arrow:
    """A frame of any library that speaks Arrow."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._frame = pl.DataFrame(columns)

    def __arrow_c_stream__(self, requested: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested)


@pytest.mark.parametrize("table", [pl.DataFrame, pd.DataFrame, Arrow])
def test_a_frame_of_any_library_is_a_log(table: Callable[[Any], Any]) -> None:
    backwards = {name: values[::-1] for name, values in SWIPES.items()}
    log = read_log(table(backwards), table(PEOPLE))
    assert log.tags == ("climbing", "jazz")
    learner = kaczmatch.TikhonovKaczmarz()
    assert dict(kaczmatch.replay(learner, log)) == dict(kaczmatch.replay(learner, BY_HAND))
    fitted, by_hand = (kaczmatch.fit_population(each, traits=False) for each in (log, BY_HAND))
    assert fitted.prior.fingerprint == by_hand.prior.fingerprint


@pytest.mark.parametrize("path", [str, Path])
def test_files_go_by_any_path_and_their_columns_by_any_name(tmp_path: Path, path: Callable[[Path], str | Path]) -> None:
    files = tmp_path / "swipes.csv", tmp_path / "people.parquet"
    renamed = {"user": "user_id", "decision": "stars", "id": "name of them"}
    stars = SWIPES | {"decision": [5, 1, 4, 3, 2]}
    for file, columns in zip(files, (stars, PEOPLE), strict=True):
        write_table(pl.DataFrame({renamed.get(name, name): values for name, values in columns.items()}), file)
    log = read_log(path(files[0]), path(files[1]), columns=renamed, like_from=4)
    assert log.user.tolist() == ["ann", "ann", "ann", "bea", "bea"]
    assert log.label.tolist() == [1, -1, -1, 1, -1]


def test_what_is_wrong_is_named() -> None:
    for swipes, people, problem in (
        ({"decision": ["like", "love", "pass", "pass", "pass"]}, {}, "decision: row 1 of swipes must be .* got 'love'"),
        ({"candidate": ["x", "y", "nobody", "x", "x"]}, {}, "'nobody' of swipes is not in candidates"),
        ({}, {"jazz": [0, 180, 90]}, "jazz: is up to 180, which would drown the tags; divide it"),
    ):
        with pytest.raises(InvalidInput, match=problem):
            read_log(pd.DataFrame(SWIPES | swipes), pd.DataFrame(PEOPLE | people))
    with pytest.raises(InvalidInput, match="swipes: must be a file or a frame"):
        read_log(SWIPES, PEOPLE)
