"""`probit-traits`: a belief that also weighs what everybody's swipes say about a candidate.

The model is Matchbox's (Stern, Herbrich, Graepel 2009). A candidate has K traits z, of which everybody's swipes tell. They are
known to be z̄, with the doubts S (variances). A user has a weight per tag, a threshold and a weight per trait, and likes where

    w·x̃ + c + v·z + N(0, α) > 0,     x̃ = tags/‖tags‖,

but a share κ of swipes is a coin toss. With φ = (x̃, 1, z̄), the doubt about the candidate is noise in the decision:

    q = α + φᵀPφ + Σ S_k (v̄_k² + P_kk),   t = y φ·m/√q,   P(like) = κ/2 + (1 − κ) Φ(φ·m/√q)
    m ← m + (y g/√q) Pφ,                  P ← P − (g(g + t)/q) (Pφ)(Pφ)ᵀ

Over tags P has only variances, beside which tastes vary along D directions of tags, u·Ux̃: a low-rank covariance. Their values
Ux̃ stand in φ before z̄, follow from the tags alone, and have no doubts. P is kept in full over threshold, directions and traits.
With `full` it is kept in full over everything, which leaves directions nothing to say. Tags and threshold would not stay
independent (`probit_diagonal.py` says why). With variances alone, what is kept as independent is, in place of the threshold c,
its sum with s Σ w over the tags of the fit. The prior's covariance of the two says the slope s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from kaczmatch.core.errors import InvalidInput, check_integer, check_number
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.swipes import ShownCandidate, check_appeal
from kaczmatch.core.tags import Features
from kaczmatch.core.vectors import Matrix, Vector, as_vector, matvec, unit_rows
from kaczmatch.learners.belief import trait_kernels
from kaczmatch.learners.belief.behaviour import BEHAVIOUR_CELLS, initial_behaviour, updated_behaviour
from kaczmatch.learners.contract import BeliefLearner, FixedSizeLearner
from kaczmatch.learners.kernels import Kernels
from kaczmatch.learners.prior import MOST_TRAITS, Prior
from kaczmatch.learners.state import Scores, State, StateRows, feature_rows, in_shape_of, of_usable, stacked_cells, unchecked_rows


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ProbitTraits(BeliefLearner, FixedSizeLearner):
    """Cells: the mean m, variances of tags (none with `full`), the lower triangle of the rest of P, `SHAPE_CELLS`, behaviour."""

    state_version: ClassVar[int] = 3  # 2 had no directions
    slug: ClassVar[str] = "probit-traits"
    kernels: ClassVar[Kernels] = Kernels(trait_kernels.swipe, forget=trait_kernels.forget, predict=trait_kernels.predict)

    traits: int = 4  # K, told by swipes; a fitted prior must have as many
    directions: int = 8  # D, of tags; likewise. None with `full`
    full: bool = False  # whether the whole covariance of tags is kept
    alpha: float = 1.0  # variance of the noise in a decision
    label_noise: float = 0.01  # κ/2 where neither the prior nor the user's swipes say otherwise
    label_noise_swipes: float = 5.0  # how many informative swipes that is worth; infinite: it stays for everybody
    tag_sd: float = 1.0
    threshold_sd: float = 0.5
    trait_sd: float = 0.5
    half_life_days: float = math.inf
    false_alarms: float = 1e-5  # largest rate, per swipe, of detecting a change where there is none; 0: never look for one

    def __post_init__(self) -> None:
        if self.full is True:
            object.__setattr__(self, "directions", 0)
        BeliefLearner.__post_init__(self)

    def initial_cells(self, prior: Prior) -> Vector:
        d, found, wanted = prior.dimensions, (prior.traits.size, prior.directions), (self.traits, self.directions)
        if found != wanted and (prior.traits.size or prior.covariance is not None):
            raise InvalidInput("prior", f"has {found} traits and directions, the learner {wanted}; fit it for this one")
        if prior.covariance is not None:
            weights, covariance = prior.traits, prior.covariance
        else:
            # Everybody starts with a liking for the first trait. From zero weights no trait would ever be learned.
            weights = np.append(self.trait_sd, np.zeros(self.traits - 1))
            spread = np.r_[np.full(d, self.tag_sd), self.threshold_sd, np.full(self.directions, self.tag_sd)]
            covariance = np.diag(np.append(spread, np.full(self.traits, self.trait_sd)) ** 2)
        mean = np.concatenate([prior.weights, [prior.effective_threshold], np.zeros(self.directions), weights])
        noise = self.label_noise if prior.label_noise is None else prior.label_noise
        behaviour = initial_behaviour(noise, self.label_noise_swipes)
        return np.concatenate([mean, self._packed(covariance, prior.original_tags), behaviour])

    def grown_cells(self, state: State, prior: Prior) -> Vector:
        old, new = self.belief_size(state.dimensions), self.belief_size(prior.dimensions)
        cells = self.start(prior).cells.copy()
        kept = np.r_[: state.dimensions, prior.dimensions : new]
        cells[kept] = self.mean(state)
        alone, rest = self._alone(state.dimensions), self._rest(cells, new)
        cells[new : new + alone] = state.cells[old : old + alone]
        inner = kept[alone:] - self._alone(prior.dimensions)
        rest[np.ix_(inner, inner)] = self._rest(state.cells, old)
        lower = rest[np.tril_indices(len(rest))]
        place = new + self._alone(prior.dimensions)
        cells[place : place + len(lower)] = lower
        cells[-BEHAVIOUR_CELLS:] = state.cells[-BEHAVIOUR_CELLS:]
        return cells

    def reference_swipe(self, cells: Vector, candidate: ShownCandidate, label: Label) -> Vector:
        n, k = self.belief_size(len(candidate.features)), self.traits
        said = self._rows_said(candidate.appeal, 1)[0]
        x = np.concatenate([unit_rows(candidate.features[None])[0], [1.0], said[:-k]])
        m, p, behaviour = cells[:n], self._kept(cells, n), cells[-BEHAVIOUR_CELLS:]
        slopes, threshold = self._slopes(cells, n), len(candidate.features)
        apart = x - slopes
        px, y = p @ apart, sign(label)
        q = float(apart @ px + said[-k:] @ (m[-k:] ** 2 + np.diag(p)[-k:])) + self.alpha
        t = y * float(x @ m) / math.sqrt(q)
        density, mass = math.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi), float(ndtr(t))
        g = (1.0 - behaviour[0]) * density / (0.5 * behaviour[0] + (1.0 - behaviour[0]) * mass)
        p = p - (g * (g + t) / q) * np.outer(px, px)
        px[threshold] -= slopes @ px
        m, shape = m + (y * g / math.sqrt(q)) * px, cells[-BEHAVIOUR_CELLS - trait_kernels.SHAPE_CELLS : -BEHAVIOUR_CELLS]
        return np.concatenate([m, self._lower(p), shape, updated_behaviour(behaviour, y, mass)])

    def width(self, dimensions: int) -> int:
        alone, rest = self._alone(dimensions), self.belief_size(dimensions) - self._alone(dimensions)
        return 2 * alone + rest + rest * (rest + 1) // 2 + trait_kernels.SHAPE_CELLS + BEHAVIOUR_CELLS

    def weights(self, cells: Vector, dimensions: int) -> Vector:
        return cells[:dimensions]

    def coordinates(self, features: ArrayLike, appeal: ArrayLike = 0.0) -> Matrix:
        """(a/‖a‖, 1, Ua/‖a‖, z̄) for each row a of `features`."""
        rows = unchecked_rows(features)
        x, usable = trait_kernels.coordinate_rows(rows, self._rows_said(appeal, len(rows)), self.traits, self.directions)
        if not usable:
            feature_rows(rows)  # says which, and why
        return x.reshape(*np.shape(features)[:-1], x.shape[1])

    def score(self, state: State, features: Features, appeal: ArrayLike = 0.0) -> Scores:
        rows, said = self._heard(state, features, appeal)
        return in_shape_of(matvec(self.coordinates(rows, said), self.mean(state)), features)

    def probability(self, state: State, features: Features, appeal: ArrayLike = 0.0) -> Scores:
        rows, said = self._heard(state, features, appeal)
        found = trait_kernels.predict_rows(self._checked_state(state).cells.copy(), rows, said, self.parameters)
        return in_shape_of(of_usable(rows, found), features)

    def probabilities_by_user(self, states: Sequence[State], features: ArrayLike, appeal: ArrayLike = 0.0) -> Vector:
        if not states:
            return np.empty(0)
        for state in states[:1] if isinstance(states, StateRows) else states:
            if self._checked_state(state).dimensions != np.size(features):
                raise InvalidInput("features", f"has {np.size(features)} values, a state has {state.dimensions} tags")
        rows, said = self._heard(states[0], as_vector(features, "features"), appeal)
        users = StateRows.of(states)
        found = trait_kernels.predict_users(users.kept, users.changed, users.rows, rows[0], said[0], self.parameters)
        return of_usable(rows, found)

    def stacked_beliefs(self, states: Sequence[State]) -> tuple[Matrix, Matrix, Vector]:
        """The second has variances of tags, their covariances with the threshold, the rest of P, then the squared weights of
        traits, on which doubts act."""
        cells = stacked_cells(states)
        n, alone = self.belief_size(states[0].dimensions), self._alone(states[0].dimensions)
        variances, rest = cells[:, n : n + alone], cells[:, n + alone : -BEHAVIOUR_CELLS - trait_kernels.SHAPE_CELLS].copy()
        slope, first = cells[:, -BEHAVIOUR_CELLS - 2], cells[:, -BEHAVIOUR_CELLS - 1]
        beside = -slope[:, None] * np.where(np.arange(alone) < first[:, None], variances, 0.0)
        rest[:, 0] -= slope * beside.sum(axis=1)
        return cells[:, :n], np.hstack([variances, beside, rest, cells[:, n - self.traits : n] ** 2]), cells[:, -BEHAVIOUR_CELLS]

    def variance_form(self, features: ArrayLike, appeal: ArrayLike = 0.0) -> Matrix:
        raw = feature_rows(features)
        x, doubts, d = self.coordinates(raw, appeal), self._rows_said(appeal, len(raw))[:, -self.traits :], raw.shape[1]
        alone = self._alone(d)
        rows, columns = np.tril_indices(x.shape[1] - alone)
        products = x[:, alone + rows] * x[:, alone + columns] * np.where(rows == columns, 1.0, 2.0)
        own = np.flatnonzero(rows == columns)[-self.traits :]  # the variances of the weights of traits
        products[:, own] += doubts
        return np.hstack([x[:, :alone] ** 2, 2.0 * x[:, [d]] * x[:, :alone], products, doubts])

    def score_variance(self, state: State, x: Matrix) -> Vector:
        return trait_kernels.score_variances(self._checked_state(state).cells, x, state.dimensions, self._alone(state.dimensions))

    def decision_noise(self, state: State, appeal: ArrayLike = 0.0) -> Vector | float:
        said = self._rows_said(appeal, len(np.asarray(appeal)) if np.ndim(appeal) == 2 else 1)
        cells, d = self._checked_state(state).cells, state.dimensions
        return trait_kernels.decision_noise(cells, said, self.belief_size(d), self._alone(d), self.parameters)

    def mean(self, state: State) -> Vector:
        return self._checked_state(state).cells[: self.belief_size(state.dimensions)]

    def covariance(self, state: State) -> Matrix:
        cells, d = self._checked_state(state).cells, state.dimensions
        covariance, slopes = self._kept(cells, self.belief_size(d)), self._slopes(cells, self.belief_size(d))
        beside = -slopes * np.diag(covariance)
        covariance[d] += beside
        covariance[:, d] += beside
        covariance[d, d] -= slopes @ beside
        return covariance

    def standard_deviations(self, state: State) -> Vector:
        if self.full:
            return BeliefLearner.standard_deviations(self, state)
        n = self.belief_size(state.dimensions)
        return np.sqrt(self._checked_state(state).cells[n : n + state.dimensions])

    def estimated_label_noise(self, state: State) -> float:
        return 0.5 * float(self._checked_state(state).cells[-BEHAVIOUR_CELLS])

    def draws(self, state: State, count: int, rng: np.random.Generator) -> Matrix:
        d = state.dimensions
        noise = rng.standard_normal((count, self.belief_size(d)))
        return trait_kernels.drawn_tastes(self._checked_state(state).cells, noise, d, self._alone(d))

    def change_detected(self, cells: Vector) -> bool:
        """Whether the last swipe showed that the taste has changed. The caller then starts again from the prior."""
        return bool(cells[-1] >= self.parameters[1])

    def belief_size(self, dimensions: int) -> int:
        return dimensions + 1 + self.directions + self.traits

    @property
    def said_width(self) -> int:
        """The numbers that are known of a candidate beside the tags: directions, traits and doubts about these."""
        return self.directions + 2 * self.traits

    @property
    def half_life(self) -> float:
        return self.half_life_days * timedelta(days=1).total_seconds()

    @property
    def session_timeout(self) -> float:
        return math.inf

    def kernel_parameters(self) -> tuple[float, ...]:
        if not isinstance(self.full, bool):
            raise InvalidInput("full", f"must be True or False, got {self.full!r}")
        for name in ("tag_sd", "threshold_sd", "trait_sd"):
            check_number(name, getattr(self, name), low=1e-3, high=1e3)
        check_integer("traits", self.traits, low=1, high=MOST_TRAITS)
        check_integer("directions", self.directions, low=0, high=MOST_TRAITS)
        check_number("half_life_days", self.half_life_days, low=0.0, open_low=True)
        check_number("label_noise", self.label_noise, low=1e-9, high=0.499)
        check_number("label_noise_swipes", self.label_noise_swipes, low=1.0)
        rate = check_number("false_alarms", self.false_alarms, low=0.0, high=0.5)
        alpha = check_number("alpha", self.alpha, low=1e-6, high=1e6)
        return alpha, -math.log(rate) if rate else math.inf, float(self.traits), float(self.full), float(self.directions)

    def _heard(self, state: State, features: Features, appeal: ArrayLike) -> tuple[Matrix, Matrix]:
        """Features, and what is known of each candidate; of whom nobody said anything, as the state's prior expects."""
        rows = unchecked_rows(features, state)
        says_traits = np.ndim(appeal) == 2 or (np.shape(appeal) == (self.said_width,) and len(rows) == 1)
        if not says_traits and state.prior.trait_map is not None:
            appeal = state.prior.grown(state.dimensions).expected_traits(feature_rows(rows))
        return rows, self._rows_said(appeal, len(rows))

    def _rows_said(self, appeal: ArrayLike, rows: int) -> Matrix:
        """Directions, traits and doubts of each candidate; 0 with doubts of 1 where nothing is known: an appeal is none of it."""
        said, width = np.asarray(appeal, np.float64), self.said_width
        if said.ndim == 1 and said.size == width and rows == 1:
            said = said[None]
        if said.ndim < 2:
            return np.repeat([[0.0] * (width - self.traits) + [1.0] * self.traits], rows, axis=0)
        if said.shape not in ((1, width), (rows, width)):
            raise InvalidInput("appeal", f"must be {rows} x {width}: directions, traits and doubts, got {said.shape}")
        check_appeal(said)
        return np.repeat(said, rows, axis=0) if len(said) != rows else np.ascontiguousarray(said)

    def _alone(self, dimensions: int) -> int:
        """How many tags have only variances."""
        return 0 if self.full else dimensions

    def _packed(self, covariance: Matrix, first: int) -> Vector:
        """P as it is kept, and the `SHAPE_CELLS`, from the covariance of a prior that was fitted with the first so many tags."""
        n = len(covariance)
        threshold, kept, slope = n - self.belief_size(0), covariance.copy(), 0.0
        if not self.full:
            variance = float(np.trace(covariance[:first, :first]))
            slope = -float(covariance[:first, threshold].sum()) / variance
            row = covariance[threshold] + slope * covariance[:first].sum(axis=0)
            row[threshold] += slope * row[:first].sum()
            kept[threshold, threshold:] = kept[threshold:, threshold] = row[threshold:]
        return np.concatenate([self._lower(kept), [n, slope, first]])

    def _lower(self, kept: Matrix) -> Vector:
        alone = self._alone(len(kept) - self.belief_size(0))
        rest = kept[alone:, alone:]
        return np.concatenate([np.diag(kept)[:alone], rest[np.tril_indices(len(rest))]])

    def _slopes(self, cells: Vector, n: int) -> Vector:
        """One per coordinate: s at the tags that the threshold is kept apart from, 0 elsewhere."""
        slope, first = cells[-BEHAVIOUR_CELLS - 2], cells[-BEHAVIOUR_CELLS - 1]
        return np.where(np.arange(n) < first, slope, 0.0)

    def _kept(self, cells: Vector, n: int) -> Matrix:
        alone, covariance = self._alone(n - self.belief_size(0)), np.zeros((n, n))
        covariance[range(alone), range(alone)] = cells[n : n + alone]
        covariance[alone:, alone:] = self._rest(cells, n)
        return covariance

    def _rest(self, cells: Vector, n: int) -> Matrix:
        """P without the tags of which only variances are kept."""
        alone = self._alone(n - self.belief_size(0))
        return trait_kernels.unpacked(cells[n + alone :], n - alone)
