"""What a recommendation amounts to in a service."""

from __future__ import annotations

from types import SimpleNamespace

import kaczmatch
from kaczmatch.evaluation.evaluate import EvaluationResult
from kaczmatch.evaluation.reporting.hand_over import hand_over
from kaczmatch.formats.configuration import Configuration
from kaczmatch.learners.contract import Learner


def result(learner: Learner) -> EvaluationResult:
    return SimpleNamespace(  # type: ignore[return-value]
        recommendation=SimpleNamespace(chosen="the best", proven=True),
        contenders=[SimpleNamespace(name="the best", learner=learner)],
        trial=SimpleNamespace(protocol=SimpleNamespace(appeal=None)),
    )


def test_a_service_gets_the_learner_that_was_recommended() -> None:
    found = hand_over(result(kaczmatch.learner("probit-diag", appeal=True)))
    assert found.found == Configuration("probit-diag", {"appeal": True})
    assert found.note == ""


def test_a_service_runs_traits_and_selects_their_number_itself() -> None:
    found = hand_over(result(kaczmatch.learner("probit-traits", traits=1, half_life_days=90.0)))
    assert found.found == Configuration("probit-traits", {"half_life_days": 90.0})
    assert "how many traits" in found.note
