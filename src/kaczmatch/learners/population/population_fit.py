"""Fits everything that a population shares, with traits where they pay (`with_or_without.py`)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from kaczmatch.core.errors import InvalidInput, check_integer
from kaczmatch.core.swipes import AnyLog, SwipeLog
from kaczmatch.core.vectors import Integers
from kaczmatch.learners.belief.gaussian import GaussianLearner
from kaczmatch.learners.belief.probit_traits import ProbitTraits
from kaczmatch.learners.logs.fold import user_numbers
from kaczmatch.learners.population.trait_fit import fit_traits
from kaczmatch.learners.population.trait_log import SiteLog
from kaczmatch.learners.population.with_or_without import prior_with_appeal, traits_pay, without_traits
from kaczmatch.learners.prior import Prior
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner

MOST_PEOPLE: Final = 2_000  # a population fitted on so many is as good as one fitted on more
HISTORY: Final = 20  # swipes from which on somebody counts as having a history

Advance = Callable[[], None]


@final
@dataclass(frozen=True, slots=True, eq=False)
class FittedPopulation:
    """What was fitted, and from whom."""

    learner: GaussianLearner | ProbitTraits
    prior: Prior
    sites: SiteLog | None  # of the fitted people, by their numbers; None without traits
    names: Sequence[Hashable]  # of all people of the log; a rater's number is a place among them
    fitted: Sequence[Hashable]  # the people whom it was fitted on


def fit_population(
    log: AnyLog,
    *,
    learner: ProbitTraits = ProbitTraits(),  # noqa: B008
    traits: bool | None = None,
    most: int = MOST_PEOPLE,
    seed: int = 0,
    advance: Advance = lambda: None,
    runner: Runner = LocalRunner(1),  # noqa: B008
) -> FittedPopulation:
    """The population of a log that names candidates and times, for `learner`, or without traits for what takes its place.

    It has traits where they pay, or as `traits` says. Deterministic for a seed, on any number of workers. Beside the log, memory
    grows with `most`, not with the log.
    """
    log = SwipeLog.of(log)
    if not isinstance(learner, ProbitTraits):
        raise InvalidInput("learner", f"must be a 'probit-traits', got {learner!r}")
    if log.candidate_row is None or log.at is None:
        raise InvalidInput("log", "a population needs to know who was swiped and when: give candidate, candidates and at")
    if not len(log):
        raise InvalidInput("log", "has no swipes to fit a population to")
    names, user = user_numbers(log.user)
    chosen = people_with_history(np.bincount(user, minlength=len(names)), check_integer("most", most, low=1, high=10**9))
    kept = np.isin(user, chosen)
    mine, numbers = log.select(kept), user[kept]
    fitted = [names[each] for each in chosen.tolist()]
    if traits is None:
        traits = traits_pay(learner, mine, numbers, seed=seed, advance=advance, runner=runner)
    if not traits:
        alone = without_traits(learner)
        return FittedPopulation(alone, prior_with_appeal(alone, mine), None, names, fitted)
    fit = fit_traits(learner, mine, numbers, seed=seed, advance=advance, runner=runner)
    return FittedPopulation(learner, fit.prior, fit.sites, names, fitted)


def people_with_history(swipes: Integers, most: int) -> Integers:
    """So many at most: those with a history at even distances, and where there are too few, those with the longest besides."""
    known = np.flatnonzero(swipes >= HISTORY)
    if len(known) >= most:
        return np.asarray(known[np.linspace(0, len(known) - 1, most).astype(np.int64)])
    longest = np.argsort(-swipes, kind="stable")
    return np.sort(longest[swipes[longest] > 0][:most])
