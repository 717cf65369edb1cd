"""`kaczmatch config check` prints what is in force, and says what is wrong."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kaczmatch.app.composition import context_of, credentials_of, open_store
from kaczmatch.cli.operate.serve import check, serve
from kaczmatch.service.meeting.profiles import Profiles
from kaczmatch.settings.model import PREFIX
from kaczmatch.settings.reading import read
from kaczmatch.storage import SqlStore
from worlds.town import about


@pytest.fixture(autouse=True)
def _only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("KACZMATCH_DATA", str(tmp_path / "data"))


def test_what_is_in_force_is_printed_without_secrets(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("KACZMATCH_TOKEN_SECRET", "s" * 40)
    monkeypatch.setenv("KACZMATCH_PORT", "9000")
    check(None)
    told = capsys.readouterr()
    assert "port = 9000" in told.out
    assert 'token_secret = "********"' in told.out
    assert "s" * 40 not in told.out + told.err


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("WORKERS", "0", "workers"),
        ("LEARNER", "probbit", "did you mean 'probit'"),
        ("LEARNER_SETTINGS", '{"alfa": 1}', "did you mean 'alpha'"),
        ("POLICY_SETTINGS", '{"uniform_flor": 1}', "did you mean 'uniform_floor'"),
        ("PORT", "x", "port"),
        ("KINDS", "a,a", "different texts"),
        ("VOCABULARY", "no/such/file", "cannot read"),
        ("HOST", "192.0.2.1", "there is no key yet"),
        ("WEBHOOK_URL", "https://hooks.example.com/", "webhook secret: is needed"),
        ("WEBHOOK_URL", "ftp://hooks.example.com/", "webhook url: must be https"),
        ("LEARNER", "tk", "needs a learner that knows how sure it is"),
        ("DATABASE", "mysql://host/name", "neither sqlite nor postgresql"),
        ("DATABASE", "sqlite:////dev/null/nowhere.db", "cannot be written"),
        ("DATABASE", "postgresql://nobody@127.0.0.1:1/none", "cannot be reached"),
        ("EXPERIMENT", "without arms", "arms"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, text: str, words: str
) -> None:
    monkeypatch.setenv(f"{PREFIX}{name}", text)
    with pytest.raises(SystemExit) as stopped:
        check(None)
    assert stopped.value.code == 2
    assert words in capsys.readouterr().err.replace("\n", " ")


def contents(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything in a folder but SQLite's map of its log, which every reader of an open file marks."""
    files = [file for file in folder.rglob("*") if file.is_file() and not file.name.endswith("-shm")]
    return {str(file): (file.stat().st_mode, file.stat().st_mtime_ns, file.read_bytes()) for file in files}


@pytest.fixture
def used(tmp_path: Path) -> Iterator[SqlStore]:
    """A database with a key and a person, still open: the last commits are in its log."""
    settings = read()
    store = open_store(settings)
    context = context_of(settings, store)
    credentials_of(settings, context).create("app", ("app",))
    Profiles(context).put("ann", about("Ann")).result()
    yield store
    store.close()


def test_where_nothing_is_nothing_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    check(None)
    monkeypatch.setenv(f"{PREFIX}HOST", "192.0.2.1")
    with pytest.raises(SystemExit):
        check(None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("running", [True, False])
def test_a_database_is_looked_at_and_not_changed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, used: SqlStore, running: bool
) -> None:
    if not running:
        used.close()
    before = contents(tmp_path)
    monkeypatch.setenv(f"{PREFIX}HOST", "192.0.2.1")
    check(None)  # the key is found
    assert contents(tmp_path) == before


@pytest.mark.parametrize("running", [True, False])
@pytest.mark.parametrize("command", [check, serve])
def test_kinds_that_stored_profiles_need_are_missed_by_the_check_and_by_serve(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], used: SqlStore, command: object, running: bool
) -> None:
    if not running:
        used.close()
    monkeypatch.setenv(f"{PREFIX}KINDS", "mentor,mentee")
    with pytest.raises(SystemExit):
        command(None)  # type: ignore[operator]
    assert "kinds: stored profiles name 'man', 'woman'" in capsys.readouterr().err.replace("\n", " ")


def test_a_file_that_is_no_database_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "data").mkdir()
    Path(read().url.partition(":///")[2]).write_bytes(b"no database" * 100)
    with pytest.raises(SystemExit):
        check(None)
    assert "not a database" in capsys.readouterr().err
