"""`kaczmatch picks`: from a store and from files, the same bytes on any number of threads, and errors in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest

from kaczmatch.cli.operate.picks import run
from kaczmatch.formats.writing import write_rows
from kaczmatch.service.domain.records import Pick
from kaczmatch.service.transfer.file_export import COLUMNS, export_batches
from kaczmatch.settings.model import PREFIX, Settings
from kaczmatch.storage import SqlStore
from kaczmatch.storage.migrating import migrate
from picker import options
from worlds.town import Town

ASKED = replace(options(None), size=2, assignment=None)


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Town]:
    monkeypatch.setenv(f"{PREFIX}DATA", str(tmp_path))
    monkeypatch.setenv(f"{PREFIX}AWAY_DAYS", "none")
    url = Settings(data=tmp_path).url
    migrate(url)
    with closing(SqlStore(url)) as store:
        here = Town(store)
        here.couples(6)
        for place in range(3):
            here.swipe(f"w{place}", f"m{place}", "like")
        here.swipe("m0", "w0", "like")
        yield here


def test_picks_of_a_store_and_of_its_export_are_of_the_same_people(town: Town, tmp_path: Path) -> None:
    run(None, replace(ASKED, file=tmp_path / "one.parquet"))
    run(None, replace(ASKED, file=tmp_path / "two.parquet", workers=2))
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    for what in ("profiles", "swipes"):
        write_rows(export_batches(town.context, what), COLUMNS[what], "parquet", tmp_path / f"{what}.parquet")
    files = {"profiles": tmp_path / "profiles.parquet", "swipes": tmp_path / "swipes.parquet"}
    run(None, replace(ASKED, file=tmp_path / "three.parquet", **files))
    of_store, of_files = (pl.read_parquet(tmp_path / f"{name}.parquet") for name in ("one", "three"))
    assert of_store.columns == ["user", "place", "candidate", "probability"]
    for found in (of_store, of_files):
        pairs = set(found.select("user", "candidate").iter_rows())
        assert len(pairs) == 24
        assert not pairs & {("w0", "m0"), ("m0", "w0"), ("w1", "m1"), ("m1", "w1")}  # matched, and liked
        assert found["probability"].is_between(0.0, 1.0).all()


def test_publishing_needs_no_file_and_says_what_it_did(town: Town, capsys: pytest.CaptureFixture[str]) -> None:
    run(None, replace(ASKED, publish=True, assignment="stable"))
    said = capsys.readouterr().out
    assert "edition 1 is shown" in said
    assert "blocking pairs 0" in said
    assert {pick.edition for pick in town.find(Pick)} == {1}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({}, "say where to write picks to"),
        ({"file": Path("picks.txt")}, "must end in"),
        ({"publish": True, "profiles": Path("p.parquet")}, "cannot be published"),
        ({"file": Path("x.parquet"), "swipes": Path("s.parquet")}, "need --profiles"),
        ({"file": Path("x.parquet"), "assignment_settings": "[]"}, "must be a JSON object"),
        ({"file": Path("x.parquet"), "device": "cuda"}, "cuda"),
    ],
)
def test_what_makes_no_sense_is_said_in_one_line(
    town: Town,
    wrong: dict[str, object],
    says: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        run(None, replace(ASKED, **wrong))
    assert says in capsys.readouterr().err
    assert not list(tmp_path.glob("*.progress"))  # nothing that was learned of people stays behind


def test_a_store_of_nobody_is_said_and_no_file_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(f"{PREFIX}DATA", str(tmp_path))
    migrate(Settings(data=tmp_path).url)
    with pytest.raises(SystemExit):
        run(None, replace(ASKED, file=tmp_path / "picks.parquet"))
    assert "there is nobody in" in capsys.readouterr().err
    assert not (tmp_path / "picks.parquet").exists()


def test_what_was_read_on_another_day_is_read_again(
    town: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("kaczmatch.cli.operate.picks.picks", lambda *_given, **_how: pytest.fail("stopped"))
    for _ in range(2):
        with pytest.raises(pytest.fail.Exception, match="stopped"):
            run(None, replace(ASKED, file=tmp_path / "picks.parquet"))
    assert "going on with 12 people" in capsys.readouterr().out
    monkeypatch.setattr("kaczmatch.cli.operate.picks.today", lambda _context: town.now.date() + timedelta(days=9_999))
    with pytest.raises(pytest.fail.Exception, match="stopped"):
        run(None, replace(ASKED, file=tmp_path / "picks.parquet"))
    assert "going on" not in capsys.readouterr().out
