"""Settings by environment and file; every one documented."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from kaczmatch.core.errors import InvalidInput
from kaczmatch.evaluation.report import USUAL
from kaczmatch.learners.registry import LEARNERS, learner
from kaczmatch.settings.model import FILE, PREFIX, Settings
from kaczmatch.settings.reading import read, shown, without_password

PAGE = Path(__file__).parents[3] / "docs" / "settings.md"


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        monkeypatch.delenv(name)


def as_documented(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return f"`{','.join(value)}`" if value else ""
    text = json.dumps(value) if isinstance(value, dict | bool) else str(value)
    return f"`{text}`"


def test_the_page_lists_every_setting_and_nothing_else() -> None:
    wanted = [
        f"| `{name}` | {as_documented(field.default)} | {field.description} |" for name, field in Settings.model_fields.items()
    ]
    told = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if re.match(r"\| `", line)]
    assert told == wanted


def test_the_environment_wins_over_the_file_and_options_over_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "kaczmatch.toml"
    file.write_text('port = 1\nthreads = 3\nkinds = ["mentor", "mentee"]\n[learner_settings]\nappeal = false\n')
    monkeypatch.setenv(FILE, str(file))
    monkeypatch.setenv("KACZMATCH_PORT", "2")
    monkeypatch.setenv("KACZMATCH_DECKS_A_DAY", "none")
    monkeypatch.setenv("KACZMATCH_CORS_ORIGINS", "https://a.example, https://b.example")
    settings = read(host="localhost", workers=None)
    assert (settings.port, settings.threads, settings.kinds) == (2, 3, ("mentor", "mentee"))
    assert settings.decks_a_day is None
    assert settings.cors_origins == ("https://a.example", "https://b.example")
    assert settings.learner_settings == {"appeal": False}
    assert settings.host == "localhost"
    assert read(port=3).port == 3


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("KACZMATCH_PROT", "1", "did you mean 'port'"),
        ("KACZMATCH_PORT", "70000", "port: "),
        ("KACZMATCH_PORT", "many", "port: "),
        ("KACZMATCH_TOKEN_SECRET", "short", "token_secret: "),
        ("KACZMATCH_LEARNER_SETTINGS", "{", "learner_settings"),
        (FILE, "no/such/file.toml", "there is no file"),
    ],
)
def test_what_is_wrong_is_said(monkeypatch: pytest.MonkeyPatch, name: str, text: str, problem: str) -> None:
    monkeypatch.setenv(name, text)
    with pytest.raises(InvalidInput, match=problem) as error:
        read()
    assert "short" not in str(error.value)


@pytest.mark.parametrize(("text", "problem"), [("port = ", "is not TOML"), ("prot = 1", "did you mean 'port'")])
def test_what_is_wrong_in_the_file_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, problem: str) -> None:
    file = tmp_path / "kaczmatch.toml"
    file.write_text(text)
    monkeypatch.setenv(FILE, str(file))
    with pytest.raises(InvalidInput, match=problem):
        read()


def test_secrets_are_not_shown() -> None:
    secret = "very-secret-" * 4
    settings = Settings(
        token_secret=SecretStr(secret),
        webhook_secret=SecretStr(secret),
        database=SecretStr("postgresql://kaczmatch:very-secret-word@db.example/people"),
    )
    told = json.dumps(shown(settings))
    assert "very-secret" not in told
    assert "very-secret" not in repr(settings)
    assert "postgresql://kaczmatch@db.example/people" in told
    assert without_password("sqlite:///file") == "sqlite:///file"


@pytest.mark.parametrize("slug", LEARNERS)
def test_a_learner_can_be_named_alone(slug: str) -> None:
    settings = Settings(learner=slug)
    made = learner(slug, **settings.learner_settings)
    assert made.slug == slug
    assert getattr(made, "appeal", None) in (True, None)  # it is used by whoever knows it


def test_an_evaluation_knows_the_default_learner_of_the_service() -> None:
    fields = Settings.model_fields
    assert (USUAL.slug, USUAL.settings) == (fields["learner"].default, fields["learner_settings"].default)
    assert USUAL.appeal_half_life_days == fields["appeal_half_life_days"].default
