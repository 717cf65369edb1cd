"""Fits a prior to a population: what users like on average, and how much they differ.

Empirical Bayes for a mixed-effects model, fitted by EM. For belief learners, with each user's mean m and covariance P,

    m₀ = mean of m,    P₀ = mean of P + covariance of m,

and ε₀ is the mean of all ε. The log is folded again from each new prior. Every user counts once, however long the history. The
neutral prior counts as one more user: that is the posterior mean under the weakest normal-inverse-Wishart prior around it, and it
is what remains where nobody has a history yet. At the end correlations are shrunk by the share λ* of Schäfer and Strimmer (2005),
in closed form: the fewer users, the more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields

import numpy as np

from kaczmatch.core.errors import InvalidInput, check_integer
from kaczmatch.core.swipes import AnyLog, SwipeLog
from kaczmatch.core.vectors import Vector, unit
from kaczmatch.learners.belief.gaussian import Probit, ProbitDiagonal
from kaczmatch.learners.contract import BeliefLearner, Learner, ProbabilisticLearner
from kaczmatch.learners.logs.replay import prior_for, replay
from kaczmatch.learners.prior import AnyPrior, Prior
from kaczmatch.learners.state import State

_NAME = "population"


def fit_prior(learner: Learner, log: AnyLog, *, neutral: AnyPrior | None = None, rounds: int = 15) -> Prior:
    """The prior from which `learner` should start new users, fitted to the swipes in `log`.

    `neutral` (by default a weight of one for every tag) is what it is shrunk towards. Each round folds the log once. Its version
    is a hash of its content: the same log gives the same version. It is fitted with `probit` whatever the learner, because a full
    covariance tells the threshold from the tags. Rules without a belief start from its mean, scaled to the length of `neutral`.
    """
    swipes = SwipeLog.of(log)
    origin = prior_for(swipes, neutral)
    believer = _fitting_learner(learner)
    # EM needs tens of rounds to leave a wrong start. A start at zero is wrong about no tag.
    prior = Prior(np.zeros(swipes.dimensions))
    for _ in range(check_integer("rounds", rounds, low=1, high=100)):
        states = _in_stable_order(believer, replay(believer, swipes, prior=prior).values(), origin)
        prior = _prior_from_beliefs(believer, states, origin)
    prior = _shrink_correlations(prior, len(states) - 1, believer)
    return prior if isinstance(learner, ProbabilisticLearner) else _at_length_of(origin, prior.weights)


def _fitting_learner(learner: Learner) -> Probit:
    """`probit` with the settings of a learner that has the same, or with its own."""
    if not isinstance(learner, Probit | ProbitDiagonal):
        return Probit()
    return Probit(**{each.name: getattr(learner, each.name) for each in fields(Probit) if each.init})


def fit_prior_from_states(learner: Learner, states: Iterable[State], *, neutral: AnyPrior) -> Prior:
    """The same from stored states: one round. Each user started from the prior that the state names."""
    origin = Prior.of(neutral)
    known = _in_stable_order(learner, states, origin)
    if isinstance(learner, BeliefLearner):
        return _shrink_correlations(_prior_from_beliefs(learner, known, origin), len(known) - 1, learner)
    # Directions, because a long history has long weights. The length is the neutral prior's, which step sizes are made for.
    return _at_length_of(origin, np.mean([learner.direction(state) for state in known], axis=0))


def _in_stable_order(learner: Learner, states: Iterable[State], neutral: Prior) -> list[State]:
    """All states and the neutral start, sorted by weights: no sum depends on the order of users, not in its last bit."""
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
    return Prior(
        scaled, _NAME, neutral.effective_threshold, neutral.appeal, neutral.covariance, neutral.label_noise
    ).with_content_version(_NAME)


def _prior_from_beliefs(learner: BeliefLearner, states: Sequence[State], neutral: Prior) -> Prior:
    """A prior over (tags, threshold, appeal); appeal as in the neutral one, or 0 ± 1, where the learner does not use it."""
    means = np.array([learner.mean(state) for state in states])
    mean, d, used = means.mean(axis=0), neutral.dimensions, means.shape[1]
    within = np.zeros((used, used))
    for state in states:
        within += learner.covariance(state)
    covariance = np.eye(d + 2) if neutral.covariance is None else neutral.covariance.copy()
    covariance[used:, :used] = covariance[:used, used:] = 0.0
    covariance[:used, :used] = within / len(states) + np.cov(means.T, bias=True)
    label_noise = np.mean([learner.estimated_label_noise(state) for state in states])
    appeal = mean[d + 1] if used == d + 2 else neutral.appeal
    symmetric = (covariance + covariance.T) / 2.0
    return Prior(mean[:d], _NAME, float(mean[d]), float(appeal), symmetric, float(label_noise))


def _shrink_correlations(prior: Prior, people: int, learner: BeliefLearner) -> Prior:
    """Correlations, each known from so many people to a variance of (1 − r²)²/(n − 1), times 1 − λ*; and a name."""
    if prior.covariance is None or not people:
        return prior.with_content_version(_NAME)
    used = len(learner.mean(learner.start(prior)))
    covariance = prior.covariance.copy()
    sd = np.sqrt(np.diag(covariance)[:used])
    apart = ~np.eye(used, dtype=np.bool_)
    r = covariance[:used, :used] / np.outer(sd, sd)
    uncertain, size = float(np.sum((1.0 - r[apart] ** 2) ** 2)) / max(people - 1, 1), float(np.sum(r[apart] ** 2))
    keep = max(0.0, 1.0 - uncertain / size) if size > 0.0 else 0.0
    covariance[:used, :used][apart] *= keep
    return Prior(prior.weights, _NAME, prior.threshold, prior.appeal, covariance, prior.label_noise).with_content_version(_NAME)
