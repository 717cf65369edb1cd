"""A normal belief about one user's taste, updated by assumed-density filtering on a probit with careless swipes.

The model is that of adPredictor (Graepel et al. 2010) and Matchbox (Stern et al. 2009), the method Opper's and Minka's. A taste
is a weight for each tag, a threshold and, where used, a weight for appeal; the user likes x when taste·x + noise > 0, and
with probability ε answers the opposite. The mean's step, P x ρ/(xᵀPx + α), is TK's with a learned metric P and a probit
residual ρ = y g √q: alike in form, not in origin.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from kaczmatch.core.compiled import compiled, dot, usable
from kaczmatch.core.errors import InvalidInput, checked
from kaczmatch.core.swipes import check_appeal
from kaczmatch.core.vectors import Matrix, Vector, as_vector, times, unit_rows
from kaczmatch.learners.belief.habits import HABITS, at_first, note
from kaczmatch.learners.contract import BeliefLearner, Scores, rows_of, shaped
from kaczmatch.learners.kernels import CHANGED, DONE
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianLearner(BeliefLearner):
    """Mean first, then the covariance in the form a subclass keeps it in, then the user's habits."""

    state_version: ClassVar[int] = 2  # 1 had no habits

    alpha: float = 0.02  # variance of the noise in a decision; small, for what is more than that counts as carelessness
    epsilon: float = 0.2  # share of swipes that say the opposite, where neither the prior nor the user says otherwise
    epsilon_swipes: float = 5.0  # after how many telling swipes a user's own counts as much; infinite: never
    tag_sd: float = 1.0
    threshold_sd: float = (
        0.5  # with tags of 1 every share of likes up to four fifths is about as likely (half of the tags present)
    )
    appeal_sd: float = 1.0
    appeal: bool = False  # whether the candidate's appeal is a coordinate
    half_life_days: float = math.inf
    false_alarms: float = 1e-5  # a swipe, at most, of a changed taste where nothing changed; 0: do not look

    @abstractmethod
    def packed(self, covariance: Matrix, prior: Prior) -> Vector:
        """A covariance as it stands in the cells of somebody who started from `prior`."""

    @abstractmethod
    def entries(self, packed: Matrix) -> Matrix:
        """Of packed covariances, a row each, the entries that may differ from 0."""

    @abstractmethod
    def spread(self, state: State, x: Matrix) -> Vector:
        """xᵀPx for each row of x."""

    @abstractmethod
    def quadratic(self, x: Matrix) -> Matrix:
        """For each row of x what, times the entries of a covariance, gives xᵀPx: it is linear in P."""

    @final
    def initial(self, prior: Prior) -> Vector:
        n = self.size(prior.dimensions)
        mean = np.append(prior.weights, [prior.usual_threshold, prior.appeal])[:n]
        covariance = self._neutral(prior) if prior.covariance is None else prior.covariance
        habits = at_first(self.epsilon if prior.epsilon is None else prior.epsilon, self.epsilon_swipes)
        return np.concatenate([mean, self.packed(covariance[:n, :n], prior), habits])

    @final
    def _neutral(self, prior: Prior) -> Matrix:
        """Independent tags, and a threshold that grows with the taste: that of a cosine is in proportion to the taste's length.

        Its slope is taken at the prior, where a taste has a squared length of ‖w‖² + d sd² on average.
        """
        d, first, variance = prior.dimensions, prior.first, self.tag_sd**2
        covariance = np.diag(np.append(np.full(d, variance), [self.threshold_sd**2, self.appeal_sd**2]))
        weights = prior.weights[:first]
        slope = prior.usual_threshold * weights / (weights @ weights + first * variance)
        covariance[:first, d] = covariance[d, :first] = slope * variance
        covariance[d, d] += slope @ slope * variance
        return covariance

    @final
    def grown(self, state: State, prior: Prior) -> Vector:
        old, new = state.dimensions, prior.dimensions
        start = self.start(prior)
        mean, covariance = self.mean(start).copy(), self.covariance(start).copy()
        kept = np.r_[:old, new : self.size(new)]
        mean[kept] = self.mean(state)
        covariance[np.ix_(kept, kept)] = self.covariance(state)
        return np.concatenate([mean, self.packed(covariance, prior), state.cells[-HABITS:]])

    @final
    def weights(self, cells: Vector, dimensions: int) -> Vector:
        return cells[:dimensions]

    @final
    def coordinates(self, features: ArrayLike, appeal: ArrayLike = 0.0) -> Matrix:
        """(a/‖a‖, 1) and, where used, appeal; a row for each row of `features`."""
        rows = unit_rows(rows_of(features))
        last = [np.ones((len(rows), 1))]
        if self.appeal:
            last.append(_appeals(appeal, len(rows)))
        x = np.hstack([rows, *last])
        return x.reshape(*np.shape(features)[:-1], x.shape[1])

    @final
    def mean(self, state: State) -> Vector:
        return self._own(state).cells[: self.size(state.dimensions)]

    @final
    def score(self, state: State, features: ArrayLike, appeal: ArrayLike = 0.0) -> Scores:
        x = self.coordinates(rows_of(features, state.dimensions), appeal)
        return shaped(times(x, self.mean(state)), features)

    @final
    def probability(self, state: State, features: ArrayLike, appeal: ArrayLike = 0.0) -> Scores:
        x = self.coordinates(rows_of(features, state.dimensions), appeal)
        z = times(x, self.mean(state)) / np.sqrt(self.spread(state, x) + self.alpha)
        careless = float(state.cells[-HABITS])
        return shaped(0.5 * careless + (1.0 - careless) * ndtr(z), features)

    @final
    def carelessness(self, state: State) -> float:
        return 0.5 * float(self._own(state).cells[-HABITS])

    @final
    def probabilities_by(self, states: Sequence[State], features: ArrayLike, appeal: float = 0.0) -> Vector:
        x = self.coordinates(as_vector(features, "features"), appeal)
        if not states:
            return np.empty(0)
        learners, _, dimensions, cells, _ = zip(*states, strict=True)
        if set(learners) != {self.slug} or set(dimensions) != {np.size(features)} or len(set(map(len, cells))) > 1:
            for state in states:
                if self._own(state).dimensions != np.size(features):
                    raise InvalidInput("features", f"has {np.size(features)} values, a state has {state.dimensions} tags")
        means, covariances, careless = self.beliefs(states)
        z = times(means, x) / np.sqrt(times(covariances, self.quadratic(x[None])[0]) + self.alpha)
        return np.asarray(0.5 * careless + (1.0 - careless) * ndtr(z))

    @final
    def beliefs(self, states: Sequence[State]) -> tuple[Matrix, Matrix, Vector]:
        """Of many users, a row each: means, entries of covariances and shares of careless swipes."""
        cells = np.concatenate([state.cells for state in states]).reshape(len(states), -1)
        n = self.size(states[0].dimensions)
        return cells[:, :n], self.entries(cells[:, n:-HABITS]), cells[:, -HABITS]

    @property
    @final
    def half_life(self) -> float:
        return self.half_life_days * timedelta(days=1).total_seconds()

    @property
    @final
    def quiet(self) -> float:
        return math.inf

    @final
    def slope(self, z: float, careless: float) -> float:
        """g: the derivative of the log-probability of what was answered."""
        density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
        return (1.0 - careless) * density / (0.5 * careless + (1.0 - careless) * float(ndtr(z)))

    @final
    def noticed(self, cells: Vector) -> bool:
        """Whether the last swipe made it likely that the taste has changed; the caller then starts anew from the prior."""
        return bool(cells[-1] >= self.parameters[1])

    @final
    def size(self, dimensions: int) -> int:
        """Coordinates of the belief: tags, threshold and, where used, appeal."""
        return dimensions + 1 + self.appeal

    @final
    def checked_parameters(self) -> tuple[float, ...]:
        if not isinstance(self.appeal, bool):
            raise InvalidInput("appeal", f"must be True or False, got {self.appeal!r}")
        for name in ("tag_sd", "threshold_sd", "appeal_sd"):
            checked(name, getattr(self, name), low=1e-3, high=1e3)
        checked("half_life_days", self.half_life_days, low=0.0, open_low=True)
        # ε > 0: at ε = 0 a surprise of 40 standard deviations divides zero by zero.
        checked("epsilon", self.epsilon, low=1e-9, high=0.499)
        checked("epsilon_swipes", self.epsilon_swipes, low=1.0)
        rate = checked("false_alarms", self.false_alarms, low=0.0, high=0.5)
        return checked("alpha", self.alpha, low=1e-6, high=1e6), -math.log(rate) if rate else math.inf, float(self.appeal)


