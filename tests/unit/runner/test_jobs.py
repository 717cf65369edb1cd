"""Jobs in parts give the same wherever their parts run, to the last bit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kaczmatch.learners.population import population_fit
from kaczmatch.reproduce.study import Plan, Reproduction, learners_by_name, numbers
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner
from kaczmatch.simulation.world import HONEST
from worlds.jobs import evaluated, picked
from worlds.scattered_runner import ScatteredRunner

HERE, APART = LocalRunner(1), ScatteredRunner()


def test_an_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(population_fit, "traits_pay", lambda *_, **__: True)
    assert evaluated(HERE, "probit-traits") == evaluated(APART, "probit-traits")


def test_a_study_of_the_paper() -> None:
    sized = replace(HONEST, users=3, people=60, tags=8, sessions=3, deck=5)
    named = learners_by_name(("tk", "block-nk", "probit-diag"))

    def found(runner: Runner) -> tuple[list[str], list[bytes]]:
        steps: list[str] = []
        study = Reproduction(Plan(seeds=2, users=3), steps.append, runner).study(sized, named, numbers)
        seeds = [one for each in study.values() for one in each]
        return steps, [value.tobytes() for one in seeds if one.curve for value in (*one.numbers.values(), one.curve.mean)]

    steps, values = found(HERE)
    assert (steps, values) == found(APART)
    assert steps[0] == "tk, seed 0"
    assert steps[-1] == "probit-diag, seed 1"


def test_picks() -> None:
    assert picked(HERE) == picked(APART)
