"""Picks whose process is killed: making them goes on where it was, and publishing them leaves the edition before whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kaczmatch.app import background, system
from kaczmatch.app.composition import context_of, open_store
from kaczmatch.app.system import System, compose
from kaczmatch.cli.operate.picks import run
from kaczmatch.recommend.picks import tiles
from kaczmatch.service.domain.records import Pick, PublishedPicks, StoredLease
from kaczmatch.service.meeting.daily_picks import DailyPicks
from kaczmatch.service.meeting.profiles import Profiles
from kaczmatch.service.operations.picks_job import PicksJob
from kaczmatch.settings.model import PREFIX, Settings
from kaczmatch.storage import SqlStore
from kaczmatch.storage.migrating import migrate
from picker import options
from worlds.town import Town

PICKER = Path(__file__).with_name("picker.py")


def town_in(folder: Path, people: int) -> tuple[str, Town]:
    url = Settings(data=folder).url
    migrate(url)
    with closing(SqlStore(url)) as store:
        town = Town(store)
        town.populate(people)
    return url, town


def pause(folder: Path, paused: bool) -> None:
    with closing(SqlStore(Settings(data=folder).url)) as store:
        Profiles(context_of(Settings(data=folder), store)).pause("p0", paused).result()


def killed(job: str, folder: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    command, environment = [sys.executable, "-W", "ignore", str(PICKER), job, str(folder)], kept | {f"{PREFIX}DATA": str(folder)}
    environment |= {f"{PREFIX}AWAY_DAYS": "none"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout is not None
        while "begun" not in (line := process.stdout.readline()):
            assert line, "it ended before it was killed"
        process.send_signal(signal.SIGKILL)


def test_a_killed_run_goes_on_with_what_it_has_and_gives_the_same_picks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    town_in(tmp_path, 300)
    monkeypatch.setenv(f"{PREFIX}DATA", str(tmp_path))
    monkeypatch.setenv(f"{PREFIX}AWAY_DAYS", "none")
    monkeypatch.setattr(tiles, "_PAIRS_PER_PART", 1)
    killed("make", tmp_path)
    assert not (tmp_path / "picks.parquet").exists()
    pause(tmp_path, True)  # whoever goes on has everybody as they were read
    run(None, options(tmp_path / "picks.parquet"))
    assert "going on with 300 people" in capsys.readouterr().out
    assert not (tmp_path / "picks.parquet.progress").exists()
    pause(tmp_path, False)
    run(None, options(tmp_path / "again.parquet"))
    assert "going on" not in capsys.readouterr().out
    assert pl.read_parquet(tmp_path / "picks.parquet").equals(pl.read_parquet(tmp_path / "again.parquet"))


def test_a_killed_publish_leaves_the_edition_before_whole(tmp_path: Path) -> None:
    url, town = town_in(tmp_path, 10)
    with closing(SqlStore(url)) as store:
        town = Town(store, before=town)
        assert PicksJob(town.context).publish([("p0", [("p1", 0.5), ("p5", 0.4)])], "top") == 1
    killed("publish", tmp_path)
    with closing(SqlStore(url)) as store:
        town = Town(store, before=town)
        assert {pick.edition for pick in town.find(Pick)} >= {1, 2}
        shown = DailyPicks(town.context, town.decks).of("p0")
        assert [card.person.id for card in shown.cards] == ["p1", "p5"]
        town.wait(minutes=5)
        assert PicksJob(town.context).publish([("p0", [("p1", 0.5)])], "top") == 3
        assert {pick.edition for pick in town.find(Pick)} == {3}


@pytest.fixture
def serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: list[dict[str, Any]]) -> Iterator[System]:
    """A service that publishes picks at every hour, and cannot make them in its own process."""
    town_in(tmp_path, 40)
    monkeypatch.setattr(system, "PICKS_SECONDS", 0.2)
    settings = Settings(data=tmp_path, picks_hour=0, away_days=None)
    running = compose(settings, open_store(settings))
    running.start()
    running.wait_ready(90)
    monkeypatch.setattr(PicksJob, "make", lambda *_: pytest.fail("picks are made where requests are served"))
    yield running
    if not running.background.stopping:
        running.stop()


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    lines = list[dict[str, Any]]()
    monkeypatch.setattr(background.log, "error", lambda event, **more: lines.append({"event": event, **more}))
    return lines


def until(reached: Callable[[], bool], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.05)


def makers() -> list[int]:
    """Processes that make picks for this one."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            of = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if of == os.getpid() and b"own_process" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose child a process is")
def test_a_service_has_picks_made_by_another_process_and_again_if_that_is_killed(
    serving: System, told: list[dict[str, Any]]
) -> None:
    until(lambda: bool(makers()))
    os.kill(makers()[0], signal.SIGKILL)
    until(lambda: bool(told))
    assert (told[0]["event"], told[0]["job"], told[0]["error"]) == ("job failed", "picks", "CalledProcessError")

    def published() -> bool:
        with serving.store.read() as reader:
            return bool(reader.find(PublishedPicks)) and bool(reader.find(Pick, limit=1))

    until(published)
    until(lambda: not makers())
    assert len(told) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose child a process is")
def test_the_process_that_makes_picks_ends_with_the_service(serving: System, told: list[dict[str, Any]]) -> None:
    until(lambda: bool(makers()))
    serving.stop()
    assert makers() == []
    assert told == []
    with closing(SqlStore(serving.settings.url)) as store, store.read() as reader:
        assert reader.find(StoredLease) == []
