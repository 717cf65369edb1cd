"""Monitors per session: norm and its bound, condition number of the Gram matrix, stability, swipes without effect."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.errors import check_number
from kaczmatch.core.labels import Label
from kaczmatch.core.swipes import AnyLog, ShownCandidate, SwipeLog
from kaczmatch.core.vectors import Integers, Vector, as_matrix
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.logs.grouping import group_by_user
from kaczmatch.learners.logs.replay import prior_for
from kaczmatch.learners.prior import AnyPrior, Prior
from kaczmatch.learners.rules.hinge import HingeLearner
from kaczmatch.learners.state import State


def tikhonov_step_bound(alpha: float, tags: int | None = None) -> float:
    """The longest step of TK per unit of residual.

    Over candidates with 1 to `tags` tags it is the largest √m/(m + α); over real-valued ones 1/(2√α). The paper's
    Proposition 2 has 1/(1 + α), which is too small for 0/1 tags once α > √2.
    """
    check_number("alpha", alpha, low=0.0)
    if tags is None:
        return 0.5 / math.sqrt(alpha) if alpha > 0.0 else math.inf
    best = {1, max(1, min(tags, math.floor(alpha))), max(1, min(tags, math.ceil(alpha)))}  # √m/(m + α) peaks at m = α
    return max(math.sqrt(m) / (m + alpha) for m in best)


def gram_condition(rows: ArrayLike, alpha: float = 0.0) -> float:
    """κ of AAᵀ + αI or, where there are more rows than tags, of AᵀA + αI, which is then solved; infinite where singular."""
    a = as_matrix(rows, "rows")
    eigenvalues = np.linalg.svd(a, compute_uv=False) ** 2 + alpha
    largest, smallest = float(eigenvalues.max()), float(eigenvalues.min())
    singular = smallest <= largest * max(a.shape) * np.finfo(np.float64).eps
    return math.inf if singular else largest / smallest


def direction_stability(before: Vector, after: Vector) -> float:
    """Δs: the cosine of the directions at the ends of two sessions in a row."""
    return float(before @ after)


class SessionReading(NamedTuple):
    """One session of one user."""

    user: Hashable
    session: Any
    swipes: int
    silent: int  # swipes without effect: r = 0 or, for rules without a residual, unchanged weights
    norm: float
    norm_bound: float | None  # what the norm cannot exceed, from the residuals so far; None for rules that have none
    condition: float  # κ of the session's Gram matrix
    stability: float | None  # Δs against the session before; None for the first


def monitor_sessions(learner: Learner, log: AnyLog, *, prior: AnyPrior | None = None) -> Iterator[SessionReading]:
    """Fold a log with live calls and report on every session of every user. Without sessions in the log, each user has one."""
    swipes = SwipeLog.of(log)
    return _readings(learner, swipes, prior_for(swipes, prior))


def _readings(learner: Learner, log: SwipeLog, origin: Prior) -> Iterator[SessionReading]:
    users, order, begin = group_by_user(log.user)
    for place, user in enumerate(users):
        gauge = _MonitoredState(learner, learner.start(origin))
        previous: Vector | None = None
        at: int | None = None
        for session in _sessions(log, order[begin[place] : begin[place + 1]]):
            silent = 0
            for row in session:
                if log.at is not None:
                    gauge.advance(0 if at is None else int(log.at[row]) - at)
                    at = int(log.at[row])
                silent += gauge.swipe(log.shown_candidate(row), 1 if log.label[row] > 0 else -1)
            gauge.end_session()
            direction = learner.direction(gauge.state)
            yield SessionReading(
                user,
                None if log.session is None else log.session[session[:1]].tolist()[0],
                len(session),
                silent,
                float(np.linalg.norm(gauge.preference)),
                gauge.bound,
                gram_condition(np.array([log.shown_candidate(row).features for row in session])),
                None if previous is None else direction_stability(previous, direction),
            )
            previous = direction


class _MonitoredState:
    """One user's state as it is folded live, with an upper bound of its norm."""

    def __init__(self, learner: Learner, state: State) -> None:
        self.learner = learner
        self.state = state
        self.bound = float(np.linalg.norm(self.preference)) if isinstance(learner, HingeLearner) else None
        self._rows: list[Vector] = []
        self._residuals: list[float] = []

    @property
    def preference(self) -> Vector:
        return self.learner.weights(self.state.cells, self.state.dimensions)

    def swipe(self, candidate: ShownCandidate, label: Label) -> bool:
        """Learn, and return whether the swipe was without effect."""
        before = self.preference
        if isinstance(self.learner, HingeLearner):
            theta = self.learner.theta(self.state.cells, self.state.dimensions)
        self.state = self.learner.swipe(self.state, candidate, label)
        if not isinstance(self.learner, HingeLearner):
            return np.array_equal(before, self.preference)
        if not candidate.features.any():
            return True
        r = self.learner.hinge.residual(before, candidate.features, label, theta)
        self._rows.append(candidate.features)
        self._residuals.append(r)
        self._tighten(self.learner)
        return r == 0.0

    def advance(self, microseconds: int) -> None:
        self.state = self.learner.advance(self.state, timedelta(microseconds=microseconds))

    def end_session(self) -> None:
        self.state = self.learner.end_session(self.state)
        if isinstance(self.learner, HingeLearner):
            self._tighten(self.learner)

    def _tighten(self, learner: HingeLearner) -> None:
        nothing_pending = len(self.state.cells) == learner.width(self.state.dimensions)
        if self.bound is not None and self._rows and nothing_pending:
            bound = learner.norm_bound(self.bound, np.array(self._rows), np.array(self._residuals))
            self.bound = bound * (1.0 + 1e-12)  # room for rounding
            self._rows, self._residuals = [], []


def _sessions(log: SwipeLog, rows: Integers) -> Iterator[Integers]:
    """One user's rows, session by session."""
    if log.session is None:
        yield rows
        return
    session = log.session[rows]
    yield from np.split(rows, np.flatnonzero(session[1:] != session[:-1]) + 1)
