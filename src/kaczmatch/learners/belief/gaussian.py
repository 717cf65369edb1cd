"""A normal belief about one user's taste, updated by assumed-density filtering on a probit with label noise.

The model is that of adPredictor (Graepel et al. 2010) and Matchbox (Stern et al. 2009), the method Opper's and Minka's. A taste
has a weight per tag, a threshold and, as parts that a belief may have or not,

- weights of D directions of tags, along which tastes vary together: a low-rank covariance. They follow from the tags alone;
- weights of K traits z, of which other people's swipes tell: they are said to be z̄, with variances S. Appeal is one trait, with a
  variance of 0.

With φ = (a/‖a‖, 1, directions, z̄) a user likes a candidate when taste·φ + noise > 0, but a share c of swipes is a coin toss. The
noise is that of a decision, α, and what is not known of the candidate:

    q = α + φᵀPφ + Σ S_k (v̄_k² + P_kk),   z = y φ·m/√q,   P(like) = c/2 + (1 − c) Φ(φ·m/√q)
    m ← m + (y g/√q) Pφ,                  P ← P − (g(g + z)/q) (Pφ)(Pφ)ᵀ

The mean's step has the form of TK's, P x ρ/(xᵀPx + α), with a learned metric P and a probit residual ρ = y g √q. g(g + z) < 1
keeps P positive. After a surprise g(g + z) < 0 and P grows, which is intended: clipping it costs accuracy. `kernels.py` says how
P is kept: in full, O(d²) per swipe, or as variances, O(d).
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

from kaczmatch.core.errors import InvalidInput, check_integer, check_number
from kaczmatch.core.swipes import check_others
from kaczmatch.core.tags import Features
from kaczmatch.core.vectors import Integers, Matrix, Vector, as_rows, as_vector, matvec
from kaczmatch.learners.belief import kernels
from kaczmatch.learners.contract import BeliefLearner, ScoreForm
from kaczmatch.learners.kernels import Kernels
from kaczmatch.learners.prior import MOST_TRAITS, PAPER_COSINE, Prior
from kaczmatch.learners.state import Scores, State, StateRows, check_rows, feature_rows, in_shape_of, of_usable, unchecked_rows

_DAY: Final = 86_400.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianLearner(BeliefLearner):
    """The belief; a preset says which parts it has and how its covariance is kept.

    Cells: the mean, variances of the coordinates that have no more, the lower triangle of the rest of P, what the preset stores
    of the layout, and the user's behaviour.
    """

    kernels: ClassVar[Kernels] = Kernels(kernels.swipe, forget=kernels.forget, predict=kernels.predict)
    stored_layout: ClassVar[int]
    unknown_variance: ClassVar[float]  # of a trait of which nobody has said anything

    alpha: float = 0.02  # variance of the noise in a decision; what exceeds it counts as label noise
    label_noise: float = 0.2  # ε = c/2 where neither the prior nor the user's swipes say otherwise
    label_noise_swipes: float = 5.0  # how many informative swipes that ε is worth; infinite: it stays for everybody
    tag_sd: float = 1.0
    threshold_sd: float = (
        0.5  # with tags of 1 every share of likes up to four fifths is about as likely (half of the tags present)
    )
    half_life_days: float = math.inf
    false_alarms: float = 1e-5  # largest rate, per swipe, of detecting a change where there is none; 0: never look for one

    # What a preset says

    @property
    @abstractmethod
    def said_size(self) -> tuple[int, int]:
        """How many directions and traits others say of a candidate; variances of the traits follow."""

    @property
    @final
    def said_width(self) -> int:
        """The numbers of a row of what others said."""
        directions, traits = self.said_size
        return directions + 2 * traits

    @property
    @abstractmethod
    def kept_alone(self) -> int:
        """Of which coordinates there are only variances: `kernels.NONE_ALONE`, `TAGS_ALONE` or `ALL_ALONE`."""

    @abstractmethod
    def prior_moments(self, prior: Prior) -> tuple[Vector, Matrix]:
        """Mean and covariance of a user who has not swiped yet."""

    @abstractmethod
    def prior_slope(self, covariance: Matrix, first: int) -> float:
        """s, where the threshold goes with the first so many tags."""

    # States

    @final
    def initial_cells(self, prior: Prior) -> Vector:
        (mean, covariance), first = self.prior_moments(prior), prior.original_tags
        d = prior.dimensions
        (n, alone), slope = self.sizes(d), self.prior_slope(covariance, first) if first else 0.0
        kept, row = covariance.copy(), covariance[d] + slope * covariance[:first].sum(axis=0)
        row[d] += slope * row[:first].sum()
        kept[d, d:] = kept[d:, d] = row[d:]
        rest = kept[alone:, alone:]
        layout = np.array([n, slope, first])[kernels.LAYOUT - self.stored_layout :]
        noise = self.label_noise if prior.label_noise is None else prior.label_noise
        behaviour = [2.0 * noise, self.label_noise_swipes, 0.5, 0.0]
        return np.concatenate([mean, np.diag(kept)[:alone], rest[np.tril_indices(len(rest))], layout, behaviour])

    @final
    def grown_cells(self, state: State, prior: Prior) -> Vector:
        start, kept = _growth(self, state.dimensions, prior)
        cells, layout = start.copy(), self.stored_layout + kernels.BEHAVIOUR
        cells[kept] = state.cells[:-layout]
        cells[-kernels.BEHAVIOUR :] = state.cells[-kernels.BEHAVIOUR :]
        return cells

    @final
    def weights(self, cells: Vector, dimensions: int) -> Vector:
        return cells[:dimensions]

    @final
    def valid_cells(self, cells: Vector, dimensions: int) -> bool:
        n, alone = self.sizes(dimensions)
        rest = n - alone
        return len(cells) == n + alone + rest * (rest + 1) // 2 + self.stored_layout + kernels.BEHAVIOUR

    @final
    def expand(self, cells: Vector, dimensions: int) -> Vector:
        return kernels.expanded(cells, dimensions, self.parameters)

    @final
    def compact(self, work: Vector, dimensions: int) -> Vector:
        return kernels.compacted(work, self.parameters)

    @final
    def working_size(self, dimensions: int, swipes: int) -> int:
        n, alone = self.sizes(dimensions)
        rest = n - alone
        return n + alone + rest * ((rest + 3) // 4 * 4) + kernels.LAYOUT + kernels.BEHAVIOUR

    @final
    def sizes(self, dimensions: int) -> tuple[int, int]:
        """The coordinates of the belief, and how many of them, the first ones, have only variances."""
        directions, traits = self.said_size
        n = dimensions + 1 + directions + traits
        return n, (0, dimensions, n)[self.kept_alone]

    @property
    @final
    def half_life(self) -> float:
        return self.half_life_days * _DAY

    @property
    @final
    def session_timeout(self) -> float:
        return math.inf

    # One user

    @final
    def mean(self, state: State) -> Vector:
        return self._checked_state(state).cells[: self.sizes(state.dimensions)[0]]

    @final
    def covariance(self, state: State) -> Matrix:
        variances, rest, slopes = self._kept(state)
        alone, n, d = len(variances), len(slopes), state.dimensions
        covariance = np.zeros((n, n))
        covariance[range(alone), range(alone)] = variances
        covariance[alone:, alone:] = rest
        beside = -slopes * np.diag(covariance)
        covariance[d] += beside
        covariance[:, d] += beside
        covariance[d, d] -= slopes @ beside
        return covariance

    @final
    def standard_deviations(self, state: State) -> Vector:
        variances, rest, _ = self._kept(state)
        return np.sqrt(np.append(variances, np.diag(rest))[: state.dimensions])

    @final
    def estimated_label_noise(self, state: State) -> float:
        return 0.5 * float(self._checked_state(state).cells[-kernels.BEHAVIOUR])

    @final
    def draws(self, state: State, count: int, rng: np.random.Generator) -> Matrix:
        variances, rest, slopes = self._kept(state)
        noise = rng.standard_normal((count, len(slopes)))
        noise[:, : len(variances)] *= np.sqrt(variances)
        noise[:, len(variances) :] = noise[:, len(variances) :] @ kernels.lower_root(rest).T
        noise[:, state.dimensions] -= noise @ slopes
        return np.asarray(self.mean(state) + noise)

    @final
    def _kept(self, state: State) -> tuple[Vector, Matrix, Vector]:
        """Variances of the coordinates that have no more, the rest of P, and s at the tags that the threshold goes with."""
        n, alone = self.sizes(state.dimensions)
        work, slopes = self.expand(self._checked_state(state).cells, state.dimensions), np.zeros(n)
        slope, first = work[-kernels.BEHAVIOUR - 2 : -kernels.BEHAVIOUR]
        slopes[: int(first)] = slope
        return work[n : n + alone], kernels.rest_of(work, n, alone)[:, : n - alone], slopes

    # Candidates

    @final
    def coordinates(self, features: ArrayLike, others: ArrayLike = ()) -> Matrix:
        rows = unchecked_rows(features)
        x = self._coordinate_rows(rows, self.others_rows(others, len(rows)))
        return x.reshape(*np.shape(features)[:-1], x.shape[1])

    @final
    def _coordinate_rows(self, rows: Matrix, others: Matrix) -> Matrix:
        x, usable = kernels.coordinate_rows(rows, others, self.parameters)
        if not usable:
            check_rows(rows)
        return x

    @final
    def others_rows(self, others: ArrayLike, rows: int) -> Matrix:
        """What others said of so many candidates, a row for each or one for all. A row of another length is of other traits."""
        traits, width = self.said_size[1], self.said_width
        if not width or np.shape(others)[-1:] != (width,):
            return np.repeat([[0.0] * (width - traits) + [self.unknown_variance] * traits], rows, axis=0)
        said = as_rows(others, "others")
        if len(said) not in (1, rows):
            raise InvalidInput("others", f"has {len(said)} rows for {rows} candidates")
        check_others(said)
        return np.repeat(said, rows, axis=0) if len(said) != rows else said

    @final
    def _heard(self, state: State, features: Features, others: ArrayLike) -> tuple[Matrix, Matrix]:
        """Features, and what others said of each candidate; where they said nothing, what the state's prior expects."""
        rows = unchecked_rows(features, state)
        if state.prior.trait_map is not None and np.shape(others)[-1:] != (self.said_width,):
            others = state.prior.grown(state.dimensions).expected_traits(feature_rows(rows))
        return rows, self.others_rows(others, len(rows))

    @final
    def score(self, state: State, features: Features, others: ArrayLike = ()) -> Scores:
        mean = self.mean(state)
        return in_shape_of(matvec(self._coordinate_rows(*self._heard(state, features, others)), mean), features)

    @final
    def probability(self, state: State, features: Features, others: ArrayLike = ()) -> Scores:
        rows, said = self._heard(state, features, others)
        work = self.expand(self._checked_state(state).cells, state.dimensions)
        return in_shape_of(of_usable(rows, kernels.predict_rows(work, rows, said, self.parameters)), features)

    @final
    def score_variance(self, state: State, x: Matrix) -> Vector:
        variances, rest, slopes = self._kept(state)
        alone, d = len(variances), state.dimensions
        apart = x[:, :alone] - x[:, [d]] * slopes[:alone]
        return np.asarray(apart**2 @ variances + np.einsum("ij,ij->i", x[:, alone:] @ rest, x[:, alone:]))

    @final
    def decision_noise(self, state: State, others: ArrayLike = ()) -> Vector:
        traits = self.said_size[1]
        if not traits:
            return np.array([self.alpha])
        doubts = self.others_rows(others, len(others) if np.ndim(others) == 2 else 1)[:, -traits:]  # type: ignore[arg-type]
        variances, rest, _ = self._kept(state)
        return np.asarray(self.alpha + doubts @ (self.mean(state) ** 2 + np.append(variances, np.diag(rest)))[-traits:])

    # Many users

    @final
    def mean_form(self, features: ArrayLike, others: ArrayLike = ()) -> ScoreForm:
        rows = unchecked_rows(features)
        said = self.others_rows(others, len(rows))
        return ScoreForm(*kernels.mean_form(self._coordinate_rows(rows, said), said, self.parameters))

    @final
    def moments_by_user(self, states: Sequence[State], form: ScoreForm) -> Matrix:
        users = StateRows.of(states)
        return kernels.moments_by_user(users.kept, users.changed, users.rows, *form, self.parameters)

    @final
    def probabilities_by_user(self, states: Sequence[State], features: ArrayLike, others: ArrayLike = ()) -> Vector:
        row = as_vector(features, "features")
        if not states:
            check_rows(row[None])
            return np.empty(0)
        kinds = [states.start] if isinstance(states, StateRows) else {(*one[:3], len(one.cells)): one for one in states}.values()
        for state in kinds:
            if self._checked_state(state).dimensions != len(row):
                raise InvalidInput("features", f"has {len(row)} values, a state has {state.dimensions} tags")
        score, variance, random_share = self.moments_by_user(states, self.mean_form(*self._heard(states[0], row, others)))
        return np.asarray(0.5 * random_share + (1.0 - random_share) * ndtr(score / np.sqrt(variance)))

    @final
    def kernel_parameters(self) -> tuple[float, ...]:
        self.check_parts()
        for name in ("tag_sd", "threshold_sd"):
            check_number(name, getattr(self, name), low=1e-3, high=1e3)
        check_number("half_life_days", self.half_life_days, low=0.0, open_low=True)
        # ε > 0: at ε = 0 a surprise of 40 standard deviations divides zero by zero.
        check_number("label_noise", self.label_noise, low=1e-9, high=0.499)
        check_number("label_noise_swipes", self.label_noise_swipes, low=1.0)
        rate = check_number("false_alarms", self.false_alarms, low=0.0, high=0.5)
        alpha, alarm = check_number("alpha", self.alpha, low=1e-6, high=1e6), -math.log(rate) if rate else math.inf
        directions, traits = self.said_size
        return alpha, alarm, *map(float, (traits, directions, self.unknown_variance, self.kept_alone, self.stored_layout))

    @abstractmethod
    def check_parts(self) -> None:
        """Raises :class:`InvalidInput` for settings of its parts that make no sense."""