def _appeals(appeal: ArrayLike, rows: int) -> Matrix:
    column = as_vector(np.atleast_1d(np.asarray(appeal)), "appeal")
    if len(column) not in (1, rows):
        raise InvalidInput("appeal", f"has {len(column)} values for {rows} candidates")
    values = np.broadcast_to(column, (rows,))
    check_appeal(values)
    return values[:, None]


@compiled
def coordinates(features: Vector, appeal: float, parameters: Vector) -> Vector:
    """`GaussianLearner.coordinates` for kernels; empty where the features cannot be used."""
    d = features.shape[0]
    squared = dot(features, features)
    if not usable(squared):
        return np.empty(0)
    with_appeal = parameters[2] > 0.0
    x = np.empty(d + 2 if with_appeal else d + 1)
    scale = 1.0 / math.sqrt(squared) if squared > 0.0 else 0.0
    for i in range(d):
        x[i] = features[i] * scale
    x[d] = 1.0
    if with_appeal:
        x[d + 1] = appeal
    return x


@compiled
def likelihood(score: float, spread: float, parameters: Vector, habits: Vector) -> float:
    """`GaussianLearner.probability` for kernels, from x·m and xᵀPx."""
    mass = 0.5 * math.erfc(-score / math.sqrt(2.0 * (spread + parameters[0])))
    return float(0.5 * habits[0] + (1.0 - habits[0]) * mass)


