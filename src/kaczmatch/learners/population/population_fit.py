"""Fits everything that a population shares, and selects how many traits it pays to have.

The choices are `probit-diag` with appeal (no traits) and `probit-traits` with 1, 4 and 8 traits. Each is fitted on four fifths of
the people. The others' swipes are then predicted one by one, each from what was known before it. The fewest traits are taken
whose log-loss is within one standard error of the best, or so near that it does not matter. They are fitted on everybody.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput, check_integer
from kaczmatch.core.swipes import AnyLog, SwipeLog
from kaczmatch.core.vectors import Integers, Matrix, Vector
from kaczmatch.learners.belief.gaussian import GaussianLearner
from kaczmatch.learners.belief.probit_diagonal import ProbitDiagonal
from kaczmatch.learners.belief.probit_traits import ProbitTraits
from kaczmatch.learners.contract import ProbabilisticLearner
from kaczmatch.learners.logs.grouping import user_numbers
from kaczmatch.learners.logs.progressive import progressive_predictions
from kaczmatch.learners.population.appeal import AppealModel
from kaczmatch.learners.population.prior_fit import fit_prior
from kaczmatch.learners.population.trait_fit import ROUNDS, fit_traits
from kaczmatch.learners.population.trait_log import SiteLog
from kaczmatch.learners.population.traits import TraitModel
from kaczmatch.learners.prior import Prior
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner

CHOICES: Final = (0, 1, 4, 8)  # traits
MOST_PEOPLE: Final = 2_000  # a population fitted on so many is as good as one fitted on more
HISTORY: Final = 20  # swipes from which on somebody counts as having a history
LEAST_GAIN: Final = 0.001  # nats per swipe, for which more traits are worth having
_HELD_OUT: Final = 5  # one person in so many
FIT_STEPS: Final = ROUNDS * len(CHOICES) + len(CHOICES)  # calls of `advance`

Advance = Callable[[], None]


@final
@dataclass(frozen=True, slots=True)
class TraitChoice:
    """A number of traits as it was tried."""

    traits: int
    log_loss: float  # nats per swipe, mean over held-out people
    behind: float  # that mean minus the best one's
    error: float  # standard error of that difference, over people


@final
@dataclass(frozen=True, slots=True, eq=False)
class FittedPopulation:
    """What was fitted, and from whom."""

    learner: GaussianLearner | ProbitTraits
    prior: Prior
    sites: SiteLog | None  # of the fitted people, by their numbers; None without traits
    names: Sequence[Hashable]  # of all people of the log; a rater's number is a place among them
    fitted: Sequence[Hashable]  # the people whom it was fitted on
    choices: Sequence[TraitChoice]

    @property
    def traits(self) -> int:
        return self.learner.traits if isinstance(self.learner, ProbitTraits) else 0


def fit_population(
    log: AnyLog,
    *,
    choices: Sequence[int] = CHOICES,
    full: bool = False,
    most: int = MOST_PEOPLE,
    seed: int = 0,
    advance: Advance = lambda: None,
    runner: Runner = LocalRunner(1),  # noqa: B008
) -> FittedPopulation:
    """The population of a log that names candidates and times. `full` keeps covariances of tags.

    Deterministic for a seed, on any number of workers. Beside the log, memory grows with `most`, not with the log.
    """
    log = SwipeLog.of(log)
    if log.candidate_row is None or log.at is None:
        raise InvalidInput("log", "a population needs to know who was swiped and when: give candidate, candidates and at")
    if not len(log):
        raise InvalidInput("log", "has no swipes to fit a population to")
    for choice in choices:
        check_integer("choices", choice, low=0, high=64)
    names, user = user_numbers(log.user)
    chosen = people_with_history(np.bincount(user, minlength=len(names)), check_integer("most", most, low=1, high=10**9))
    kept = np.isin(user, chosen)
    mine, numbers = log.select(kept), user[kept]
    tried = sorted(set(choices))
    found = _compared(mine, numbers, chosen, tried, full, seed, advance, runner) if len(tried) > 1 else []
    traits = selected(found) if found else tried[0]
    fitted = [names[each] for each in chosen.tolist()]
    if not traits:
        return FittedPopulation(ProbitDiagonal(appeal=True), _prior_with_appeal(mine), None, names, fitted, found)
    learner = ProbitTraits(traits=traits, full=full)
    fit = fit_traits(learner, mine, numbers, seed=seed, advance=advance, runner=runner)
    return FittedPopulation(learner, fit.prior, fit.sites, names, fitted, found)


def people_with_history(swipes: Integers, most: int) -> Integers:
    """So many at most: those with a history at even distances, and where there are too few, those with the longest besides."""
    known = np.flatnonzero(swipes >= HISTORY)
    if len(known) >= most:
        return np.asarray(known[np.linspace(0, len(known) - 1, most).astype(np.int64)])
    longest = np.argsort(-swipes, kind="stable")
    return np.sort(longest[swipes[longest] > 0][:most])


def selected(found: Sequence[TraitChoice]) -> int:
    """The fewest traits within one standard error of the best, or within what matters."""
    return min(each.traits for each in found if each.behind <= max(each.error, LEAST_GAIN))


def _compared(
    log: SwipeLog,
    user: Integers,
    people: Integers,
    choices: Sequence[int],
    full: bool,
    seed: int,
    advance: Advance,
    runner: Runner,
) -> list[TraitChoice]:
    """Every choice, fitted on four fifths of the people and tried on the others."""
    drawn = np.random.default_rng([seed, 41]).permutation(people)
    held = np.isin(user, drawn[: max(1, len(drawn) // _HELD_OUT)])
    if held.all():
        return []  # one person alone
    losses = []
    for traits in choices:
        losses.append(_loss_of_held_out(log, user, held, traits, full, seed, advance, runner))
        advance()
    means = np.array([each.mean() for each in losses])
    best = int(np.argmin(means))
    found = []
    for traits, each in zip(choices, losses, strict=True):
        apart = each - losses[best]
        error = float(apart.std(ddof=1) / np.sqrt(len(apart))) if len(apart) > 1 else 0.0
        found.append(TraitChoice(traits, float(each.mean()), float(apart.mean()), error))
    return found


def _loss_of_held_out(
    log: SwipeLog,
    user: Integers,
    held: NDArray[np.bool_],
    traits: int,
    full: bool,
    seed: int,
    advance: Advance,
    runner: Runner,
) -> Vector:
    """Each held-out person's mean log-loss, every swipe predicted from what the fitted people had decided before it."""
    learner: ProbabilisticLearner
    fitting, trying = log.select(~held), log.select(held)
    candidate, at = np.asarray(trying.candidate_row), np.asarray(trying.at)
    said: Vector | Matrix
    if traits:
        one = ProbitTraits(traits=traits, full=full)
        fit = fit_traits(one, fitting, user[~held], seed=seed, advance=advance, runner=runner)
        model = TraitModel(learner=one, prior=fit.prior, reference=int(np.asarray(log.at).max()))
        viewer = np.full(len(trying), -1)  # nobody held out has given a site
        said = fit.sites.traits_at(model, model.expected(log.features), viewer=viewer, candidate=candidate, at=at)
        learner, prior = one, fit.prior
    else:
        learner, prior = ProbitDiagonal(appeal=True), _prior_with_appeal(fitting)
        said = AppealModel().at_moments(fitting, viewer=trying.user, candidate=candidate, at=at.astype("datetime64[us]"))
    p = np.clip(progressive_predictions(learner, trying.with_appeal(said), prior=prior), 1e-9, 1.0 - 1e-9)
    lost = -np.log(np.where(trying.label > 0.0, p, 1.0 - p))
    _, place = np.unique(user[held], return_inverse=True)
    return np.asarray(np.bincount(place, lost) / np.bincount(place))


def _prior_with_appeal(log: SwipeLog) -> Prior:
    seen = log.with_appeal(AppealModel().before_swipes(log))
    return fit_prior(ProbitDiagonal(appeal=True), seen, neutral=np.zeros(log.dimensions))
