"""Logs as other people keep them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from kaczmatch import InvalidInput
from kaczmatch.formats.swipe_table import ColumnNames, read_swipes
from kaczmatch.formats.tables import ENDINGS, write_table

PEOPLE = {"candidate_id": ["a", "b"], "jazz": [0.0, 0.5], "night owl": [1, 0]}
SWIPES: dict[str, list[Any]] = {"user_id": [2, 2, 1], "seq": [2, 1, 1], "candidate_id": ["a", "b", "b"], "like": [1, 0, 1]}


def files(folder: Path, swipes: dict[str, Any], people: dict[str, Any], ending: str = ".csv") -> tuple[Path, Path]:
    paths = folder / f"s{ending}", folder / f"c{ending}"
    for path, columns in zip(paths, (swipes, people), strict=True):
        write_table(pl.DataFrame(columns), path)
    return paths


@pytest.mark.parametrize("ending", ENDINGS)
def test_swipes_come_sorted_by_user_and_order(tmp_path: Path, ending: str) -> None:
    table = read_swipes(*files(tmp_path, SWIPES, PEOPLE, ending))
    assert table.users == [1, 2]
    assert table.user.tolist() == [0, 1, 1]
    assert table.candidate.tolist() == [1, 1, 0]
    assert table.like.tolist() == [True, False, True]
    assert table.tags == ["jazz", "night owl"]
    assert table.begin.tolist() == [0, 1, 3]
    assert table.time is None


def test_columns_of_any_name(tmp_path: Path) -> None:
    swipes = {"who": ["x", "x"], "whom": [7, 8], "yes": ["like", "pass"], "when": [5.5, 2.0], "visit": [1, 1], "wave": [3, 3]}
    paths = files(tmp_path, swipes, {"id": [8, 7], "tall": [1, 0]})
    names = ColumnNames(user="who", candidate="whom", like="yes", time="when", session="visit", candidates_key="id")
    table = read_swipes(*paths, names, ["wave"])
    assert table.like.tolist() == [False, True]  # by time, where nothing says the order
    assert table.time is not None
    assert table.time.tolist() == [2_000_000, 5_500_000]
    assert table.candidate.tolist() == [0, 1]
    assert table.others["wave"].tolist() == [3, 3]
    assert table.session is not None


@pytest.mark.parametrize(
    "likes", [[1, 0], [1, -1], [1.0, 0.0], ["like", "pass"], ["true", "FALSE"], [True, False], ["1", "0"]], ids=str
)
def test_likes_as_people_write_them(tmp_path: Path, likes: list[Any]) -> None:
    swipes = {"user_id": [1, 1], "candidate_id": ["a", "b"], "like": likes}
    table = read_swipes(*files(tmp_path, swipes, PEOPLE))
    assert table.like.tolist() == [True, False]


def test_dates_are_times(tmp_path: Path) -> None:
    stamps = ["2024-02-01T10:00:00", "2024-02-01T10:00:02.5"]
    swipes = {"user_id": [1, 1], "candidate_id": ["a", "b"], "like": [1, 0], "timestamp": stamps}
    csv = read_swipes(*files(tmp_path, swipes, PEOPLE))
    typed = {**swipes, "timestamp": pl.Series(stamps).str.to_datetime(time_unit="ms")}
    parquet = read_swipes(*files(tmp_path, typed, PEOPLE, ".parquet"))
    for table in (csv, parquet):
        assert table.time is not None
        assert np.diff(table.time).tolist() == [2_500_000]


def test_numbers_in_one_file_and_texts_in_the_other_are_the_same_candidate(tmp_path: Path) -> None:
    swipes = {"user_id": [1], "candidate_id": [7], "like": [1]}
    table = read_swipes(*files(tmp_path, swipes, {"candidate_id": ["x", "7"], "jazz": [1, 0]}))
    assert table.candidate.tolist() == [1]


BAD: list[tuple[dict[str, Any], dict[str, Any], dict[str, str], str, str]] = [
    ({"like": [1, 2, 0]}, {}, {}, "like", "row 2 of s.csv must be 1 or 0 .*got 2"),
    ({"like": [1, 0.5, 0]}, {}, {}, "like", "row 2 of s.csv must be 1 or 0 .*got 0.5"),
    ({"like": ["like", "pass", "maybe"]}, {}, {}, "like", "row 3 of s.csv .*got 'maybe'"),
    ({"candidate_id": ["a", "zoe", "b"]}, {}, {}, "candidate_id", r"'zoe' of s.csv is not in c.csv \(row 2\)"),
    ({"user_id": [1, None, 2]}, {}, {}, "user_id", "row 2 of s.csv is empty"),
    ({"at": [1, 2, "soon"]}, {}, {}, "at", "row 1 of s.csv must be seconds or a date and time"),
    ({"at": [3e13, 1.0, 1.0]}, {}, {}, "at", "row 1 of s.csv: 3e.* is not a time in seconds"),
    ({"at": [1.0, 2.0, 1.0]}, {}, {}, "at", "row 1 of s.csv is earlier than the same user's swipe before it by 'seq'"),
    ({}, {}, {"like": "liked"}, "liked", "missing from s.csv, which has user_id"),
    ({}, {}, {"time": "when"}, "when", "missing from s.csv"),
    ({}, {"jazz": ["much", "little"]}, {}, "jazz", "must be numbers in c.csv"),
    ({}, {"jazz": [1.0, None]}, {}, "jazz", "row 2 of c.csv is empty"),
    ({}, {"jazz": [1.0, 1e80]}, {}, "candidates", "row 2 of c.csv: squared length"),
    ({}, {"candidate_id": ["a", "a"]}, {}, "candidate_id", "'a' stands more than once in c.csv"),
]


@pytest.mark.parametrize(("swipes", "people", "names", "field", "says"), BAD, ids=[case[4][:24] for case in BAD])
def test_what_is_wrong_is_said_with_its_row(
    tmp_path: Path, swipes: dict[str, Any], people: dict[str, Any], names: dict[str, str], field: str, says: str
) -> None:
    frames = [pl.DataFrame(columns, strict=False) for columns in (SWIPES | swipes, PEOPLE | people)]
    paths = tmp_path / "s.csv", tmp_path / "c.csv"
    for frame, path in zip(frames, paths, strict=True):
        write_table(frame, path)
    with pytest.raises(InvalidInput, match=says) as caught:
        read_swipes(*paths, ColumnNames(**names))
    assert caught.value.field == field


def test_candidates_without_tags_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="nothing to learn from"):
        read_swipes(*files(tmp_path, SWIPES, {"candidate_id": ["a", "b"]}))


def test_a_log_without_swipes_is_refused(tmp_path: Path) -> None:
    paths = files(tmp_path, SWIPES, PEOPLE)
    paths[0].write_text("user_id,candidate_id,like\n")
    with pytest.raises(InvalidInput, match=r"s.csv has no rows"):
        read_swipes(*paths)
