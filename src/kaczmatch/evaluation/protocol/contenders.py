"""The contenders: every learner as published, and with what is learned from the population."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from kaczmatch.core.swipes import SwipeLog
from kaczmatch.evaluation.protocol.trial import Trial, at_most
from kaczmatch.learners.belief.gaussian import GaussianLearner
from kaczmatch.learners.belief.probit_traits import ProbitTraits
from kaczmatch.learners.contract import Learner, ProbabilisticLearner
from kaczmatch.learners.population.prior_fit import fit_prior
from kaczmatch.learners.population.threshold import calibrated_hinge
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.registry import LEARNERS, learner
from kaczmatch.learners.rules.hinge import HingeLearner

MOST_FIT_USERS = 2_000  # the population's prior is as good from so many as from more

Tick = Callable[[str], None]


@final
@dataclass(frozen=True, slots=True)
class Contender:
    """A learner, and the prior that every user starts from."""

    name: str
    learner: Learner
    prior: Prior

    @property
    def bytes_per_user(self) -> int:
        return len(self.learner.start(self.prior).to_bytes())


def published_start(one: Learner, dimensions: int) -> Prior:
    """Where a learner starts without a population: the paper's six at all ones of unit length, the others at zero."""
    return Prior(np.full(dimensions, dimensions**-0.5) if isinstance(one, HingeLearner) else np.zeros(dimensions))


def contenders(
    trial: Trial,
    slugs: Sequence[str] = tuple(LEARNERS),
    settings: Mapping[str, Mapping[str, object]] | None = None,
    *,
    tick: Tick,
) -> list[Contender]:
    """Each learner alone; with the population's prior, and threshold, where it can start from one; with appeal where it weighs it."""
    dimensions = trial.table.features.shape[1]
    fit = fit_log(trial)
    common: Prior | None = None  # the hinge rules start from one and the same
    found = []
    for slug in slugs:
        one = learner(slug, **(settings or {}).get(slug, {}))
        neutral = published_start(one, dimensions)
        found.append(Contender(slug, one, neutral))
        tick(slug)
        if isinstance(one, HingeLearner):
            common = common or fit_prior(one, fit, neutral=neutral)
            calibrated = replace(one, hinge=calibrated_hinge(fit, common))
            found.append(Contender(f"{slug} + population", calibrated, common))
        elif isinstance(one, ProbabilisticLearner) and not isinstance(one, ProbitTraits):
            found.append(Contender(f"{slug} + population", one, fit_prior(one, fit, neutral=neutral)))
        if isinstance(one, GaussianLearner):
            weighing = replace(one, appeal=True)
            found.append(Contender(f"{slug} + population + appeal", weighing, fit_prior(weighing, fit, neutral=neutral)))
    return found


def fit_log(trial: Trial, most: int = MOST_FIT_USERS) -> SwipeLog:
    """Swipes of the fitted users, of so many at most, with appeal as they saw it."""
    users = np.flatnonzero(trial.fit & (np.diff(trial.begin) > 0))
    chosen = at_most(most, users)
    return trial.log.select(trial.holdout_rows(chosen, 0))
