"""A normal belief about one user's taste, updated by assumed-density filtering on a probit with label noise.

The model is that of adPredictor (Graepel et al. 2010) and Matchbox (Stern et al. 2009), the method Opper's and Minka's. A taste
is a weight per tag, a threshold and, where used, a weight for appeal. The user likes x when taste·x + noise > 0, and answers the
opposite with probability ε, the label noise. The mean's step, P x ρ/(xᵀPx + α), has the form of TK's, with a learned metric P and
a probit residual ρ = y g √q.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from kaczmatch.core.errors import InvalidInput, check_number
from kaczmatch.core.swipes import check_appeal
from kaczmatch.core.tags import Features
from kaczmatch.core.vectors import Integers, Matrix, Vector, as_vector, matvec
from kaczmatch.learners.belief.behaviour import BEHAVIOUR_CELLS, initial_behaviour
from kaczmatch.learners.belief.gaussian_kernels import coordinate_rows
from kaczmatch.learners.contract import BeliefLearner
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.state import (
    Scores,
    State,
    StateRows,
    check_rows,
    feature_rows,
    in_shape_of,
    of_usable,
    stacked_cells,
    unchecked_rows,
)

_DAY: Final = 86_400.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianLearner(BeliefLearner):
    """Cells: the mean, the covariance as a subclass packs it, then the user's behaviour (`behaviour.py`)."""

    state_version: ClassVar[int] = 2  # 1 had no behaviour

    alpha: float = 0.02  # variance of the noise in a decision; what exceeds it counts as label noise
    label_noise: float = 0.2  # ε where neither the prior nor the user's swipes say otherwise
    label_noise_swipes: float = 5.0  # how many informative swipes that ε is worth; infinite: it stays for everybody
    tag_sd: float = 1.0
    threshold_sd: float = (
        0.5  # with tags of 1 every share of likes up to four fifths is about as likely (half of the tags present)
    )
    appeal_sd: float = 1.0
    appeal: bool = False  # whether the candidate's appeal is a coordinate
    half_life_days: float = math.inf
    false_alarms: float = 1e-5  # largest rate, per swipe, of detecting a change where there is none; 0: never look for one

    @abstractmethod
    def pack_covariance(self, covariance: Matrix, prior: Prior) -> Vector:
        """A covariance as the cells of a user who started from `prior` hold it."""

    @abstractmethod
    def kept_covariance_cells(self, kept: Integers) -> Integers:
        """The positions of a packed covariance among those of a larger one, which has its coordinates at `kept`."""

    @abstractmethod
    def covariance_entries(self, packed: Matrix) -> Matrix:
        """The entries that may differ from 0, of packed covariances in rows."""

    @abstractmethod
    def quadratic_form(self, x: Matrix) -> Matrix:
        """For each row of x the vector whose product with `covariance_entries` is xᵀPx, which is linear in P."""

    @abstractmethod
    def predicted(self, work: Vector, features: Matrix, said: Matrix) -> Vector:
        """The probability that the user of some working cells likes each candidate; NaN where the features cannot be used."""

    @final
    def initial_cells(self, prior: Prior) -> Vector:
        n = self.belief_size(prior.dimensions)
        mean = np.append(prior.weights, [prior.effective_threshold, prior.appeal])[:n]
        covariance = self._neutral_covariance(prior) if prior.covariance is None else prior.covariance
        behaviour = initial_behaviour(
            self.label_noise if prior.label_noise is None else prior.label_noise, self.label_noise_swipes
        )
        return np.concatenate([mean, self.pack_covariance(covariance[:n, :n], prior), behaviour])

    @final
    def _neutral_covariance(self, prior: Prior) -> Matrix:
        """Independent tags, and a threshold that grows with the taste: a threshold on a cosine grows with the taste's length.

        Its slope is taken at the prior, where a taste has a squared length of ‖w‖² + d sd² on average.
        """
        d, first, variance = prior.dimensions, prior.original_tags, self.tag_sd**2
        covariance = np.diag(np.append(np.full(d, variance), [self.threshold_sd**2, self.appeal_sd**2]))
        weights = prior.weights[:first]
        slope = prior.effective_threshold * weights / (weights @ weights + first * variance)
        covariance[:first, d] = covariance[d, :first] = slope * variance
        covariance[d, d] += slope @ slope * variance
        return covariance

    @final
    def grown_cells(self, state: State, prior: Prior) -> Vector:
        start, kept = _growth(self, state.dimensions, prior)
        cells = start.copy()
        cells[kept] = state.cells
        return cells

    @final
    def weights(self, cells: Vector, dimensions: int) -> Vector:
        return cells[:dimensions]

    @final
    def coordinates(self, features: ArrayLike, appeal: ArrayLike = 0.0) -> Matrix:
        """(a/‖a‖, 1) and, where used, appeal, for each row a of `features`."""
        rows = unchecked_rows(features)
        x, usable = coordinate_rows(rows, self._said(appeal, len(rows)), self.parameters)
        if not usable:
            check_rows(rows)
        return x.reshape(*np.shape(features)[:-1], x.shape[1])

    @final
    def _said(self, appeal: ArrayLike, rows: int) -> Matrix:
        return _appeals(appeal, rows) if self.appeal else np.zeros((rows, 1))

    @final
    def mean(self, state: State) -> Vector:
        return self._checked_state(state).cells[: self.belief_size(state.dimensions)]

    @final
    def score(self, state: State, features: Features, appeal: ArrayLike = 0.0) -> Scores:
        x = self.coordinates(feature_rows(features, state), appeal)
        return in_shape_of(matvec(x, self.mean(state)), features)

    @final
    def probability(self, state: State, features: Features, appeal: ArrayLike = 0.0) -> Scores:
        rows, work = unchecked_rows(features, state), self.expand(self._checked_state(state).cells, state.dimensions)
        found = self.predicted(work, rows, self._said(appeal, len(rows)))
        return in_shape_of(of_usable(rows, found), features)

    @final
    def estimated_label_noise(self, state: State) -> float:
        return 0.5 * float(self._checked_state(state).cells[-BEHAVIOUR_CELLS])

    @final
    def probabilities_by_user(self, states: Sequence[State], features: ArrayLike, appeal: ArrayLike = 0.0) -> Vector:
        row = as_vector(features, "features")
        if not states:
            check_rows(row[None])
            return np.empty(0)
        suspects = states
        if isinstance(states, StateRows):
            suspects = [states.start]
        else:
            learners, _, dimensions, cells, *_ = zip(*states, strict=True)
            if set(learners) == {self.slug} and set(dimensions) == {np.size(features)} and len(set(map(len, cells))) == 1:
                suspects = []
        for state in suspects:
            if self._checked_state(state).dimensions != np.size(features):
                raise InvalidInput("features", f"has {np.size(features)} values, a state has {state.dimensions} tags")
        return of_usable(row[None], self.predicted_by_user(states, row, self._said(appeal, 1)[0]))

    def predicted_by_user(self, states: Sequence[State], features: Vector, said: Vector) -> Vector:
        """The probability that each of many users likes the same candidate; NaN where the features cannot be used."""
        x = self.coordinates(features, said)
        means, covariances, random_share = self.stacked_beliefs(states)
        z = matvec(means, x) / np.sqrt(matvec(covariances, self.quadratic_form(x[None])[0]) + self.alpha)
        return np.asarray(0.5 * random_share + (1.0 - random_share) * ndtr(z))

    @final
    def variance_form(self, features: ArrayLike, appeal: ArrayLike = 0.0) -> Matrix:
        return self.quadratic_form(self.coordinates(feature_rows(features), appeal))

    @final
    def decision_noise(self, state: State, appeal: ArrayLike = 0.0) -> Vector | float:
        return self.alpha

    @final
    def stacked_beliefs(self, states: Sequence[State]) -> tuple[Matrix, Matrix, Vector]:
        """The second has the entries of covariances."""
        cells = stacked_cells(states)
        n = self.belief_size(states[0].dimensions)
        return cells[:, :n], self.covariance_entries(cells[:, n:-BEHAVIOUR_CELLS]), cells[:, -BEHAVIOUR_CELLS]

    @property
    @final
    def half_life(self) -> float:
        return self.half_life_days * _DAY

    @property
    @final
    def session_timeout(self) -> float:
        return math.inf

    @final
    def log_likelihood_slope(self, z: float, random_share: float) -> float:
        """g: the derivative of the log-likelihood of the answer."""
        density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
        return (1.0 - random_share) * density / (0.5 * random_share + (1.0 - random_share) * float(ndtr(z)))

    @final
    def change_detected(self, cells: Vector) -> bool:
        """Whether the last swipe showed that the taste has changed. The caller then starts again from the prior."""
        return bool(cells[-1] >= self.parameters[1])

    @final
    def belief_size(self, dimensions: int) -> int:
        return dimensions + 1 + self.appeal

    @final
    def kernel_parameters(self) -> tuple[float, ...]:
        if not isinstance(self.appeal, bool):
            raise InvalidInput("appeal", f"must be True or False, got {self.appeal!r}")
        for name in ("tag_sd", "threshold_sd", "appeal_sd"):
            check_number(name, getattr(self, name), low=1e-3, high=1e3)
        check_number("half_life_days", self.half_life_days, low=0.0, open_low=True)
        # ε > 0: at ε = 0 a surprise of 40 standard deviations divides zero by zero.
        check_number("label_noise", self.label_noise, low=1e-9, high=0.499)
        check_number("label_noise_swipes", self.label_noise_swipes, low=1.0)
        rate = check_number("false_alarms", self.false_alarms, low=0.0, high=0.5)
        return check_number("alpha", self.alpha, low=1e-6, high=1e6), -math.log(rate) if rate else math.inf, float(self.appeal)


@lru_cache(64)  # a whole population grows from the same few
def _growth(learner: GaussianLearner, old: int, prior: Prior) -> tuple[Vector, Integers]:
    """The cells of a start from a grown prior, and where those of a state over `old` tags belong among them."""
    new, start = prior.dimensions, learner.initial_cells(prior)
    size = learner.belief_size(new)
    kept = np.r_[:old, new:size]
    behaviour = np.arange(len(start) - BEHAVIOUR_CELLS, len(start))
    return start, np.concatenate([kept, size + learner.kept_covariance_cells(kept), behaviour])


def _appeals(appeal: ArrayLike, rows: int) -> Matrix:
    column = as_vector(np.atleast_1d(np.asarray(appeal)), "appeal")
    if len(column) not in (1, rows):
        raise InvalidInput("appeal", f"has {len(column)} values for {rows} candidates")
    check_appeal(column)
    values = np.empty((rows, 1))
    values[:, 0] = column
    return values
