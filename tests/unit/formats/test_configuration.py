from __future__ import annotations

import math
import tomllib
from pathlib import Path

import pytest

import kaczmatch
from kaczmatch import InvalidInput
from kaczmatch.formats.configuration import Configuration, read_configuration


def test_what_is_written_is_read_and_makes_the_learner(tmp_path: Path) -> None:
    settings = {"label_noise": 0.1, "half_life_days": math.inf, "appeal": True}
    written = Configuration("probit-diag", settings, {"half_life_days": 90.0})
    path = tmp_path / "kaczmatch.toml"
    path.write_text(written.text("tuned"), encoding="utf-8")
    assert read_configuration(path) == written
    learner = kaczmatch.learner(**tomllib.loads(path.read_text())["learner"])
    assert learner == kaczmatch.learner("probit-diag", label_noise=0.1, appeal=True)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("learner = ", "is not TOML"),
        ("[lerner]\nslug = 'tk'", "has a section 'lerner'; did you mean 'learner'"),
        ("[learner]\nalpha = 1", "must name the learner"),
        ("[learner]\nslug = 'probt'", "did you mean 'probit'"),
        ("[learner]\nslug = 'probit'\nlabel_nois = 1", "did you mean 'label_noise'"),
        ("[learner]\nslug = 'probit'\nlabel_noise = 2", "at most 0.499"),
        ("[learner]\nslug = 'probit'\n[appeal]\nhalf_life = 2", "did you mean 'half_life_days'"),
    ],
)
def test_a_wrong_file_is_answered_in_words(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=says):
        read_configuration(path)
    with pytest.raises(InvalidInput, match="there is no file"):
        read_configuration(tmp_path / "missing.toml")
