"""The contract every learner keeps: state in, state out, one object for all users."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.errors import InvalidInput, checked
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.swipes import Seen
from kaczmatch.core.vectors import Matrix, Vector, as_rows, as_vector, problem_with, sealed, unit, usable_rows
from kaczmatch.learners.kernels import BAD_FEATURES, CHANGED, Kernels, kept_after, nothing_pending
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.state import EncodedState, State

# A float for one vector of features, a vector for a matrix of them: what numpy answers, typed as numpy types it.
Scores = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Learner(ABC):
    """An update rule with its hyper-parameters.

    Every method is pure: it answers with a new state, or raises :class:`InvalidInput` and leaves the old one as it was.
    """

    slug: ClassVar[str]
    state_version: ClassVar[int] = 1
    kernels: ClassVar[Kernels]

    parameters: Vector = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", sealed(np.array(self.checked_parameters(), np.float64)))

    # What a rule says of itself

    @abstractmethod
    def checked_parameters(self) -> tuple[float, ...]:
        """The hyper-parameters as its kernels take them; raises where one makes no sense."""

    @abstractmethod
    def initial(self, prior: Prior) -> Vector:
        """The cells of somebody who has not swiped yet."""

    @abstractmethod
    def swiped(self, cells: Vector, seen: Seen, label: Label) -> Vector:
        """One swipe in plain numpy: the readable rule, the specification of the swipe kernel."""

    @abstractmethod
    def grown(self, state: State, prior: Prior) -> Vector:
        """The cells of `state` with room for the tags that `prior`, already grown, has on top."""

    @abstractmethod
    def weights(self, cells: Vector, dimensions: int) -> Vector:
        """What it has learned to expect of each tag."""

    @abstractmethod
    def score(self, state: State, features: ArrayLike, appeal: ArrayLike = 0.0) -> Scores:
        """How well each row of `features` fits, for ordering only; one number for one vector."""

    @abstractmethod
    def fits(self, cells: Vector, dimensions: int) -> bool:
        """Whether `cells` can be a state over so many tags."""

    @abstractmethod
    def expand(self, cells: Vector, dimensions: int) -> Vector:
        """A copy of the cells in the form its kernels work on, with room for one more swipe; the preference comes first."""

    @abstractmethod
    def compact(self, work: Vector, dimensions: int) -> Vector:
        """The cells again, from what a kernel worked on; may be a view of it."""

    @abstractmethod
    def room(self, dimensions: int, swipes: int) -> int:
        """How long the form its kernels work on can get while so many swipes are folded or pending."""

    @property
    @abstractmethod
    def half_life(self) -> float:
        """After how many seconds half of what was learned is forgotten; infinite where nothing ever is."""

    @property
    @abstractmethod
    def quiet(self) -> float:
        """After how many seconds without a swipe a session has ended; infinite where only its caller ends it."""

    # What a user of it calls

    @final
    def start(self, prior: Prior | ArrayLike) -> State:
        """The state of somebody who has not swiped yet, from a plain vector of tag weights or a versioned prior."""
        origin = Prior.of(prior)
        return self.state(self.initial(origin), origin.dimensions, origin)

    @final
    def swipe(self, state: State, seen: Seen | ArrayLike, label: Label) -> State:
        """Learn from one swipe: a plain tag vector or what was :class:`Seen`, and ``"like"``/``"pass"`` or 1/-1."""
        if type(seen) is Seen:
            features, appeal = seen.features, seen.appeal
        else:
            features, appeal = as_vector(seen, "features"), 0.0
        y = sign(label)
        cells, d = self._own(state).cells, state.dimensions
        if features.shape[0] != d:
            raise InvalidInput("features", f"has {features.shape[0]} values, the state has {d} tags")
        work = self.expand(cells, d)
        answer = self.kernels.swipe(work, features, appeal, y, self.parameters)
        if answer == BAD_FEATURES:
            raise InvalidInput("features", problem_with(features))
        if answer == CHANGED:
            self.kernels.forget(work, self._start(state), 0.0)
        return self.state(self.compact(work, d), d, state.prior)

    @final
    def end_session(self, state: State) -> State:
        """Learn from what is still pending; block rules wait for this, the others have nothing to do."""
        if self.kernels.end_session is nothing_pending:
            return state
        cells, d = self._own(state).cells, state.dimensions
        work = self.expand(cells, d)
        self.kernels.end_session(work, d, self.parameters)
        return self.state(self.compact(work, d), d, state.prior)

    @final
    def advance(self, state: State, elapsed: timedelta) -> State:
        """Let time pass: end a session that has gone quiet, forget towards the prior, each for learners that do."""
        if not isinstance(elapsed, timedelta) or elapsed < timedelta(0):
            raise InvalidInput("elapsed", f"must be a timedelta of at least 0, got {elapsed!r}")
        if elapsed.total_seconds() >= self.quiet:
            state = self.end_session(state)
        if self.half_life == math.inf or not elapsed:
            return state
        microseconds = min(elapsed // timedelta(microseconds=1), 2**62)
        return self._forgotten(state, kept_after(microseconds, self.half_life))

    @final
    def direction(self, state: State) -> Vector:
        """The learned preference over tags as a unit vector, or 0 where there is none."""
        return unit(self.weights(self._own(state).cells, state.dimensions))

    @final
    def grow(self, state: State, dimensions: int) -> State:
        """The same knowledge over a vocabulary with new tags at its end."""
        prior = self._own(state).prior.grown(dimensions)
        if dimensions < state.dimensions:
            raise InvalidInput("dimensions", f"cannot shrink from {state.dimensions} to {dimensions} tags")
        return self.state(self.grown(state, prior), dimensions, state.prior)

    @final
    def from_bytes(self, data: bytes | bytearray | memoryview, prior: Prior | None = None) -> State:
        """The state that ``state.to_bytes()`` wrote. A versioned prior is stored by name only: hand it over."""
        stored = EncodedState.read(data)
        if stored.learner != self.slug:
            raise InvalidInput("state", f"is a state of {stored.learner!r}, not of {self.slug!r}")
        if stored.version != self.state_version:
            raise InvalidInput("state", f"has version {stored.version}, {self.slug!r} reads {self.state_version}")
        if prior is not None and not isinstance(prior, Prior):
            raise InvalidInput("prior", f"must be the Prior that the state started from, got {type(prior).__name__}")
        return self._own(self.state(stored.cells, stored.dimensions, stored.prior(prior)))

    def _forgotten(self, state: State, keep: float) -> State:
        d = state.dimensions
        work = self.expand(self._own(state).cells, d)
        self.kernels.forget(work, self._start(state), keep)
        return self.state(self.compact(work, d), d, state.prior)

    def _start(self, state: State) -> Vector:
        """Where the user of `state` started, in the form the kernels work on."""
        return self.expand(self.initial(state.prior.grown(state.dimensions)), state.dimensions)

    def _own(self, state: State) -> State:
        """`state`, if it is one of this rule's."""
        if type(state) is not State:
            raise InvalidInput("state", f"must be a State, got {type(state).__name__}")
        if state.learner != self.slug:
            raise InvalidInput("state", f"is a state of {state.learner!r}, not of {self.slug!r}")
        if not self.fits(state.cells, state.dimensions):
            raise InvalidInput("state", f"{len(state.cells)} cells over {state.dimensions} tags are not a state of {self}")
        return state

    @final
    def state(self, cells: Vector, dimensions: int, prior: Prior) -> State:
        """These cells as a state of this rule; they are read-only from now on."""
        return State(self.slug, self.state_version, dimensions, sealed(cells), prior)


