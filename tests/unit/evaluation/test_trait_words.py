"""The report says how many traits were selected, and from how many people."""

from __future__ import annotations

import numpy as np

from kaczmatch.evaluation.evaluate import Choices, evaluate
from kaczmatch.evaluation.protocol.contenders import contenders
from kaczmatch.evaluation.protocol.progress import SilentProgress
from kaczmatch.evaluation.protocol.trial import Protocol, Trial
from kaczmatch.evaluation.reporting.report import trait_words
from worlds.logs import small_table


def test_the_number_of_traits_and_of_people_is_said() -> None:
    trial = Trial(small_table(0), Protocol(times=(0,), rest=2))
    result = evaluate(trial, Choices(learners=["probit-diag", "probit-traits"]), SilentProgress())
    fitted = [each.traits for each in result.contenders if each.traits is not None]
    words = trait_words(result)
    if fitted:
        assert f"{fitted[0].model.learner.traits} trait" in words
    else:
        assert "no traits" in words
    (two,) = [each.traits for each in contenders(trial, ["probit-traits"], tick=lambda _: None, traits=2) if each.traits]
    assert two.people == np.unique(trial.table.user[trial.fit_rows]).size
