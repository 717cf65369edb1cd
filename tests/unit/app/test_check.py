"""`kaczmatch config check` prints what is in force, and says what is wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kaczmatch.cli.operate.serve import check
from kaczmatch.settings.model import PREFIX


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
        ("WORKERS", "2", "needs PostgreSQL"),
        ("LEARNER", "probbit", "did you mean 'probit'"),
        ("LEARNER_SETTINGS", '{"alfa": 1}', "did you mean 'alpha'"),
        ("POLICY_SETTINGS", '{"uniform_flor": 1}', "did you mean 'uniform_floor'"),
        ("PORT", "x", "port"),
        ("KINDS", "a,a", "different texts"),
        ("VOCABULARY", "no/such/file", "cannot read"),
        ("HOST", "192.0.2.1", "there is no key yet"),
        ("WEBHOOK_URL", "https://hooks.example.com/", "webhook secret: is needed"),
        ("WEBHOOK_URL", "ftp://hooks.example.com/", "webhook url: must be https"),
        ("LEARNER", "tk", "appeal: is not a setting of 'tk'"),
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


def test_a_learner_that_the_service_cannot_feed_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(f"{PREFIX}LEARNER", "probit-traits")
    monkeypatch.setenv(f"{PREFIX}LEARNER_SETTINGS", "{}")
    with pytest.raises(SystemExit):
        check(None)
    assert "does not keep what others said of a candidate's traits" in capsys.readouterr().err.replace("\n", " ")
