"""Logs as other people keep them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from kaczmatch import InvalidInput
from kaczmatch.formats.columns import ColumnNames
from kaczmatch.formats.rows import ENDINGS
from kaczmatch.formats.swipe_table import LARGEST_FEATURE, read_swipes
from kaczmatch.formats.tables import write_table
from kaczmatch.schemas import profiles

PEOPLE: dict[str, list[Any]] = {"id": ["a", "b"], "jazz": [0.0, 0.5], "night owl": [1, 0]}
SWIPES: dict[str, list[Any]] = {
    "user": [2, 2, 1],
    "seq": [2, 1, 1],
    "candidate": ["a", "b", "b"],
    "decision": ["like", "pass", "like"],
}


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
    assert table.at is None


def test_columns_of_any_name(tmp_path: Path) -> None:
    swipes = {"who": ["x", "x"], "whom": [7, 8], "yes": ["like", "pass"], "when": [5.5, 2.0], "visit": [1, 1], "wave": [3, 3]}
    paths = files(tmp_path, swipes, {"who": [8, 7], "tall": [1, 0]})
    names = ColumnNames(user="who", candidate="whom", decision="yes", at="when", session="visit", id="who")
    table = read_swipes(*paths, names, ["wave"])
    assert table.like.tolist() == [False, True]  # by time, where nothing says the order
    assert table.at is not None
    assert table.at.tolist() == [2_000_000, 5_500_000]
    assert table.candidate.tolist() == [0, 1]
    assert table.others["wave"].tolist() == [3, 3]
    assert table.session is not None


@pytest.mark.parametrize(
    "decisions",
    [
        *([1, 0], [1, -1], [1.0, 0.0], ["like", "pass"], ["true", "FALSE"], [True, False], ["1", "0"]),
        *(["yes", "no"], ["Yes", "NO"], ["Like", "Dislike"], ["LIKE", "Pass "]),
    ],
    ids=str,
)
def test_decisions_as_people_write_them(tmp_path: Path, decisions: list[Any]) -> None:
    swipes = {"user": [1, 1], "candidate": ["a", "b"], "decision": decisions}
    table = read_swipes(*files(tmp_path, swipes, PEOPLE))
    assert table.like.tolist() == [True, False]


def test_dates_are_times(tmp_path: Path) -> None:
    stamps = ["2024-02-01T10:00:00", "2024-02-01T10:00:02.5"]
    swipes = {"user": [1, 1], "candidate": ["a", "b"], "decision": [1, 0], "at": stamps}
    csv = read_swipes(*files(tmp_path, swipes, PEOPLE))
    typed = {**swipes, "at": pl.Series(stamps).str.to_datetime(time_unit="ms")}
    parquet = read_swipes(*files(tmp_path, typed, PEOPLE, ".parquet"))
    for table in (csv, parquet):
        assert table.at is not None
        assert np.diff(table.at).tolist() == [2_500_000]


@pytest.mark.parametrize(("per_second", "unit"), [(1, "seconds"), (1_000, "milliseconds"), (1_000_000, "microseconds")])
def test_the_size_of_numbers_says_what_times_count(tmp_path: Path, per_second: int, unit: str) -> None:
    seconds = [828_124_615, 1_790_000_000]  # 1996, and 2026
    swipes = {"user": [1, 1], "candidate": ["a", "b"], "decision": [1, 0], "at": [one * per_second for one in seconds]}
    table = read_swipes(*files(tmp_path, swipes, PEOPLE))
    assert table.at is not None
    assert table.at.tolist() == [one * 1_000_000 for one in seconds]
    assert table.units == (unit,)


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_first_of_two_decisions_counts_and_the_others_are_counted(tmp_path: Path, ending: str) -> None:
    swipes = {
        "user": [1, 1, 1, 1, 2, 1],
        "candidate": ["a", "b", "b", "a", "a", "a"],
        "decision": ["pass", "like", "like", "like", "like", "pass"],
        "at": [30, 20, 20, 40, 10, 5],  # the decision in the last row is the first
    }
    table = read_swipes(*files(tmp_path, swipes, PEOPLE, ending))
    assert table.at is not None
    assert table.at.tolist() == [5_000_000, 20_000_000, 10_000_000]
    assert table.like.tolist() == [False, True, True]
    assert (table.copies, table.repeats, table.again) == (1, 2, 2 if ending == ".csv" else 1)


def test_a_skip_is_no_decision_that_a_later_one_would_repeat(tmp_path: Path) -> None:
    swipes = {"user": [1, 1], "candidate": ["a", "a"], "decision": ["skip", "like"]}
    table = read_swipes(*files(tmp_path, swipes, PEOPLE))
    assert (table.like.tolist(), table.skips, table.repeats, table.again) == ([True], 1, 0, None)


@pytest.mark.parametrize("ratings", [[3.5, 4.0, 0.5], ["3", "4", "1"]], ids=str)
def test_ratings_are_likes_from_one_on(tmp_path: Path, ratings: list[Any]) -> None:
    swipes = {"user": [1, 1, 2], "candidate": ["a", "b", "a"], "decision": ratings}
    assert read_swipes(*files(tmp_path, swipes, PEOPLE), like_from=4).like.tolist() == [False, True, False]


@pytest.mark.parametrize("bad", ["good", "nan"])
def test_what_is_no_rating_is_said_with_its_row(tmp_path: Path, bad: str) -> None:
    swipes = {"user": [1, 1, 2], "candidate": ["a", "b", "a"], "decision": ["3", bad, "1"]}
    with pytest.raises(InvalidInput, match=r"row 3 of s\.csv must be a rating") as caught:
        read_swipes(*files(tmp_path, swipes, PEOPLE), like_from=4)
    assert caught.value.field == "decision"


def test_a_price_is_divided_so_that_it_does_not_drown_tags(tmp_path: Path) -> None:
    people = {"id": ["a", "b"], "jazz": [0.0, 1.0], "height": [-2.5, 10.0], "price": [-4_900, 2_450]}
    table = read_swipes(*files(tmp_path, SWIPES, people))
    assert table.features.tolist() == [[0.0, -2.5, -1.0], [1.0, 10.0, 0.5]]
    assert table.scaled == {"price": 4_900.0}
    assert LARGEST_FEATURE == profiles.LARGEST_FEATURE


def test_numbers_in_one_file_and_texts_in_the_other_are_the_same_candidate(tmp_path: Path) -> None:
    swipes = {"user": [1], "candidate": [7], "decision": [1]}
    table = read_swipes(*files(tmp_path, swipes, {"id": ["x", "7"], "jazz": [1, 0]}))
    assert table.candidate.tolist() == [1]


BAD: list[tuple[dict[str, Any], dict[str, Any], dict[str, str], str, str]] = [
    ({"decision": [1, 2, 0]}, {}, {}, "decision", "row 3 of s.csv must be like, pass or skip .*got 2"),
    ({"decision": [1, 0.5, 0]}, {}, {}, "decision", "row 3 of s.csv must be like, pass or skip .*got 0.5"),
    ({"decision": ["like", "pass", "maybe"]}, {}, {}, "decision", "row 4 of s.csv .*got 'maybe'"),
    ({"candidate": ["a", "zoe", "b"]}, {}, {}, "candidate", r"'zoe' of s.csv is not in c.csv \(row 3\)"),
    ({"user": [1, None, 2]}, {}, {}, "user", "row 3 of s.csv is empty"),
    ({"at": [1, 2, "soon"]}, {}, {}, "at", "row 2 of s.csv must be seconds or a date and time"),
    ({"at": [3e17, 1.0, 1.0]}, {}, {}, "at", "row 2 of s.csv: 3e.* is not a time in seconds"),
    ({"at": [1.0, 2.0, 1.0]}, {}, {}, "at", "row 2 of s.csv is earlier than the same user's swipe before it by 'seq'"),
    ({}, {}, {"decision": "liked"}, "liked", "missing from s.csv, which has user"),
    ({}, {}, {"at": "when"}, "when", "missing from s.csv"),
    ({}, {"jazz": ["much", "little"]}, {}, "jazz", "must be numbers in c.csv"),
    ({}, {"jazz": [1.0, None]}, {}, "jazz", "row 3 of c.csv is empty"),
    ({}, {"jazz": [1.0, 1e80]}, {}, "candidates", "row 3 of c.csv: squared length"),
    ({}, {"id": ["a", "a"]}, {}, "id", "'a' stands more than once in c.csv"),
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
        read_swipes(*files(tmp_path, SWIPES, {"id": ["a", "b"]}))


def test_a_log_without_swipes_is_refused(tmp_path: Path) -> None:
    paths = files(tmp_path, SWIPES, PEOPLE)
    paths[0].write_text("user,candidate,decision\n")
    with pytest.raises(InvalidInput, match=r"s.csv has no rows"):
        read_swipes(*paths)


def test_skips_are_left_out_and_counted(tmp_path: Path) -> None:
    table = read_swipes(*files(tmp_path, SWIPES | {"decision": ["like", "skip", "pass"]}, PEOPLE))
    assert table.skips == 1
    assert table.like.tolist() == [False, True]
    with pytest.raises(InvalidInput, match="nothing but skips"):
        read_swipes(*files(tmp_path, SWIPES | {"decision": ["skip"] * 3}, PEOPLE))


@pytest.mark.parametrize("ending", ENDINGS)
def test_texts_that_look_like_formulas_survive(tmp_path: Path, ending: str) -> None:
    names = ["=1+1", "-x", "'y", "@z"]
    swipes = {"user": names, "candidate": names, "decision": ["like"] * 4}
    table = read_swipes(*files(tmp_path, swipes, {"id": names, "jazz": [1, 0, 1, 0]}, ending))
    assert list(table.candidates) == names
    assert set(table.users) == set(names)
    if ending == ".csv":
        assert (tmp_path / "c.csv").read_text().splitlines()[1].startswith("'=1+1")


def test_a_field_that_there_is_not_is_refused() -> None:
    assert ColumnNames.of({"user": "user_id"}) == ColumnNames(user="user_id")
    with pytest.raises(InvalidInput, match=r"there is no field 'like'.*known: user, candidate, decision"):
        ColumnNames.of({"like": "liked"})
