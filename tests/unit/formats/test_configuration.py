from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import kaczmatch
from kaczmatch import InvalidInput
from kaczmatch.formats.configuration import Configuration, read_configuration
from kaczmatch.learners.population.appeal import AppealModel


def test_what_is_written_is_read_and_makes_the_learner(tmp_path: Path) -> None:
    settings = {"label_noise": 0.1, "half_life_days": 30.0, "appeal": True}
    written = Configuration("probit-diag", settings, 90.0)
    path = tmp_path / "kaczmatch.toml"
    path.write_text(f"port = 9000\n{written.text('tuned')}", encoding="utf-8")
    assert read_configuration(path) == written
    learner = kaczmatch.learner(written.slug, **tomllib.loads(path.read_text())["learner_settings"])
    assert learner == kaczmatch.learner("probit-diag", label_noise=0.1, half_life_days=30.0, appeal=True)
    assert Configuration.of(learner, AppealModel(half_life_days=90.0)) == written
    assert written.relearn_command("my settings.toml") == (
        """kaczmatch relearn probit-diag --settings '{"label_noise": 0.1, "half_life_days": 30.0, "appeal": true}' """
        "--config 'my settings.toml'"
    )


def test_only_what_is_not_the_default_is_written() -> None:
    assert (
        Configuration.of(kaczmatch.learner("probit")).text("as it is") == '# as it is\nlearner = "probit"\n\n[learner_settings]\n'
    )
    assert 'policy = "paper"' in Configuration.of(kaczmatch.learner("tk")).text("no belief, so not for the usual policy")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("learner = ", "is not TOML"),
        ("lerner = 'tk'", "has 'lerner'; did you mean 'learner'"),
        ("port = 9000", "must name the learner"),
        ("learner = 'probt'", "did you mean 'probit'"),
        ("learner = 'probit'\n[learner_settings]\nlabel_nois = 1", "did you mean 'label_noise'"),
        ("learner = 'probit'\n[learner_settings]\nlabel_noise = 2", "at most 0.499"),
        ("learner = 'probit'\nappeal_half_life = 2", "did you mean 'appeal_half_life_days'"),
    ],
)
def test_a_wrong_file_is_answered_in_words(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=says):
        read_configuration(path)
    with pytest.raises(InvalidInput, match="there is no file"):
        read_configuration(tmp_path / "missing.toml")
