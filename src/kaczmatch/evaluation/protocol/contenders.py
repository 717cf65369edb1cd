"""The contenders: every learner as published, and with what is learned from the population."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import final

import numpy as np

from kaczmatch.core.swipes import SwipeLog, appeal_rows
from kaczmatch.core.vectors import Matrix
from kaczmatch.evaluation.protocol.traits_heard import FittedTraits
from kaczmatch.evaluation.protocol.trial import Places, Trial
from kaczmatch.learners.belief.gaussian import Probit, ProbitDiagonal, ProbitTraits
from kaczmatch.learners.contract import Learner, ProbabilisticLearner
from kaczmatch.learners.population.population_fit import fit_population, people_with_history
from kaczmatch.learners.population.prior_fit import fit_prior
from kaczmatch.learners.population.threshold import calibrated_hinge
from kaczmatch.learners.population.traits import TraitModel
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.registry import LEARNERS, learner
from kaczmatch.learners.rules.kaczmarz import HingeLearner
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner

MOST_FIT_USERS = 2_000  # the population's prior is as good from so many as from more
TRAITS = "probit-traits + population"

Tick = Callable[[str], None]


@final
@dataclass(frozen=True, slots=True)
class Contender:
    """A learner, and the prior that every user starts from."""

    name: str
    learner: Learner
    prior: Prior
    traits: FittedTraits | None = None  # heard in place of appeal

    def log(self, trial: Trial) -> SwipeLog:
        """All swipes, with what was heard of each candidate."""
        return trial.log if self.traits is None else self.traits.heard_in(trial).log

    def heard_when_ranked(self, trial: Trial, rows: Places, t: int) -> Matrix:
        """What was heard of candidates that are ranked after t swipes."""
        if self.traits is not None:
            return self.traits.heard_in(trial).when_ranked(rows, t)
        return appeal_rows(trial.appeal_when_ranked(rows, t))

    def heard_at(self, trial: Trial, viewer: Places, candidate: Places, moments: Places) -> Matrix:
        """What viewers had heard of candidates at given moments."""
        if self.traits is not None:
            return self.traits.heard_in(trial).at_moments(viewer, candidate, moments)
        return appeal_rows(trial.appeals(viewer, candidate, moments))

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
    traits: bool | None = None,
    runner: Runner = LocalRunner(1),  # noqa: B008
) -> list[Contender]:
    """Each learner alone; with the population's prior, and threshold, where it can start from one; with appeal where it weighs it.

    There are traits where they pay, unless `traits` says so or otherwise.
    """
    learners = [learner(slug, **(settings or {}).get(slug, {})) for slug in slugs]
    fit, dimensions = fit_log(trial), trial.table.features.shape[1]
    hinge = next((one for one in learners if isinstance(one, HingeLearner)), None)  # all of them start from one and the same
    common = None if hinge is None else fit_prior(hinge, fit, neutral=published_start(hinge, dimensions))
    found: list[Contender] = []
    for some in runner.results(partial(_contenders_of, trial, fit, common, traits), learners):
        found += some
        tick(some[0].name)
    return found


def _contenders_of(trial: Trial, fit: SwipeLog, common: Prior | None, traits: bool | None, one: Learner) -> list[Contender]:
    neutral = published_start(one, trial.table.features.shape[1])
    found = [Contender(one.slug, one, neutral)]
    if isinstance(one, HingeLearner) and common is not None:
        calibrated = replace(one, hinge=calibrated_hinge(fit, common))
        found.append(Contender(f"{one.slug} + population", calibrated, common))
    elif isinstance(one, ProbitTraits):
        found += _with_traits(trial, one, traits)
    elif isinstance(one, ProbabilisticLearner):
        found.append(Contender(f"{one.slug} + population", one, fit_prior(one, fit, neutral=neutral)))
    if isinstance(one, Probit | ProbitDiagonal):
        weighing = replace(one, appeal=True)
        found.append(Contender(f"{one.slug} + population + appeal", weighing, fit_prior(weighing, fit, neutral=neutral)))
    return found


def _with_traits(trial: Trial, one: ProbitTraits, traits: bool | None) -> list[Contender]:
    """The population's traits. Where they do not pay there is nobody, but in a fold, which has to have the same contenders as the
    others, there is what a service then has in their place."""
    rows = np.flatnonzero(trial.fit_rows)
    population = fit_population(trial.timed.select(rows), learner=one, traits=traits, seed=trial.protocol.seed)
    if population.sites is None:
        return [] if trial.fold is None else [Contender(TRAITS, population.learner, population.prior)]
    model = TraitModel(
        learner=one,
        prior=population.prior,
        half_life_days=trial.protocol.appeal.half_life_days,
        reference=trial.fitted_at,
    )
    numbers = np.array(population.names)  # the log's users go by their number in the trial
    fitted = replace(population.sites, rater=numbers[population.sites.rater])
    return [Contender(TRAITS, one, population.prior, FittedTraits(model, fitted, len(population.fitted)))]


def fit_log(trial: Trial, most: int = MOST_FIT_USERS) -> SwipeLog:
    """Swipes of the fitted users, of so many at most and rather of those with a history."""
    swipes = np.bincount(trial.table.user[trial.fit_rows], minlength=len(trial.table.users))
    chosen = people_with_history(swipes, most)
    return trial.fitted_log(np.flatnonzero(trial.fit_rows & np.isin(trial.table.user, chosen)))
