"""The fold: swipes in order change a user's cells. Live it takes an event at a time, of a log all users' swipes in compiled code.

Both run a learner's kernels in the same steps, so they give the same bits. Sessions, time, growth and a change of taste are
handled here and in `Learner`, not by rules.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, final

import numpy as np
from numba import types
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled, compiled_as
from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.swipes import ShownCandidate, SwipeLog
from kaczmatch.core.vectors import Column, Integers, Matrix, Vector, cosine, problem_with
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.kernels import (
    BAD_FEATURES,
    CELLS,
    END_SESSION_SIGNATURE,
    FORGET_SIGNATURE,
    INPUT,
    PREDICT_SIGNATURE,
    SWIPE_SIGNATURE,
    TASTE_CHANGED,
    decay_factor,
)
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.state import State

# Live

_SESSIONS_KEPT: Final = 8
_NO_TIME: Final = timedelta(0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class TrackedState:
    """What was learned about one user, with what is counted along."""

    state: State
    swipes: int = 0  # that were learned from
    at: datetime | None = None  # the last event
    session_direction: bytes = b""  # the direction at the end of the last session, float32
    stability: tuple[float, ...] = ()  # Δs of the last sessions


@final
@dataclass(frozen=True, slots=True, eq=False)
class EventFold:
    """A learner and the prior where users start. Each step takes a tracked state and returns the next one.

    Events may come with more terms than a state has: the state grows first. Time never runs back within a state.
    """

    learner: Learner
    prior: Prior
    start: TrackedState = field(init=False, repr=False)  # before the first event

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", TrackedState(self.learner.start(self.prior)))

    def swipe(self, before: TrackedState, seen: ShownCandidate, label: int, at: datetime) -> TrackedState:
        """After a like (+1) or a pass (-1)."""
        state, at = self.brought_to(before, at, len(seen.features))
        state = self.learner.swipe(state, seen, label)
        return TrackedState(state, before.swipes + 1, at, before.session_direction, before.stability)

    def end_session(self, before: TrackedState, at: datetime, dimensions: int) -> TrackedState:
        """After the end of a session, which is compared with the one before."""
        state, at = self.brought_to(before, at, dimensions)
        state = self.learner.end_session(state)
        now = self.learner.direction(state)
        earlier = np.frombuffer(before.session_direction, np.float32).astype(np.float64)
        stability = before.stability
        if len(earlier):
            stability = (*stability, _stability(earlier, now))[-_SESSIONS_KEPT:]
        return TrackedState(state, before.swipes, at, now.astype(np.float32).tobytes(), stability)

    def wait(self, before: TrackedState, at: datetime, dimensions: int) -> TrackedState:
        """After an event that teaches nothing, such as a skip: only time has passed."""
        state, at = self.brought_to(before, at, dimensions)
        return replace(before, state=state, at=at)

    def reset(self, at: datetime) -> TrackedState:
        """Everything is forgotten."""
        return replace(self.start, at=at)

    def brought_to(self, before: TrackedState, at: datetime, dimensions: int) -> tuple[State, datetime]:
        """The state over so many terms, at a later moment."""
        state = before.state
        if dimensions > state.dimensions:
            state = self.learner.grow(state, dimensions)
        if before.at is None:
            return state, at
        return self.learner.advance(state, max(at - before.at, _NO_TIME)), max(at, before.at)


def _stability(before: Vector, now: Vector) -> float:
    """Δs: the cosine between two directions; a vocabulary may have grown between them."""
    return float(cosine(np.append(before, np.zeros(len(now) - len(before))), now))


# Of a log

NOTHING_LEFT_OUT: Final = -1
NO_SESSION: Final = object()

# (cells, session, microseconds) after a user's last swipe: what is needed to continue with the next part of a log.
FoldProgress = tuple[Vector, Any, int | None]

_ROWS = types.Array(types.float64, 2, "C", readonly=True)
_INTEGERS = types.Array(types.int64, 1, "C", readonly=True)
_FLAGS = types.Array(types.boolean, 1, "C", readonly=True)
_WATCHED = types.Array(types.float64, 2, "C")


@compiled_as(
    types.int64(
        types.FunctionType(SWIPE_SIGNATURE),
        types.FunctionType(END_SESSION_SIGNATURE),
        types.FunctionType(FORGET_SIGNATURE),
        types.FunctionType(PREDICT_SIGNATURE),
        INPUT,
        types.float64,
        types.float64,
        _WATCHED,
        _ROWS,
        _INTEGERS,
        _INTEGERS,
        _INTEGERS,
        types.boolean,
        _ROWS,
        _INTEGERS,
        INPUT,
        _ROWS,
        _FLAGS,
        _INTEGERS,
        CELLS,
        _WATCHED,
    )
)
def _fold(
    swipe: Any,
    end_session: Any,
    forget: Any,
    predict: Any,
    parameters: Vector,
    half_life: float,
    quiet: float,
    work: Matrix,
    starts: Matrix,
    begin: Integers,
    end: Integers,
    left_out: Integers,
    end_last: bool,
    features: Matrix,
    row: Integers,
    label: Vector,
    said: Matrix,
    session_ended: NDArray[np.bool_],
    gap: Integers,
    before: Vector,
    after: Matrix,
) -> int:
    """Returns the swipe that could not be folded, or -1."""
    d = features.shape[1]
    has_sessions = len(session_ended) > 0
    timed = len(gap) > 0 and (half_life < math.inf or quiet < math.inf)
    for u in range(work.shape[0]):
        cells = work[u]
        start = starts[u if len(starts) > 1 else 0]
        passed = 0
        for i in range(begin[u], end[u]):
            if has_sessions and i == begin[u] and session_ended[i]:
                end_session(cells, d, parameters)
            if timed:
                passed += gap[i]
            if i != left_out[u]:
                if passed / 1e6 >= quiet:
                    end_session(cells, d, parameters)
                if passed > 0 and half_life < math.inf:
                    forget(cells, start, decay_factor(passed, half_life))
                passed = 0
                if len(before) > 0:
                    before[i] = predict(cells, features[row[i]], said[i], parameters)
                answer = swipe(cells, features[row[i]], said[i], label[i], parameters)
                if answer == BAD_FEATURES:
                    return i
                if answer == TASTE_CHANGED:
                    forget(cells, start, 0.0)
            if end_last if i + 1 == end[u] else has_sessions and session_ended[i + 1]:
                end_session(cells, d, parameters)
            if len(after) > 0:
                after[i] = cells[: after.shape[1]]
    return -1


@final
@dataclass(frozen=True, slots=True)
class GroupedSwipes:
    """Checked swipes, each user's next to each other and in order. Columns that the log does not have are empty."""

    features: Matrix
    candidate_row: Integers
    label: Vector
    said: Matrix  # by others about the candidate; no columns where nothing is known
    session_ended: NDArray[np.bool_]  # whether a session ended between the swipe before and this one
    gap: Integers  # microseconds since the swipe before

    @classmethod
    def of(cls, log: SwipeLog, order: Integers, begin: Integers, before: Sequence[FoldProgress | None]) -> GroupedSwipes:
        """Rows `order` of a log, user u's from begin[u] to begin[u + 1], after what came before for each."""
        return cls(
            log.features,
            order if log.candidate_row is None else log.candidate_row[order],
            log.label[order],
            np.empty((len(order), 0)) if log.others is None else log.others[order],
            _session_ends(log.session, order, begin, before),
            _gaps(log.at, order, begin, before),
        )

    def fold(
        self,
        learner: Learner,
        work: Matrix,
        starts: Matrix,
        begin: Integers,
        end: Integers,
        *,
        left_out: Integers | None = None,
        end_last: bool = False,
        before: Vector | None = None,
        after: Matrix | None = None,
    ) -> None:
        """Fold swipes begin[u] to end[u], except left_out[u], into row u of `work`; `end_last` ends the session after them.

        `starts` are working cells at the start, one row each or one for all. Two arrays, a row per swipe, watch the fold where
        they are given: `before` receives the probability of a like that the learner gave just before, `after` the first of the
        working cells just after, as many as it has columns.
        """
        failed = _fold(
            *learner.kernels,
            learner.parameters,
            learner.half_life,
            learner.session_timeout,
            work,
            starts,
            begin,
            end,
            np.full(len(work), NOTHING_LEFT_OUT) if left_out is None else left_out,
            end_last,
            self.features,
            self.candidate_row,
            self.label,
            self.said,
            self.session_ended,
            self.gap,
            np.empty(0) if before is None else before,
            np.empty((0, 0)) if after is None else after,
        )
        if failed >= 0:  # a log is checked when it is made, but the caller may have changed its arrays since
            raise InvalidInput(
                "features", f"changed since the log was made: {problem_with(self.features[self.candidate_row[failed]])}"
            )


