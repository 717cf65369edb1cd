"""P7: erasure leaves nothing of a person, searched for in the raw bytes of everything that was written."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kaczmatch.app.composition import scrubbing_of
from kaczmatch.cli.app import app
from kaczmatch.service.access.erased_tokens import ErasedTokens
from kaczmatch.service.domain.answer_cache import AnswerCache
from kaczmatch.service.domain.records import RECORDS
from kaczmatch.service.domain.snapshot_files import SnapshotFiles
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.messages.feed import Feed
from kaczmatch.service.operations.maintenance import Maintenance
from kaczmatch.service.operations.verification import verify
from kaczmatch.service.privacy.erasure import Erasure
from kaczmatch.service.privacy.personal_data import PersonalData
from kaczmatch.storage import SqlStore
from worlds.town import Town

CANARY, NAME = "canary-7f3a91", "Canarina Xq9z"


class Files:
    """A store and the files it lives in, and those of the snapshot beside it."""

    def __init__(self, url: str, folder: Path, snapshot: Path, ask: Callable[[str], object]) -> None:
        self.url, self.folder, self.snapshot, self.ask = url, folder, SnapshotFiles(snapshot, least_people=0), ask

    def analyse(self) -> None:
        """A database gathers statistics of what it holds, as a server does by itself from time to time."""
        self.ask("ANALYZE")

    def with_text(self, text: str) -> list[str]:
        """Files in which it can be read."""
        self.ask("CHECKPOINT")
        folders = {self.folder, self.snapshot.folder.parent}
        files = {path for folder in folders for path in folder.rglob("*") if path.is_file() and "pg_wal" not in path.parts}
        return sorted(path.name for path in files if text.encode() in _bytes_of(path))


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:  # a running server removes files of its own
        return b""


@pytest.fixture(params=["sqlite", "postgres"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Files]:
    if request.param == "sqlite":
        yield Files(f"sqlite:///{tmp_path}/store.db", tmp_path, tmp_path / "snapshot", lambda _: None)
        return
    server, url = request.getfixturevalue("postgres"), request.getfixturevalue("new_postgres_url")
    yield Files(url, server.data, tmp_path / "snapshot", lambda words: server.ask(words, url.rpartition("/")[2]))


def busy(town: Town) -> None:
    """The canary does all that can be done, and all is done to it."""
    town.couples(6)
    town.move_in(CANARY, man=True, tags=["chess"], name=NAME)
    for woman in range(4):
        town.swipe(f"w{woman}", CANARY, "like" if woman < 3 else "pass")
        town.swipe(f"w{woman}", "m0", "pass" if woman % 2 else "like")
    for woman in ("w0", "w1", "w3"):
        town.swipe(CANARY, woman)
    town.safety.report(CANARY, "w1", "rude").result()
    town.safety.report("w2", CANARY, "rude").result()
    town.relearning.relearn("probit", {}, town.world.recommender.index.prior)
    town.world.follow()
    town.swipe(CANARY, "w4")


def test_nothing_of_an_erased_person_can_be_read_from_the_files(files: Files, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with closing(SqlStore(files.url)) as store:
        town = Town(store, snapshot=files.snapshot)
        busy(town)
        town.world.follow()
        assert town.world.renew_snapshot(ServingIndex(town.context).write_snapshot), "there is another model"
        town.world.follow()
        told = PersonalData(town.context, AnswerCache()).export(CANARY).decode()
        assert CANARY in told
        assert NAME in told
        assert files.with_text(CANARY), "the canary cannot be found before, so its absence would prove nothing"
        assert files.with_text(NAME)
        assert "id_text.npy" in files.with_text(CANARY)
        files.analyse()
        erasing = Erasure(town.context, scrubbing_of(town.context, store), ErasedTokens(town.context, b"secret"))
        erasing.erase(CANARY)
        for _ in range(2):  # changes are kept until all processes say that they have read them
            town.wait(minutes=3)
            town.world.follow()
        Maintenance(town.context).run()
        feed = Feed(town.context)
        [*_, message] = feed.read()
        assert message.user == CANARY
        feed.acknowledge(message.number)
        town.wait(minutes=4)  # from the erasure on
        assert erasing.resume() == 0
        assert not [record for kind in RECORDS for record in town.find(kind) if CANARY in repr(record)]
        assert verify(town.context).problems == ()
        assert files.with_text(NAME) == files.with_text(NAME.casefold()) == []
        assert files.with_text(CANARY) == []
    assert CANARY not in caplog.text
    assert NAME not in caplog.text


def test_the_command_is_over_when_the_files_are_clean(files: Files, tmp_path: Path) -> None:
    """The message for the app is left, which has the id and nothing else."""
    with closing(SqlStore(files.url)) as store:
        town = Town(store)
        town.couples(1)
        town.move_in(CANARY, man=True, name=NAME)
        ServingIndex(replace(town.context, snapshot=files.snapshot)).load()
    assert files.with_text(NAME)
    assert "id_text.npy" in files.with_text(CANARY)
    settings = {"KACZMATCH_DATABASE": files.url, "KACZMATCH_DATA": str(tmp_path)}
    done = CliRunner().invoke(app, ["erase", CANARY, "--yes"], env=settings)
    assert "nothing of" in done.stdout, (done.stdout, done.stderr)
    assert files.with_text(NAME) == []
    assert "id_text.npy" not in files.with_text(CANARY)
