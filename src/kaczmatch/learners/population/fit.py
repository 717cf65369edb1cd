"""The population's prior: what people like on average and how much they differ, learned from those with a history.

Empirical Bayes for a mixed-effects model, fitted by EM. For belief learners, with everybody's mean m and covariance P,

    m₀ = mean of m,    P₀ = mean of P + covariance of m,

and ε₀ is the mean of everybody's ε; the log is folded again from each new prior. Everybody counts once, however long their
history, and the neutral prior counts as one more person: that is the posterior mean under the weakest normal-inverse-Wishart
prior around it, and it is what remains where nobody has a history yet. At the end correlations are shrunk as far as so many
people leave them uncertain: the share λ* of Schäfer and Strimmer (2005), in closed form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.errors import InvalidInput, whole
from kaczmatch.core.swipes import SwipeLog
from kaczmatch.core.vectors import Vector, unit
from kaczmatch.learners.belief.gaussian import GaussianLearner
from kaczmatch.learners.belief.probit import Probit
from kaczmatch.learners.contract import BeliefLearner, Learner, ProbabilisticLearner
from kaczmatch.learners.logs.replay import prior_for, replay
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.state import State

_NAME = "population"


def fit_population(
    learner: Learner, log: SwipeLog | Mapping[str, Any], *, neutral: Prior | ArrayLike | None = None, rounds: int = 15
) -> Prior:
    """The prior from which `learner` should start everybody else, from the swipes of those in `log`.

    `neutral` (by default a weight of one for every tag) is what it is shrunk towards. Each round folds the log once. Its version
    is made of what it says, so that the same log always gives the same one. It is fitted with `probit`, whose covariance tells
    the threshold from the tags, whatever the learner; rules without a belief start from its mean, at the length of `neutral`.
    """
    swipes = SwipeLog.of(log)
    origin = prior_for(swipes, neutral)
    believer = _believer(learner)
    # EM takes tens of rounds to leave a wrong start, and where no tag matters is wrong about none.
    prior = Prior(np.zeros(swipes.dimensions))
    for _ in range(whole("rounds", rounds, low=1, high=100)):
        states = _ordered(believer, replay(believer, swipes, prior=prior).values(), origin)
        prior = _believed(believer, states, origin)
    prior = _steadied(prior, len(states) - 1, believer)
    return prior if isinstance(learner, ProbabilisticLearner) else _at_length_of(origin, prior.weights)


def _believer(learner: Learner) -> Probit:
    """`probit` with the settings of a belief learner, or with its own."""
    if not isinstance(learner, GaussianLearner):
        return Probit()
    return Probit(**{each.name: getattr(learner, each.name) for each in fields(Probit) if each.init})


def population_prior(learner: Learner, states: Iterable[State], *, neutral: Prior | ArrayLike) -> Prior:
    """The same from stored states: one round, in which everybody started from whatever prior their state names."""
    origin = Prior.of(neutral)
    known = _ordered(learner, states, origin)
    if isinstance(learner, BeliefLearner):
        return _steadied(_believed(learner, known, origin), len(known) - 1, learner)
    # Directions, or a long history would outweigh others by its length; the length is the one that steps are made for.
    return _at_length_of(origin, np.mean([learner.direction(state) for state in known], axis=0))


def _ordered(learner: Learner, states: Iterable[State], neutral: Prior) -> list[State]:
    """Everybody and the neutral start, in an order of their own: no sum may depend on that of the users, not in its last bit."""
    known = [learner.start(neutral), *states]
    for state in known:
        if state.dimensions != neutral.dimensions:
            raise InvalidInput(
                "states", f"one has {state.dimensions} tags, the neutral prior {neutral.dimensions}; grow it first"
            )
    weights = np.array([learner.weights(state.cells, state.dimensions) for state in known])
    return [known[place] for place in np.lexsort(weights.T)]


def _at_length_of(neutral: Prior, weights: Vector) -> Prior:
    scaled = float(np.linalg.norm(neutral.weights)) * unit(weights)
    return Prior(scaled, _NAME, neutral.usual_threshold, neutral.appeal, neutral.covariance, neutral.epsilon).named(_NAME)


def _believed(learner: BeliefLearner, states: Sequence[State], neutral: Prior) -> Prior:
    """A prior over (tags, threshold, appeal); appeal as in the neutral one, or 0 ± 1, where the learner does not use it."""
    means = np.array([learner.mean(state) for state in states])
    mean, d, used = means.mean(axis=0), neutral.dimensions, means.shape[1]
    within = np.zeros((used, used))
    for state in states:
        within += learner.covariance(state)
    covariance = np.eye(d + 2) if neutral.covariance is None else neutral.covariance.copy()
    covariance[used:, :used] = covariance[:used, used:] = 0.0
    covariance[:used, :used] = within / len(states) + np.cov(means.T, bias=True)
    epsilon = np.mean([learner.carelessness(state) for state in states])
    appeal = mean[d + 1] if used == d + 2 else neutral.appeal
    symmetric = (covariance + covariance.T) / 2.0
    return Prior(mean[:d], _NAME, float(mean[d]), float(appeal), symmetric, float(epsilon))


def _steadied(prior: Prior, people: int, learner: BeliefLearner) -> Prior:
    """Correlations, each known from so many people to a variance of (1 − r²)²/(n − 1), times 1 − λ*; and a name."""
    if prior.covariance is None or not people:
        return prior.named(_NAME)
    used = len(learner.mean(learner.start(prior)))
    covariance = prior.covariance.copy()
    sd = np.sqrt(np.diag(covariance)[:used])
    apart = ~np.eye(used, dtype=np.bool_)
    r = covariance[:used, :used] / np.outer(sd, sd)
    uncertain, size = float(np.sum((1.0 - r[apart] ** 2) ** 2)) / max(people - 1, 1), float(np.sum(r[apart] ** 2))
    keep = max(0.0, 1.0 - uncertain / size) if size > 0.0 else 0.0
    covariance[:used, :used][apart] *= keep
    return Prior(prior.weights, _NAME, prior.threshold, prior.appeal, covariance, prior.epsilon).named(_NAME)