def _session_ends(
    session: Column | None, order: Integers, begin: Integers, before: Sequence[FoldProgress | None]
) -> NDArray[np.bool_]:
    """Whether a user's session ended just before each swipe."""
    if session is None:
        return np.empty(0, np.bool_)
    ordered = session[order]
    ends = np.zeros(len(order), np.bool_)
    ends[1:] = ordered[1:] != ordered[:-1]
    firsts = ordered[begin[:-1]].tolist()
    ends[begin[:-1]] = [
        known is not None and known[1] is not NO_SESSION and known[1] != first
        for known, first in zip(before, firsts, strict=True)
    ]
    return ends


def _gaps(at: Integers | None, order: Integers, begin: Integers, before: Sequence[FoldProgress | None]) -> Integers:
    """Microseconds since the same user's swipe before."""
    if at is None:
        return np.empty(0, np.int64)
    times = at[order]
    gaps = np.zeros(len(order), np.int64)
    gaps[1:] = np.diff(times)
    firsts = times[begin[:-1]].tolist()
    gaps[begin[:-1]] = [
        first - known[2] if known is not None and known[2] is not None else 0 for known, first in zip(before, firsts, strict=True)
    ]
    if (gaps < 0).any():
        row = int(order[gaps < 0].min())
        raise InvalidInput("at", f"row {row}: is before the same user's swipe before it; sort the log by time")
    return gaps


