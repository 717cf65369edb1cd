"""Jobs in parts give the same wherever their parts run, to the last bit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kaczmatch.laboratory.study import Laboratory, Plan, learners_by_name
from kaczmatch.learners.population import population_fit
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner
from kaczmatch.simulation.condition import HONEST
from worlds.jobs import evaluated, picked
from worlds.scattered_runner import ScatteredRunner

HERE, APART = LocalRunner(1), ScatteredRunner()


def test_an_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(population_fit, "traits_pay", lambda *_, **__: True)
    assert evaluated(HERE, "probit-traits") == evaluated(APART, "probit-traits")


def test_a_study_of_the_laboratory() -> None:
    sized = replace(HONEST, users=3, people=60, tags=8, sessions=3, deck=5)
    named = learners_by_name(("tk", "block-nk", "probit-diag"))

    def found(runner: Runner) -> tuple[list[str], list[bytes]]:
        steps: list[str] = []
        laboratory = Laboratory(Plan(seeds=2, users=3), steps.append, runner)
        study = laboratory.run(sized, named)
        numbers = [values.tobytes() for metrics in study.numbers.values() for values in metrics.values()]
        curves = [curve.mean.tobytes() for each in laboratory.curves(sized, named).values() for curve in each]
        finals = [final.tobytes() for each in laboratory.finals(sized, named, (0.0, 0.3)).values() for final in each]
        return steps, numbers + curves + finals

    steps, values = found(HERE)
    assert (steps, values) == found(APART)
    assert steps[0] == "tk, seed 0"
    assert steps[-1] == "probit-diag, p = 0.30, seed 1"


def test_picks() -> None:
    assert picked(HERE) == picked(APART)