@compiled
def gains(score: float, spread: float, label: float, parameters: Vector, habits: Vector) -> tuple[float, float, int]:
    """The factors of Px in the mean's step and of (Px)(Px)ᵀ in the covariance's, and what to answer; notes the habits."""
    careless = habits[0]
    q = spread + parameters[0]
    z = label * score / math.sqrt(q)
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    mass = 0.5 * math.erfc(-z / math.sqrt(2.0))
    g = (1.0 - careless) * density / (0.5 * careless + (1.0 - careless) * mass)
    note(habits, label, mass)
    return label * g / math.sqrt(q), g * (g + z) / q, CHANGED if habits[3] >= parameters[1] else DONE


@compiled
def towards(start: Vector, cells: Vector, keep: float, n: int) -> None:
    """m ← m₀ + λ(m − m₀) for the first n cells and the habits, P ← λ²P + (1 − λ²)P₀ between; λ = 1 changes no bit."""
    if keep == 1.0:
        return
    habits = cells.shape[0] - HABITS
    for i in range(n):
        cells[i] = start[i] + keep * (cells[i] - start[i])
    for i in range(n, habits):
        if cells[i] != start[i]:  # what is no variance is the same in both
            cells[i] = keep * keep * cells[i] + (1.0 - keep * keep) * start[i]
    for i in range(habits, cells.shape[0]):
        if cells[i] != start[i]:  # an infinite weight stays
            cells[i] = start[i] + keep * (cells[i] - start[i])