class FixedCells(Learner):
    """A rule whose kernels work on the cells as they are."""

    __slots__ = ()

    @abstractmethod
    def width(self, dimensions: int) -> int:
        """How many cells a state has."""

    @final
    def fits(self, cells: Vector, dimensions: int) -> bool:
        return len(cells) == self.width(dimensions)

    @final
    def expand(self, cells: Vector, dimensions: int) -> Vector:
        return cells.copy()

    @final
    def compact(self, work: Vector, dimensions: int) -> Vector:
        return work

    @final
    def room(self, dimensions: int, swipes: int) -> int:
        return self.width(dimensions)


class ProbabilisticLearner(Learner):
    """A learner that says how likely a like is."""

    __slots__ = ()

    @abstractmethod
    def probability(self, state: State, features: ArrayLike, appeal: ArrayLike = 0.0) -> Scores:
        """The probability of a like for each row of `features`; one number for one vector."""


class BeliefLearner(ProbabilisticLearner):
    """A learner that knows how sure it is: a normal belief over (tags, threshold, appeal where used)."""

    __slots__ = ()

    @abstractmethod
    def coordinates(self, features: ArrayLike, appeal: ArrayLike = 0.0) -> Matrix:
        """The rows the belief is about: a mean or a draw times one of these is a score."""

    @abstractmethod
    def probabilities_by(self, states: Sequence[State], features: ArrayLike, appeal: float = 0.0) -> Vector:
        """The probability that each of many users likes one candidate."""

    @abstractmethod
    def mean(self, state: State) -> Vector:
        """The belief's mean."""

    @abstractmethod
    def covariance(self, state: State) -> Matrix:
        """The belief's covariance, as a full matrix."""

    @abstractmethod
    def carelessness(self, state: State) -> float:
        """The share of this user's swipes that say the opposite of what they feel, as far as it shows."""

    @abstractmethod
    def draws(self, state: State, count: int, rng: np.random.Generator) -> Matrix:
        """Tastes drawn from the belief, a row each."""

    @final
    def draw(self, state: State, rng: np.random.Generator) -> Vector:
        """One taste drawn from the belief."""
        return np.asarray(self.draws(state, 1, rng)[0])

    @final
    def forget(self, state: State, keep: float) -> State:
        """Move towards the prior: `keep` = 1 keeps everything, 0 starts anew."""
        return self._forgotten(state, checked("keep", keep, low=0.0, high=1.0))


def shaped(values: Vector, features: ArrayLike) -> Scores:
    """One value a row as a vector, or as a float where `features` is a single vector."""
    return values.reshape(np.shape(features)[:-1])[()]


def rows_of(features: ArrayLike, dimensions: int | None = None) -> Matrix:
    """`features` (one vector, or one a row) as checked rows."""
    rows = as_rows(features, "features")
    if dimensions is not None and rows.shape[1] != dimensions:
        raise InvalidInput("features", f"has {rows.shape[1]} values, the state has {dimensions} tags")
    bad = np.flatnonzero(~usable_rows(rows))
    if bad.size:
        raise InvalidInput("features", f"row {bad[0]}: {problem_with(rows[bad[0]])}")
    return rows