@lru_cache(64)  # a whole population grows from the same few
def _growth(learner: GaussianLearner, old: int, prior: Prior) -> tuple[Vector, Integers]:
    """The cells of a start from a grown prior, and where mean and covariance of a state over `old` tags belong among them."""
    new, start = prior.dimensions, learner.initial_cells(prior)
    (n, alone), (_, old_alone) = learner.sizes(new), learner.sizes(old)
    kept = np.r_[:old, new:n]
    rest = kept[old_alone:] - alone
    i, j = np.tril_indices(len(rest))
    return start, np.concatenate([kept, n + kept[:old_alone], n + alone + rest[i] * (rest[i] + 1) // 2 + rest[j]])


@dataclass(frozen=True, slots=True, kw_only=True)
class _WithAppeal(GaussianLearner):
    """Tags, a threshold and, with `appeal`, its weight."""

    unknown_variance: ClassVar[float] = 0.0

    appeal_sd: float = 1.0
    appeal: bool = False  # whether the candidate's appeal is a coordinate

    @property
    @final
    def said_size(self) -> tuple[int, int]:
        return 0, int(self.appeal)

    @final
    def prior_moments(self, prior: Prior) -> tuple[Vector, Matrix]:
        n, _ = self.sizes(prior.dimensions)
        mean = np.append(prior.weights, [prior.effective_threshold, prior.appeal])[:n]
        return mean, (self._neutral_covariance(prior) if prior.covariance is None else prior.covariance)[:n, :n]

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
    def check_parts(self) -> None:
        if not isinstance(self.appeal, bool):
            raise InvalidInput("appeal", f"must be True or False, got {self.appeal!r}")
        check_number("appeal_sd", self.appeal_sd, low=1e-3, high=1e3)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Probit(_WithAppeal):
    """The whole covariance."""

    slug: ClassVar[str] = "probit"
    state_version: ClassVar[int] = 2
    stored_layout: ClassVar[int] = 0

    @property
    def kept_alone(self) -> int:
        return kernels.NONE_ALONE

    def prior_slope(self, covariance: Matrix, first: int) -> float:
        return 0.0


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ProbitDiagonal(_WithAppeal):
    """Variances alone: about a kilobyte per user.

    s = 0.52/√(2t) is how `Prior.ones` starts: the threshold of a user who likes candidates with a cosine of at least 0.52 to the
    taste rises with the number of liked tags.
    """

    slug: ClassVar[str] = "probit-diag"
    state_version: ClassVar[int] = 3
    stored_layout: ClassVar[int] = 1

    @property
    def kept_alone(self) -> int:
        return kernels.ALL_ALONE

    def prior_slope(self, covariance: Matrix, first: int) -> float:
        return PAPER_COSINE / math.sqrt(2.0 * first)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ProbitTraits(GaussianLearner):
    """Variances of tags (the whole covariance with `full`), and everything over threshold, directions and traits.

    s is what the prior's covariance of tags and threshold says.
    """

    slug: ClassVar[str] = "probit-traits"
    state_version: ClassVar[int] = 3
    stored_layout: ClassVar[int] = 3
    unknown_variance: ClassVar[float] = 1.0

    traits: int = 4  # K, told by swipes; a fitted prior must have as many
    directions: int = 8  # D, of tags; likewise. None with `full`
    full: bool = False  # whether the whole covariance of tags is kept, which leaves directions nothing to say
    alpha: float = 1.0
    label_noise: float = 0.01
    trait_sd: float = 0.5

    def __post_init__(self) -> None:
        if self.full is True:
            object.__setattr__(self, "directions", 0)
        GaussianLearner.__post_init__(self)

    @property
    def said_size(self) -> tuple[int, int]:
        return self.directions, self.traits

    @property
    def kept_alone(self) -> int:
        return kernels.NONE_ALONE if self.full else kernels.TAGS_ALONE

    def prior_moments(self, prior: Prior) -> tuple[Vector, Matrix]:
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
        return np.concatenate([prior.weights, [prior.effective_threshold], np.zeros(self.directions), weights]), covariance

    def prior_slope(self, covariance: Matrix, first: int) -> float:
        if self.full:
            return 0.0
        threshold = len(covariance) - 1 - self.directions - self.traits
        return -float(covariance[:first, threshold].sum()) / float(np.trace(covariance[:first, :first]))

    def check_parts(self) -> None:
        if not isinstance(self.full, bool):
            raise InvalidInput("full", f"must be True or False, got {self.full!r}")
        check_integer("traits", self.traits, low=1, high=MOST_TRAITS)
        check_integer("directions", self.directions, low=0, high=MOST_TRAITS)
        check_number("trait_sd", self.trait_sd, low=1e-3, high=1e3)