# Which rows of a log belong to which user


def group_by_user(users: Column) -> tuple[list[Hashable], Integers, Integers]:
    """The users, the rows sorted by user (stable), and where each user's rows begin, plus the end of the last."""
    if users.dtype.kind in "iu" and len(users):
        lowest, highest = int(users.min()), int(users.max())
        if highest - lowest < 2 * len(users) + 1024:  # dense integers need no look-up
            wide = users if users.dtype.kind == "u" else users.astype(np.int64, copy=False)
            numbers = (wide - wide.dtype.type(lowest)).astype(np.int64, copy=False)
            order, begin = _counting_sort(numbers, highest - lowest + 1)
            present = np.flatnonzero(begin[1:] > begin[:-1])
            return [number + lowest for number in present.tolist()], order, np.append(begin[present], len(users))
    if users.dtype.kind == "O":  # any hashable identifiers, in order of appearance
        codes_by_user: dict[Hashable, int] = {}
        try:
            codes = np.array([codes_by_user.setdefault(user, len(codes_by_user)) for user in users.tolist()], np.int64)
        except TypeError:
            raise InvalidInput("user", "must be identifiers that can be keys, such as numbers or texts") from None
        names = list(codes_by_user)
    else:
        found, codes = np.unique(users, return_inverse=True)
        names = found.tolist()
    return names, *_counting_sort(codes.astype(np.int64, copy=False), len(names))


def user_numbers(users: Column) -> tuple[list[Hashable], Integers]:
    """The users, and the number of each row's user among them."""
    names, order, begin = group_by_user(users)
    numbers = np.empty(len(users), np.int64)
    numbers[order] = np.repeat(np.arange(len(names)), np.diff(begin))
    return names, numbers


@compiled
def _counting_sort(codes: Integers, n: int) -> tuple[Integers, Integers]:
    begin = np.zeros(n + 1, np.int64)
    for code in codes:
        begin[code + 1] += 1
    for i in range(n):
        begin[i + 1] += begin[i]
    order = np.empty(len(codes), np.int64)
    place = begin[:-1].copy()
    for i in range(len(codes)):
        order[place[codes[i]]] = i
        place[codes[i]] += 1
    return order, begin
