"""How many traits it pays to have: those that predict people who were not fitted, and rank for them.

The choices are `probit-diag` with appeal (no traits) and `probit-traits` with 1, 4 and 8 traits; where covariances of tags are
kept, `probit` stands for `probit-diag`. Each is fitted on four fifths of the people and tried on the others, as often with
another fifth as it takes to try 400 people. Swipes of those tried are predicted one by one, each from what was known before it.
Every swipe counts alike: more traits pay for people with long histories. The fewest traits are taken whose log-loss is within one
standard error of the best, or so near that it does not matter.

But a log-loss can fall because shares of likes are predicted better, which orders nobody's candidates. So traits must also rank
better than the choice without them, by at least one standard error: the AUC of a person's swipes with the start's weights, and of
the second half of them with weights learned from the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.ranking_metrics import auc
from kaczmatch.core.swipes import SwipeLog
from kaczmatch.core.vectors import Integers, Matrix, Vector
from kaczmatch.learners.belief.probit import Probit
from kaczmatch.learners.belief.probit_diagonal import ProbitDiagonal
from kaczmatch.learners.belief.probit_traits import ProbitTraits
from kaczmatch.learners.contract import ProbabilisticLearner
from kaczmatch.learners.logs.progressive import progressive_predictions
from kaczmatch.learners.logs.replay import replay
from kaczmatch.learners.population.appeal import AppealModel
from kaczmatch.learners.population.prior_fit import fit_prior
from kaczmatch.learners.population.trait_fit import fit_traits
from kaczmatch.learners.population.traits import TraitModel
from kaczmatch.learners.prior import Prior
from kaczmatch.runner.contract import Runner

LEAST_GAIN: Final = 0.001  # nats per swipe, for which more traits are worth having
_PARTS: Final = 5  # of the people; one is held out
_ENOUGH: Final = 400  # people tried, after which no other part is: with a hundred it is chance whether traits rank better

Advance = Callable[[], None]


@final
@dataclass(frozen=True, slots=True)
class TraitChoice:
    """A number of traits as it was tried."""

    traits: int
    log_loss: float  # nats per swipe
    behind: float  # that minus the best one's
    error: float  # standard error of that difference, over people
    ahead: float  # mean AUC minus that of the fewest traits tried
    ahead_error: float  # standard error of that difference


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Tried:
    """What a choice was worth to each person."""

    lost: Vector  # nats, over all swipes
    swipes: Vector
    auc: Vector  # NaN where nothing can be ranked


def selected(found: Sequence[TraitChoice]) -> int:
    """The fewest traits within one standard error of the best, or within what matters, that rank better than without."""
    near = [each for each in found if each.behind <= max(each.error, LEAST_GAIN)]
    fewest = min(each.traits for each in found)
    return min((each.traits for each in near if each.traits == fewest or each.ahead > each.ahead_error), default=fewest)


def compared(
    log: SwipeLog, user: Integers, choices: Sequence[int], *, full: bool, seed: int, advance: Advance, runner: Runner
) -> list[TraitChoice]:
    """Every choice, the fewest traits first. `user` has the number of each row's user; empty where there is one alone."""
    drawn = np.random.default_rng([seed, 41]).permutation(np.unique(user))
    size = max(1, len(drawn) // _PARTS)
    if len(drawn) == size:
        return []
    parts = [drawn[first : first + size] for first in range(0, min(_ENOUGH, _PARTS * size, len(drawn)), size)]
    tried = []
    for traits in choices:
        found = [_tried(log, user, np.isin(user, part), traits, full, seed, advance, runner) for part in parts]
        columns = ((each.lost, each.swipes, each.auc) for each in found)
        tried.append(_Tried(*(np.concatenate(one) for one in zip(*columns, strict=True))))
        advance()
    best = tried[int(np.argmin([each.lost.sum() for each in tried]))]
    return [
        TraitChoice(
            traits,
            float(each.lost.sum() / each.swipes.sum()),
            *_per_swipe(each.lost - best.lost, each.swipes),
            *_mean_and_error(each.auc - tried[0].auc),
        )
        for traits, each in zip(choices, tried, strict=True)
    ]


def _per_swipe(lost: Vector, swipes: Vector) -> tuple[float, float]:
    """The ratio of two sums over people, and its standard error."""
    ratio = float(lost.sum() / swipes.sum())
    return ratio, float(np.sqrt(np.sum((lost - ratio * swipes) ** 2)) / swipes.sum())


def _mean_and_error(values: Vector) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    if not len(known):
        return 0.0, 0.0
    return float(known.mean()), float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else 0.0


def _tried(
    log: SwipeLog,
    user: Integers,
    held: NDArray[np.bool_],
    traits: int,
    full: bool,
    seed: int,
    advance: Advance,
    runner: Runner,
) -> _Tried:
    """A choice on the people held out, with what the fitted people had decided before each swipe."""
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
        learner = without_traits(full=full)
        prior = prior_with_appeal(learner, fitting)
        said = AppealModel().at_moments(fitting, viewer=trying.user, candidate=candidate, at=at.astype("datetime64[us]"))
    seen = trying.with_appeal(said)
    p = np.clip(progressive_predictions(learner, seen, prior=prior), 1e-9, 1.0 - 1e-9)
    lost = -np.log(np.where(seen.label > 0.0, p, 1.0 - p))
    _, place = np.unique(user[held], return_inverse=True)
    sums, swipes = (np.asarray(each, np.float64) for each in (np.bincount(place, lost), np.bincount(place)))
    return _Tried(sums, swipes, _ranking(learner, prior, seen, place))


def _ranking(learner: ProbabilisticLearner, prior: Prior, seen: SwipeLog, place: Integers) -> Vector:
    """Each person's mean AUC, before the first swipe and after half of them."""
    order = np.argsort(place, kind="stable")
    rows_of = np.split(order, np.cumsum(np.bincount(place))[:-1])
    early = np.concatenate([rows[: len(rows) // 2] for rows in rows_of])
    states = replay(learner, seen.select(early), prior=prior)
    start, whom, heard = learner.start(prior), np.asarray(seen.candidate_row), np.asarray(seen.appeal)

    def area(rows: Integers, after: int) -> float:
        rest = rows[after:]
        state = states[seen.user[rows[0]]] if after else start
        return float(auc(np.asarray(learner.score(state, seen.features[whom[rest]], heard[rest])), seen.label[rest] > 0.0))

    areas = np.array([[area(rows, 0), area(rows, len(rows) // 2)] for rows in rows_of])
    known = ~np.isnan(areas)
    return np.asarray(np.where(known, areas, 0.0).sum(axis=1) / np.where(known.any(axis=1), known.sum(axis=1), np.nan))


def without_traits(*, full: bool) -> Probit | ProbitDiagonal:
    """The learner with appeal in place of traits. `full` keeps covariances of tags."""
    return Probit(appeal=True) if full else ProbitDiagonal(appeal=True)


def prior_with_appeal(learner: Probit | ProbitDiagonal, log: SwipeLog) -> Prior:
    """With appeal as each swipe's user could know it."""
    seen = log.with_appeal(AppealModel().before_swipes(log))
    return fit_prior(learner, seen, neutral=np.zeros(log.dimensions))
