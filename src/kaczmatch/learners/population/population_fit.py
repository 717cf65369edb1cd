"""Fits everything that a population shares, with traits where they pay.

They pay where they predict people who were not fitted better than appeal does in their place.
`probit-traits` and what takes its place without traits are both fitted on four fifths of the people, and tried on the others, as
often with another fifth as it takes to try 400 people. The swipes of those tried are predicted one by one, each from what was
known before it. Traits are taken where the log-loss is at least one standard error lower, over people and in pairs.

But a log-loss can fall because shares of likes are predicted better, or scaled better, which orders nobody's candidates. So both
are first scaled alike: log-odds become a + b times themselves, with the a and b that make the swipes most likely.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from kaczmatch.core.errors import InvalidInput, check_integer
from kaczmatch.core.swipes import AnyLog, SwipeLog, appeal_rows
from kaczmatch.core.vectors import Integers, Matrix, Vector
from kaczmatch.learners.belief.gaussian import GaussianLearner, Probit, ProbitDiagonal, ProbitTraits
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.logs.fold import user_numbers
from kaczmatch.learners.logs.replay import progressive_predictions
from kaczmatch.learners.population.appeal import AppealModel
from kaczmatch.learners.population.prior_fit import fit_prior
from kaczmatch.learners.population.trait_fit import FIT_STEPS, fit_traits
from kaczmatch.learners.population.trait_log import SiteLog
from kaczmatch.learners.population.traits import TraitModel
from kaczmatch.learners.prior import Prior
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner

MOST_PEOPLE: Final = 2_000  # a population fitted on so many is as good as one fitted on more
HISTORY: Final = 20  # swipes from which on somebody counts as having a history

_PARTS: Final = 5  # of the people; one is held out
_ENOUGH: Final = 400  # people tried, after which no other part is
_NEWTON_STEPS: Final = 30
_SMALLEST: Final = 1e-9

Progress = Callable[[str, int, int], None]  # what is being done, steps done, steps in all
Advance = Callable[[], None]


@final
@dataclass(frozen=True, slots=True, eq=False)
class FittedPopulation:
    """What was fitted, and from whom."""

    learner: GaussianLearner
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
    progress: Progress = lambda _what, _done, _steps: None,
    runner: Runner = LocalRunner(1),  # noqa: B008
) -> FittedPopulation:
    """The population of a log that names candidates and times, for `learner`, or without traits for what takes its place.

    It has traits where they pay, or as `traits` says. Deterministic for a seed, on any number of workers. Beside the log, memory
    grows with `most`, not with the log. `progress` is told how far a fit is, which may take minutes: ``print`` will do.
    """
    log = SwipeLog.of(log)
    if not isinstance(learner, ProbitTraits):
        raise InvalidInput("learner", f"must be a 'probit-traits', got {learner!r}")
    log.candidates_and_times()
    if not len(log):
        raise InvalidInput("log", "has no swipes to fit a population to")
    names, user = user_numbers(log.user)
    chosen = people_with_history(np.bincount(user, minlength=len(names)), check_integer("most", most, low=1, high=10**9))
    kept = np.isin(user, chosen)
    mine, numbers = log.select(kept), user[kept]
    fitted = [names[each] for each in chosen.tolist()]
    if traits is None:
        advance = _counted(progress, "with traits or without", _steps_of_trial(numbers))
        traits = traits_pay(learner, mine, numbers, seed=seed, advance=advance, runner=runner)
    if not traits:
        alone = without_traits(learner)
        progress("where people start", 0, 1)
        return FittedPopulation(alone, prior_with_appeal(alone, mine), None, names, fitted)
    advance = _counted(progress, "traits, and where people start", FIT_STEPS)
    fit = fit_traits(learner, mine, numbers, seed=seed, advance=advance, runner=runner)
    return FittedPopulation(learner, fit.prior, fit.sites, names, fitted)


def _counted(progress: Progress, what: str, steps: int) -> Callable[[], None]:
    """A call for each step, of so many."""
    done = count(1)
    progress(what, 0, steps)
    return lambda: progress(what, next(done), steps)


def people_with_history(swipes: Integers, most: int) -> Integers:
    """So many at most: those with a history at even distances, and where there are too few, those with the longest besides."""
    known = np.flatnonzero(swipes >= HISTORY)
    if len(known) >= most:
        return np.asarray(known[np.linspace(0, len(known) - 1, most).astype(np.int64)])
    longest = np.argsort(-swipes, kind="stable")
    return np.sort(longest[swipes[longest] > 0][:most])


def clearly_lower(losses: Vector, others: Vector) -> bool:
    """Whether the losses of people are lower than their `others`, on average by at least one standard error of the difference."""
    apart = np.asarray(losses) - np.asarray(others)
    return len(apart) > 1 and float(apart.mean()) < 0.0 and float(apart.mean()) <= -float(apart.std(ddof=1) / np.sqrt(len(apart)))


def traits_pay(learner: ProbitTraits, log: SwipeLog, user: Integers, *, seed: int, advance: Advance, runner: Runner) -> bool:
    """Whether a population should have traits. `user` has the number of each row's user; one user alone tells nothing."""
    drawn = np.random.default_rng([seed, 41]).permutation(np.unique(user))
    parts = _parts(drawn)
    if len(parts[0]) == len(drawn):
        return False
    rows = [np.flatnonzero(np.isin(user, part)) for part in parts]
    predicted: list[Vector] = []
    for predict in (_with_traits, _without_traits):
        some = []
        for one in rows:
            held = np.isin(np.arange(len(log)), one)
            some.append(predict(learner, log, user, held, seed, advance, runner))
            advance()
        predicted.append(np.concatenate(some))
    tried = np.concatenate(rows)
    _, place = np.unique(user[tried], return_inverse=True)
    return clearly_lower(*(_losses(p, log.label[tried] > 0.0, place) for p in predicted))


