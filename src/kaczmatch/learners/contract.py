"""The contract of every learner: state in, state out, one object for all users.

A state holds cells: float64 numbers whose meaning only the learner knows. Kernels (`kernels.py`) change them. They work on
working cells, which may be longer: `expand` makes working cells from cells, `compact` makes cells from working cells.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from typing import ClassVar, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.errors import InvalidInput, check_number
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.swipes import ShownCandidate
from kaczmatch.core.tags import Features
from kaczmatch.core.vectors import Matrix, Vector, as_vector, problem_with, read_only, unit
from kaczmatch.learners.kernels import BAD_FEATURES, TASTE_CHANGED, Kernels, decay_factor, end_session_noop
from kaczmatch.learners.prior import AnyPrior, Prior
from kaczmatch.learners.state import EncodedState, Scores, State

_NOTHING: Vector = read_only(np.empty(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Learner(ABC):
    """An update rule with its hyper-parameters.

    Every method is pure: it returns a new state, or raises :class:`InvalidInput`. It never changes the state it was given.
    """

    slug: ClassVar[str]
    state_version: ClassVar[int] = 1
    kernels: ClassVar[Kernels]

    parameters: Vector = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", read_only(np.array(self.kernel_parameters(), np.float64)))

    # What a rule defines

    @abstractmethod
    def kernel_parameters(self) -> tuple[float, ...]:
        """The hyper-parameters in the order its kernels take them. Raises :class:`InvalidInput` for values out of range."""

    @abstractmethod
    def initial_cells(self, prior: Prior) -> Vector:
        """The cells of a user who has not swiped yet."""

    @abstractmethod
    def grown_cells(self, state: State, prior: Prior) -> Vector:
        """The cells of `state` over the longer vocabulary of `prior`, which has grown already."""

    @abstractmethod
    def weights(self, cells: Vector, dimensions: int) -> Vector:
        """The learned weight of each tag."""

    @abstractmethod
    def score(self, state: State, features: Features, others: ArrayLike = ()) -> Scores:
        """A score per row, for ranking only. `others` is what others said of the candidates, a row each (`ShownCandidate`)."""

    @abstractmethod
    def valid_cells(self, cells: Vector, dimensions: int) -> bool:
        """Whether `cells` can belong to a state over so many tags."""

    @abstractmethod
    def expand(self, cells: Vector, dimensions: int) -> Vector:
        """Working cells: a copy of the cells as its kernels take them, with space for one more swipe. The weights come first."""

    @abstractmethod
    def compact(self, work: Vector, dimensions: int) -> Vector:
        """The cells from working cells; may be a view of them."""

    @abstractmethod
    def working_size(self, dimensions: int, swipes: int) -> int:
        """The most working cells that its kernels need while so many swipes are folded or pending."""

    @property
    @abstractmethod
    def half_life(self) -> float:
        """The seconds after which half of what was learned is forgotten; infinite where nothing is."""

    @property
    @abstractmethod
    def session_timeout(self) -> float:
        """The seconds without a swipe after which a session ends; infinite where only the caller ends it."""

    def standard_deviations(self, state: State) -> Vector | None:
        """How uncertain each learned weight is, where a learner knows."""
        return None

    # What callers use

    @final
    def start(self, prior: AnyPrior) -> State:
        """The state of a user who has not swiped yet, from a plain vector of tag weights or a versioned prior."""
        origin = Prior.of(prior)
        return self.state(self.initial_cells(origin), origin.dimensions, origin)

    @final
    def swipe(self, state: State, candidate: ShownCandidate | ArrayLike | Mapping[str, float], label: Label) -> State:
        """Learn from one swipe: features, tags by name or a :class:`ShownCandidate`, and ``"like"``/``"pass"`` or True/False."""
        others = _NOTHING
        if type(candidate) is ShownCandidate:
            others = candidate.others
            features = candidate.features if candidate.named is None else self._by_name(state, candidate.named)
        elif isinstance(candidate, Mapping):
            features = self._by_name(state, candidate)
        else:
            features = as_vector(candidate, "features")
        y, cells, d = sign(label), self._checked_state(state).cells, state.dimensions
        if features.shape[0] != d:
            raise InvalidInput("features", f"has {features.shape[0]} values, the state has {d} tags")
        work = self.expand(cells, d)
        answer = self.kernels.swipe(work, features, state.prior.others(others, features), y, self.parameters)
        if answer == BAD_FEATURES:
            raise InvalidInput("features", problem_with(features))
        if answer == TASTE_CHANGED:
            self.kernels.forget(work, start_working_cells(self, state.prior, state.dimensions), 0.0)
        return self.state(self.compact(work, d), d, state.prior)

    def _by_name(self, state: State, named: Mapping[str, float]) -> Vector:
        return self._checked_state(state).prior.features(named, state.dimensions)

    @final
    def end_session(self, state: State) -> State:
        """Learn from pending swipes. Only block rules have any."""
        if self.kernels.end_session is end_session_noop:
            return state
        cells, d = self._checked_state(state).cells, state.dimensions
        work = self.expand(cells, d)
        self.kernels.end_session(work, d, self.parameters)
        return self.state(self.compact(work, d), d, state.prior)

    @final
    def advance(self, state: State, elapsed: timedelta) -> State:
        """Let time pass: end a session that timed out, and forget towards the prior, for learners that do."""
        if not isinstance(elapsed, timedelta) or elapsed.days < 0:
            raise InvalidInput("elapsed", f"must be a timedelta of at least 0, got {elapsed!r}")
        if elapsed.total_seconds() >= self.session_timeout:
            state = self.end_session(state)
        if self.half_life == math.inf or not elapsed:
            return state
        microseconds = min(elapsed // timedelta(microseconds=1), 2**62)
        return self._forget(state, decay_factor(microseconds, self.half_life))

    @final
    def direction(self, state: State) -> Vector:
        """The learned weights as a unit vector, or 0 where there are none."""
        return unit(self.weights(self._checked_state(state).cells, state.dimensions))

    @final
    def grow(self, state: State, dimensions: int) -> State:
        """The same state over a vocabulary with new tags at its end."""
        prior = self._checked_state(state).prior.grown(dimensions)
        if dimensions < state.dimensions:
            raise InvalidInput("dimensions", f"cannot shrink from {state.dimensions} to {dimensions} tags")
        return self.state(self.grown_cells(state, prior), dimensions, state.prior)

    @final
    def from_bytes(self, data: bytes | bytearray | memoryview, prior: Prior | None = None) -> State:
        """The state that ``state.to_bytes()`` wrote. A versioned prior is stored by name only and must be passed."""
        stored = EncodedState.read(data)
        if stored.learner != self.slug:
            raise InvalidInput("state", f"is a state of {stored.learner!r}, not of {self.slug!r}")
        if stored.version != self.state_version:
            raise InvalidInput("state", f"has version {stored.version}, {self.slug!r} reads {self.state_version}")
        if prior is not None and not isinstance(prior, Prior):
            raise InvalidInput("prior", f"must be the Prior that the state started from, got {type(prior).__name__}")
        return self._checked_state(self.state(stored.cells, stored.dimensions, stored.prior(prior)))

    def _forget(self, state: State, keep: float) -> State:
        d = state.dimensions
        work = self.expand(self._checked_state(state).cells, d)
        self.kernels.forget(work, start_working_cells(self, state.prior, d), keep)
        return self.state(self.compact(work, d), d, state.prior)

    def _checked_state(self, state: State) -> State:
        """`state`, if it belongs to this rule."""
        if type(state) is not State:
            raise InvalidInput("state", f"must be a State, got {type(state).__name__}")
        if state.learner != self.slug:
            raise InvalidInput("state", f"is a state of {state.learner!r}, not of {self.slug!r}")
        if not self.valid_cells(state.cells, state.dimensions):
            raise InvalidInput("state", f"{len(state.cells)} cells over {state.dimensions} tags are not a state of {self}")
        return state

    @final
    def state(self, cells: Vector, dimensions: int, prior: Prior) -> State:
        """These cells as a state of this rule. They become read-only."""
        return State(self.slug, self.state_version, dimensions, read_only(cells), prior)


@lru_cache(64)  # a whole population starts alike
def start_working_cells(learner: Learner, prior: Prior, dimensions: int) -> Vector:
    """Of a user who has not swiped yet, over so many tags."""
    return read_only(learner.expand(learner.initial_cells(prior.grown(dimensions)), dimensions))


class FixedSizeLearner(Learner):
    """A rule whose kernels work on the cells as they are stored."""

    __slots__ = ()

    @abstractmethod
    def width(self, dimensions: int) -> int:
        """The number of cells per state."""

    @final
    def valid_cells(self, cells: Vector, dimensions: int) -> bool:
        return len(cells) == self.width(dimensions)

    @final
    def expand(self, cells: Vector, dimensions: int) -> Vector:
        return cells.copy()

    @final
    def compact(self, work: Vector, dimensions: int) -> Vector:
        return work

    @final
    def working_size(self, dimensions: int, swipes: int) -> int:
        return self.width(dimensions)


class ProbabilisticLearner(Learner):
    """A learner that predicts the probability of a like."""

    __slots__ = ()

    @abstractmethod
    def probability(self, state: State, features: Features, others: ArrayLike = ()) -> Scores:
        """The probability of a like per row of `features`; one number for one vector."""


class ScoreForm(NamedTuple):
    """Means and variances of scores are linear in these, with coefficients that a state holds."""

    mean: Vector  # coordinates
    squares: Vector  # their products
    doubts: Vector  # about the candidates


class BeliefLearner(ProbabilisticLearner):
    """A learner that knows its uncertainty: a normal belief over (tags, threshold, directions and traits where used)."""

    __slots__ = ()
    alpha: float  # variance of the noise in a decision

    @abstractmethod
    def coordinates(self, features: ArrayLike, others: ArrayLike = ()) -> Matrix:
        """Candidates in the coordinates of the belief: the product of a row with the mean, or with a draw, is a score."""

    @abstractmethod
    def probabilities_by_user(self, states: Sequence[State], features: ArrayLike, others: ArrayLike = ()) -> Vector:
        """The probability that each of many users likes the same candidate."""

    @abstractmethod
    def mean_form(self, features: ArrayLike, others: ArrayLike = ()) -> ScoreForm:
        """What makes a score of some candidates, averaged over them, to be asked of many users."""

    @abstractmethod
    def moments_by_user(self, states: Sequence[State], form: ScoreForm) -> Matrix:
        """Rows of one number per user: mean score, mean variance of what decides, and share of random swipes."""

    @abstractmethod
    def score_variance(self, state: State, x: Matrix) -> Vector:
        """xᵀPx, the variance of the score that comes from the taste, for each row of coordinates."""

    @abstractmethod
    def decision_noise(self, state: State, others: ArrayLike = ()) -> Vector:
        """The variance of a decision beside that: noise, and the doubt about each candidate's traits where they are used."""

    @abstractmethod
    def mean(self, state: State) -> Vector:
        """The belief's mean."""

    @abstractmethod
    def covariance(self, state: State) -> Matrix:
        """The belief's covariance, as a full matrix."""

    @abstractmethod
    def estimated_label_noise(self, state: State) -> float:
        """ε of this user: the estimated probability that a label is the opposite of what the user feels."""

    @abstractmethod
    def draws(self, state: State, count: int, rng: np.random.Generator) -> Matrix:
        """Tastes drawn from the belief, one row each."""

    def standard_deviations(self, state: State) -> Vector:
        """Of the weights of tags."""
        return np.sqrt(np.diag(self.covariance(state))[: state.dimensions])

    @final
    def draw(self, state: State, rng: np.random.Generator) -> Vector:
        """One taste drawn from the belief."""
        return np.asarray(self.draws(state, 1, rng)[0])

    @final
    def forget(self, state: State, keep: float) -> State:
        """Move towards the prior: `keep` = 1 keeps everything, 0 returns to the prior."""
        return self._forget(state, check_number("keep", keep, low=0.0, high=1.0))
