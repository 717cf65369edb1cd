from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kaczmatch
from kaczmatch import InvalidInput
from kaczmatch.formats.rows import ENDINGS
from kaczmatch.formats.swipe_table import read_swipes
from kaczmatch.formats.swipe_writer import write_candidates, write_swipes
from kaczmatch.formats.tables import read_table, write_table

SHOWN = np.array([[2, 0, 1, 2], [1, 1, 0, 2]])
LABELS = np.array([[1, -1, -1, 1], [-1, 1, 1, -1]], np.int8)
TAGS = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


@pytest.fixture(params=ENDINGS)
def files(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    swipes, candidates = tmp_path / f"deep/swipes{request.param}", tmp_path / f"candidates{request.param}"
    write_swipes(swipes, SHOWN, LABELS, 2)
    write_candidates(candidates, TAGS)
    return swipes, candidates


def test_a_log_survives_its_files(files: tuple[Path, Path]) -> None:
    log = kaczmatch.read_log(*files)
    first = [0, 1, 2, 4, 6, 7]  # not the second decisions on a candidate
    assert log.user.tolist() == [0] * 3 + [1] * 3
    assert log.label.tolist() == LABELS.ravel()[first].tolist()
    assert log.session is not None
    assert log.session.tolist() == [0, 0, 1, 0, 1, 1]
    assert np.array_equal([log.shown_candidate(row).features for row in range(6)], TAGS[SHOWN.ravel()[first]])
    assert len(kaczmatch.replay(kaczmatch.learner("block-nk"), log)) == 2


def test_swipes_are_written_in_the_one_form(files: tuple[Path, Path]) -> None:
    frame = read_table(files[0])
    assert frame.columns == ["user", "candidate", "decision", "at", "session"]
    assert frame.row(1) == (0, 0, "pass", "2020-01-01T00:00:10.000000Z", 0)
    assert frame["at"][2] == "2020-01-02T00:00:20.000000Z"  # another session


def test_the_same_log_gives_the_same_bytes(files: tuple[Path, Path], tmp_path: Path) -> None:
    again = tmp_path / f"again{files[0].suffix}"
    write_swipes(again, SHOWN, LABELS, 2)
    assert again.read_bytes() == files[0].read_bytes()


def test_swipes_are_put_in_their_order(tmp_path: Path) -> None:
    swipes, candidates = tmp_path / "s.csv", tmp_path / "c.csv"
    write_table(pl.DataFrame({"user": [1, 1], "seq": [5, 2], "candidate": ["b", "a"], "decision": [1, 0]}), swipes)
    write_table(pl.DataFrame({"id": ["a", "b"], "jazz": [0, 1]}), candidates)
    log = kaczmatch.read_log(swipes, candidates)
    assert log.label.tolist() == [-1.0, 1.0]
    assert log.session is None


@pytest.mark.parametrize(
    ("columns", "field", "message"),
    [
        ({"who": [1], "candidate": [0], "decision": [1]}, "user", "missing from s.csv, which has who, candidate, decision"),
        ({"user": [1], "candidate": [7], "decision": [1]}, "candidate", "7 of s.csv is not in c.csv"),
        ({"user": [1], "candidate": [0], "decision": [3]}, "decision", "row 2 of s.csv must be like, pass or skip"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, columns: dict[str, list[int]], field: str, message: str) -> None:
    swipes, candidates = tmp_path / "s.csv", tmp_path / "c.csv"
    write_table(pl.DataFrame(columns), swipes)
    write_candidates(candidates, TAGS)
    with pytest.raises(InvalidInput, match=message) as caught:
        read_swipes(swipes, candidates)
    assert caught.value.field == field


def test_files_that_are_not_there_or_not_what_they_say(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="must end in one of"):
        read_table(tmp_path / "swipes.doc")
    with pytest.raises(InvalidInput, match="is a spreadsheet; open it, choose 'Save as'"):
        read_table(tmp_path / "swipes.xlsx")
    with pytest.raises(InvalidInput, match="there is no file"):
        read_table(tmp_path / "swipes.csv")
    (tmp_path / "swipes.parquet").write_text("no parquet")
    with pytest.raises(InvalidInput, match="cannot be read as parquet"):
        read_table(tmp_path / "swipes.parquet")


@pytest.mark.parametrize(
    ("swipes", "candidates", "field"),
    [
        ({"user": [1, None], "candidate": [0, 0], "decision": [1, 1]}, {"id": [0], "jazz": [1]}, "user"),
        ({"user": [1], "candidate": [0], "decision": [1]}, {"id": [0, 0], "jazz": [1, 1]}, "id"),
        ({"user": [1], "candidate": [0], "decision": [1]}, {"id": [0], "jazz": ["yes"]}, "jazz"),
    ],
)
def test_gaps_repeats_and_words_are_refused(
    tmp_path: Path, swipes: dict[str, list[int]], candidates: dict[str, list[int]], field: str
) -> None:
    for name, columns in (("s.csv", swipes), ("c.csv", candidates)):
        write_table(pl.DataFrame(columns), tmp_path / name)
    with pytest.raises(InvalidInput) as caught:
        read_swipes(tmp_path / "s.csv", tmp_path / "c.csv")
    assert caught.value.field == field
