"""Traits over whole logs, causally: what each user could know of each candidate when, and what that user said in turn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled
from kaczmatch.core.swipes import SwipeLog
from kaczmatch.core.vectors import Integers, Matrix, Vector
from kaczmatch.learners.belief.kernels import forget, swipe
from kaczmatch.learners.contract import start_working_cells
from kaczmatch.learners.kernels import TASTE_CHANGED, decay_factor
from kaczmatch.learners.population.appeal import pair_places
from kaczmatch.learners.population.traits import Sites, Sums, TraitModel, age_factor, read_traits, write_site

_NEVER: Final = -(2**62)


@final
@dataclass(frozen=True, slots=True, eq=False)
class SiteLog:
    """Sites of raters (by number) on candidates (by row), with the moment of each. A rater's later site replaces the earlier."""

    rater: Integers
    candidate: Integers
    at: Integers  # microseconds
    sites: Sites  # one row each

    @classmethod
    def empty(cls, traits: int) -> SiteLog:
        nothing = np.empty(0, np.int64)
        return cls(nothing, nothing, nothing, np.empty((0, 2 * traits), np.int32))

    def followed_by(self, other: SiteLog) -> SiteLog:
        return SiteLog(
            np.concatenate([self.rater, other.rater]),
            np.concatenate([self.candidate, other.candidate]),
            np.concatenate([self.at, other.at]),
            np.concatenate([self.sites, other.sites]),
        )

    def traits_at(self, model: TraitModel, expected: Matrix, *, viewer: Integers, candidate: Integers, at: Integers) -> Matrix:
        """What viewers know of candidates at given moments, doubts included, from strictly earlier sites of others; a row each.

        `expected` is what tags say of each candidate. A viewer of -1 has given no site.
        """
        many = len(expected)
        pairs, pair = np.unique(self.rater * many + self.candidate, return_inverse=True)
        sums = 2 * model.learner.traits
        found = np.empty((len(candidate), model.learner.said_width))
        _answer(
            np.argsort(self.at, kind="stable"),
            self.at,
            self.candidate,
            pair.astype(np.int64),
            self.sites,
            np.zeros((many, sums), np.int64),
            np.zeros((len(pairs) + 1, sums), np.int64),  # the last is of pairs without a site
            np.argsort(at, kind="stable"),
            at,
            candidate,
            pair_places(pairs, np.where(viewer < 0, -1, viewer * many + candidate)),
            np.ascontiguousarray(expected),
            model.half_life,
            model.reference,
            found,
        )
        return found


@final
@dataclass(frozen=True, slots=True, eq=False)
class FollowedLog:
    """A log with what each swipe's user could know of the candidate's traits, and what the swipe said of them."""

    said: Matrix  # directions, traits and doubts as shown, a row per swipe
    sites: Sites


def follow_traits(model: TraitModel, log: SwipeLog, user: Integers, start: SiteLog | None = None) -> FollowedLog:
    """One causal pass: everybody learns swipe by swipe, and every swipe leaves a site. `user` has the number of each row's user.

    A swipe sees what is strictly earlier. `start` are sites that everybody sees from the beginning.
    """
    rated, when = log.candidates_and_times()
    learner, many = model.learner, len(log.features)
    start = SiteLog.empty(learner.traits) if start is None else start
    pairs, pair = np.unique(np.r_[user * many + rated, start.rater * many + start.candidate], return_inverse=True)
    totals = np.zeros((many, 2 * learner.traits), np.int64)
    own = np.zeros((len(pairs), 2 * learner.traits), np.int64)
    np.add.at(totals, start.candidate, start.sites)
    np.add.at(own, pair[len(user) :], start.sites)
    begin = start_working_cells(learner, model.prior, log.dimensions)
    users = int(user.max(initial=-1)) + 1
    found = FollowedLog(np.empty((len(user), learner.said_width)), np.empty((len(user), 2 * learner.traits), np.int32))
    _follow(
        np.argsort(when, kind="stable"),
        when,
        user,
        rated,
        pair[: len(user)].astype(np.int64),
        log.label,
        log.features,
        np.ascontiguousarray(model.expected(log.features)),
        totals,
        own,
        np.repeat(begin[None], users, axis=0),
        begin,
        np.full(users, _NEVER),
        learner.half_life,
        learner.parameters,
        model.half_life,
        model.reference,
        found.said,
        found.sites,
    )
    return found


@compiled
def _replace(totals: Sums, own: Sums, site: Sites) -> None:
    for k in range(totals.shape[0]):
        totals[k] += site[k] - own[k]
        own[k] = site[k]


@compiled
def _follow(
    order: Integers,
    at: Integers,
    user: Integers,
    candidate: Integers,
    pair: Integers,
    label: Vector,
    features: Matrix,
    expected: Matrix,
    totals: NDArray[np.int64],
    own: NDArray[np.int64],
    work: Matrix,
    start: Vector,
    last: Integers,
    learner_half_life: float,
    parameters: Vector,
    half_life: float,
    reference: int,
    said: Matrix,
    sites: Any,
) -> None:
    first = 0
    while first < len(order):
        now = at[order[first]]
        end = first
        size = age_factor(now - reference, half_life)
        while end < len(order) and at[order[end]] == now:
            i = order[end]
            read_traits(expected[candidate[i]], totals[candidate[i]], own[pair[i]], size, said[i])
            end += 1
        for place in range(first, end):
            i = order[place]
            u = user[i]
            if learner_half_life < math.inf and last[u] > _NEVER and now > last[u]:
                forget(work[u], start, decay_factor(now - last[u], learner_half_life))
            last[u] = now
            write_site(work[u], start, features[candidate[i]], expected[candidate[i]], label[i], parameters, size, sites[i])
            if swipe(work[u], features[candidate[i]], said[i], label[i], parameters) == TASTE_CHANGED:
                forget(work[u], start, 0.0)
        for place in range(first, end):
            i = order[place]
            _replace(totals[candidate[i]], own[pair[i]], sites[i])
        first = end


@compiled
def _answer(
    order: Integers,
    at: Integers,
    candidate: Integers,
    pair: Integers,
    sites: Any,
    totals: NDArray[np.int64],
    own: NDArray[np.int64],
    asked_order: Integers,
    asked_at: Integers,
    asked_candidate: Integers,
    asked_pair: Integers,
    expected: Matrix,
    half_life: float,
    reference: int,
    said: Matrix,
) -> None:
    """Answer questions in order of time, each after all sites that are strictly earlier."""
    counted = 0
    for question in asked_order:
        now = asked_at[question]
        while counted < len(order) and at[order[counted]] < now:
            i = order[counted]
            _replace(totals[candidate[i]], own[pair[i]], sites[i])
            counted += 1
        one = asked_candidate[question]
        read_traits(expected[one], totals[one], own[asked_pair[question]], age_factor(now - reference, half_life), said[question])
