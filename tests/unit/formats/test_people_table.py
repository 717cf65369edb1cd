"""Candidates as wide tables, and as the service exports profiles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kaczmatch import InvalidInput
from kaczmatch.formats.columns import PROFILE_COLUMNS, ColumnNames
from kaczmatch.formats.people_table import PeopleTable, read_people
from kaczmatch.formats.rows import KINDS
from kaczmatch.formats.writing import write_rows

PROFILES: list[dict[str, Any]] = [
    {"id": "ada", "name": "Ada", "tags": ["jazz", "chess"], "features": {"activity": 0.5}, "youngest": 18, "paused": False},
    {"id": "bo", "name": "Bo", "tags": ["a|b"], "features": {"activity": -1.5, "reach": 2.0}, "youngest": 30, "paused": False},
    {"id": "=cy", "name": "Cy", "tags": [], "features": {}, "youngest": 40, "paused": True},
]


def read(path: Path) -> PeopleTable:
    return read_people(path, ColumnNames())


@pytest.mark.parametrize("kind", KINDS)
def test_an_export_of_profiles_is_a_table_of_candidates(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"people.{kind}"
    rows = [dict.fromkeys(PROFILE_COLUMNS) | row for row in PROFILES]
    write_rows([rows], PROFILE_COLUMNS, kind, path)
    found = read(path)
    assert found.ids.to_list() == ["ada", "bo", "=cy"]
    assert found.terms == ["a|b", "chess", "jazz", "activity", "reach"]
    assert found.features.tolist() == [[0, 1, 1, 0.5, 0], [1, 0, 0, -1.5, 2.0], [0, 0, 0, 0, 0]]
    assert set(found.unused) == set(PROFILE_COLUMNS) - {"id", "tags", "features"}


def test_columns_and_lists_go_together(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_text("id,tall,tags\n1,1,jazz|chess\n2,0,\n")
    found = read(path)
    assert found.terms == ["tall", "chess", "jazz"]
    assert found.features.tolist() == [[1, 1, 1], [0, 0, 0]]
    assert found.unused == []


@pytest.mark.parametrize(
    ("text", "field", "says"),
    [
        ("id,jazz,tags\n1,1,jazz\n", "candidates", "has the tag 'jazz' twice"),
        ("id,tags\n1,jazz\n2,[1]\n", "tags", "row 3 of c.csv must be tags with | between them"),
        ("id,features\n1,much\n", "features", "row 2 of c.csv must be numbers by name"),
        ('id,features\n1,"{""a"": true}"\n', "features", "row 2 of c.csv must be numbers by name"),
        ("id,name\n1,Ada\n", "candidates", "has no tags and no features"),
        ("id\n", "candidates", "c.csv has no rows"),
        ("who,jazz\n1,1\n", "id", "say what it is called: --column field=column"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, field: str, says: str) -> None:
    path = tmp_path / "c.csv"
    path.write_text(text)
    with pytest.raises(InvalidInput) as caught:
        read(path)
    assert caught.value.field == field
    assert says in caught.value.problem


def test_numbers_and_texts_in_parquet_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    pl.DataFrame({"id": [1], "tags": [["jazz"]], "city": ["Bern"]}).write_parquet(path)
    with pytest.raises(InvalidInput, match=r"must be numbers in c\.parquet"):
        read(path)
