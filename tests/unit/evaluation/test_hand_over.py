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


def test_a_service_finds_out_by_itself_whether_traits_pay() -> None:
    found = hand_over(result(kaczmatch.learner("probit-traits", traits=2)))
    assert found.found == Configuration("probit-traits", {"traits": 2})
    assert "finds out whenever it fits" in found.note
