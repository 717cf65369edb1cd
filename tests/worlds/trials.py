"""What an evaluation does, step by step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kaczmatch.core.vectors import Matrix
from kaczmatch.evaluation.contenders import Contender, Source, fit_sources
from kaczmatch.evaluation.predictions import Predictions, predict
from kaczmatch.evaluation.trial import Trial
from kaczmatch.runner.local import LocalRunner


def fitted(trial: Trial, *slugs: str, traits: bool | None = None, pooled: bool = False) -> list[Source]:
    return fit_sources(trial, slugs, LocalRunner(1), traits=traits, pooled=pooled)


def learning(trial: Trial, *slugs: str) -> list[Contender]:
    return [each for each in fitted(trial, *slugs) if isinstance(each, Contender) and each.learns]


def table_of(trial: Trial, sources: Sequence[Source], times: Sequence[int]) -> Predictions:
    return predict(trial, sources, times, trial.tested, LocalRunner(1))


def areas(trial: Trial, sources: Sequence[Source], times: Sequence[int]) -> Matrix:
    """AUC: times x tested users x sources."""
    table = table_of(trial, sources, times)
    return np.asarray(table.by_user([each.name for each in sources], times, trial.tested))
