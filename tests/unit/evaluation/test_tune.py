"""Settings are chosen on some users and checked on others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kaczmatch import InvalidInput
from kaczmatch.evaluation import tune as tuning
from kaczmatch.evaluation.protocol.progress import SilentProgress
from kaczmatch.evaluation.protocol.trial import Protocol, Trial
from kaczmatch.evaluation.reporting import tuning as tuning_report
from kaczmatch.evaluation.reporting.tuning import tuning_words
from kaczmatch.evaluation.tune import tune
from kaczmatch.formats.swipe_table import SwipeTable
from worlds.logs import small_table


def decided(table: SwipeTable, noise: float) -> SwipeTable:
    """Everybody has a taste of their own, and decides by it with this much noise."""
    rng = np.random.default_rng(0)
    taste = 3.0 * rng.normal(size=(len(table.users), table.features.shape[1]))
    felt = np.einsum("ij,ij->i", taste[table.user], table.features[table.candidate])
    return replace(table, like=felt + noise * rng.normal(size=len(felt)) > 0.0)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = {"alpha": (0.02, 20.0), "label_noise": (0.01, 0.2), "appeal_half_life_days": (1825.0, 9.0)}
    monkeypatch.setattr(tuning, "GRID", grid)
    monkeypatch.setattr(tuning_report, "GRID", grid)


@pytest.mark.usefixtures("quick")
def test_the_defaults_are_kept_where_nothing_is_better() -> None:
    trial = Trial(decided(small_table(0, users=120, swipes=30), 1.0), Protocol())
    found = tune(trial, "probit-diag", SilentProgress())
    assert tuning_words(found)[0] == "Keep the defaults of probit-diag."
    assert not found.changed
    assert found.configuration.settings == {"appeal": True}  # and the rest as by default


@pytest.mark.usefixtures("quick")
def test_people_who_never_err_ask_for_less_label_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = Trial(decided(small_table(1, users=160, swipes=30), 0.0), Protocol())
    found = tune(trial, "probit-diag", SilentProgress())
    assert not found.changed
    assert "real but too small to matter (below 0.01): label_noise = 0.01" in tuning_words(found)[1]
    monkeypatch.setattr(tuning, "MATTERS", 0.0)
    found = tune(trial, "probit-diag", SilentProgress())
    assert found.changed
    assert tuning_words(found)[0] == "Change probit-diag: label_noise = 0.01."
    assert found.configuration.settings["label_noise"] == 0.01
    best = [each for each in found.trials if each.role == "best" and each.setting == "label_noise"]
    assert best[0].difference.mean < 0.0


def test_who_is_chosen_on_is_neither_fitted_nor_checked_on() -> None:
    trial = Trial(small_table(2, users=100), Protocol())
    chosen, checked = tuning._groups(trial)
    assert not set(chosen) & set(checked)
    assert not trial.fit[chosen].any()
    assert not trial.fit[checked].any()


def test_what_cannot_be_tuned_is_said() -> None:
    trial = Trial(small_table(3), Protocol())
    with pytest.raises(InvalidInput, match="tune 'probit' or 'probit-diag'"):
        tune(trial, "tk", SilentProgress())
    with pytest.raises(InvalidInput, match="needs 40 users beside those"):
        tune(trial, "probit", SilentProgress())
