"""The report says whether there are traits, and from how many people."""

from __future__ import annotations

import numpy as np
import pytest

from kaczmatch.evaluation.evaluate import Choices, EvaluationResult, evaluate
from kaczmatch.evaluation.protocol.progress import SilentProgress
from kaczmatch.evaluation.protocol.trial import Protocol, Trial
from kaczmatch.evaluation.reporting.report import trait_words
from kaczmatch.learners.population import population_fit
from worlds.logs import small_table


def evaluated(*learners: str) -> EvaluationResult:
    return evaluate(Trial(small_table(0), Protocol(times=(0,), rest=2)), Choices(learners=learners), SilentProgress())


@pytest.mark.parametrize("pay", [False, True])
def test_whether_traits_pay_is_said(pay: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(population_fit, "traits_pay", lambda *_, **__: pay)
    result = evaluated("probit-traits")
    trial = result.trial
    people = np.unique(trial.table.user[trial.fit_rows]).size
    assert result.folds[0].traits is pay
    assert (f"Traits pay: probit-traits was fitted with them on {people}" in trait_words(result)) is pay
    assert ("Traits do not pay" in trait_words(result)) is not pay


def test_nothing_is_said_of_traits_that_were_not_asked_for() -> None:
    assert trait_words(evaluated("tk")) == ""