def _parts(people: Integers) -> list[Integers]:
    """Those that are held out in turn."""
    size = max(1, len(people) // _PARTS)
    return [people[first : first + size] for first in range(0, min(_ENOUGH, _PARTS * size, len(people)), size)]


def _steps_of_trial(user: Integers) -> int:
    """How often `traits_pay` says that it has advanced."""
    return len(_parts(np.unique(user))) * (FIT_STEPS + 2)


def without_traits(learner: ProbitTraits) -> Probit | ProbitDiagonal:
    """What takes the place of `probit-traits` where there are no traits: the learner with appeal, of the same form."""
    kind = Probit if learner.full else ProbitDiagonal
    return kind(appeal=True, half_life_days=learner.half_life_days, false_alarms=learner.false_alarms)


def prior_with_appeal(learner: Learner, log: SwipeLog) -> Prior:
    """With appeal as each swipe's user could know it."""
    seen = log.with_others(appeal_rows(AppealModel().before_swipes(log)))
    return fit_prior(learner, seen, neutral=np.zeros(log.dimensions))


def _with_traits(
    learner: ProbitTraits, log: SwipeLog, user: Integers, held: NDArray[np.bool_], seed: int, advance: Advance, runner: Runner
) -> Vector:
    """The probability of each like of the people held out, with traits as the fitted people had told them before each swipe."""
    fit = fit_traits(learner, log.select(~held), user[~held], seed=seed, advance=advance, runner=runner)
    model = TraitModel(learner=learner, prior=fit.prior, reference=int(np.asarray(log.at).max()))
    trying = log.select(held)
    nobody: Integers = np.full(len(trying), -1)  # who is held out has given no site
    candidate, at = np.asarray(trying.candidate_row), np.asarray(trying.at)
    said: Matrix = fit.sites.traits_at(model, model.expected(log.features), viewer=nobody, candidate=candidate, at=at)
    return progressive_predictions(learner, trying.with_others(said), prior=fit.prior)


def _without_traits(
    learner: ProbitTraits, log: SwipeLog, user: Integers, held: NDArray[np.bool_], seed: int, advance: Advance, runner: Runner
) -> Vector:
    """The same with the appeal that the fitted people had given by then."""
    alone, fitting, trying = without_traits(learner), log.select(~held), log.select(held)
    candidate, at = np.asarray(trying.candidate_row), np.asarray(trying.at).astype("datetime64[us]")
    said = AppealModel().at_moments(fitting, viewer=trying.user, candidate=candidate, at=at)
    return progressive_predictions(alone, trying.with_others(appeal_rows(said)), prior=prior_with_appeal(alone, fitting))


def _losses(p: Vector, liked: NDArray[np.bool_], person: Integers) -> Vector:
    """Each person's mean log-loss, after the log-odds of all swipes were scaled to fit."""
    rows = np.column_stack([np.ones(len(p)), logit(np.clip(p, _SMALLEST, 1.0 - _SMALLEST))])
    scale = np.array([0.0, 1.0])
    for _ in range(_NEWTON_STEPS):
        q = expit(rows @ scale)
        curvature = (rows * (q * (1.0 - q))[:, None]).T @ rows + np.eye(2)  # all decisions may be alike
        scale = scale + np.linalg.solve(curvature, rows.T @ (liked - q) - (scale - [0.0, 1.0]))
    q = np.clip(expit(rows @ scale), _SMALLEST, 1.0 - _SMALLEST)
    lost = -np.log(np.where(liked, q, 1.0 - q))
    return np.asarray(np.bincount(person, lost) / np.bincount(person), np.float64)
