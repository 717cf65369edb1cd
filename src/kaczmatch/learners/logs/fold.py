"""The fold: one compiled loop that takes users' swipes in order and updates their cells, with any learner's kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numba import types
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled_as
from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.swipes import SwipeLog
from kaczmatch.core.vectors import Column, Integers, Matrix, Vector, problem_with
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

NOTHING_LEFT_OUT = -1

_ROWS = types.Array(types.float64, 2, "C", readonly=True)
_INTEGERS = types.Array(types.int64, 1, "C", readonly=True)
_FLAGS = types.Array(types.boolean, 1, "C", readonly=True)


@compiled_as(
    types.int64(
        types.FunctionType(SWIPE_SIGNATURE),
        types.FunctionType(END_SESSION_SIGNATURE),
        types.FunctionType(FORGET_SIGNATURE),
        types.FunctionType(PREDICT_SIGNATURE),
        types.Array(types.float64, 2, "C"),
        INPUT,
        _INTEGERS,
        _INTEGERS,
        _INTEGERS,
        _ROWS,
        _INTEGERS,
        INPUT,
        _ROWS,
        _FLAGS,
        _INTEGERS,
        types.float64,
        types.float64,
        INPUT,
        CELLS,
    )
)
def _fold(
    swipe: Any,
    end_session: Any,
    forget: Any,
    predict: Any,
    work: Matrix,
    start: Vector,
    begin: Integers,
    end: Integers,
    left_out: Integers,
    features: Matrix,
    row: Integers,
    label: Vector,
    said: Matrix,
    session_ended: NDArray[np.bool_],
    gap: Integers,
    half_life: float,
    quiet: float,
    parameters: Vector,
    predictions: Vector,
) -> int:
    """Returns the swipe that could not be folded, or -1."""
    d = features.shape[1]
    predicting = len(predictions) > 0
    has_sessions = len(session_ended) > 0
    timed = len(gap) > 0 and (half_life < math.inf or quiet < math.inf)
    for u in range(work.shape[0]):
        cells = work[u]
        ended = False
        passed = 0
        for i in range(begin[u], end[u]):
            if has_sessions:
                ended = ended or session_ended[i]
            if timed:
                passed += gap[i]
            if i == left_out[u]:
                continue
            if ended or passed / 1e6 >= quiet:
                end_session(cells, d, parameters)
            if passed > 0 and half_life < math.inf:
                forget(cells, start, decay_factor(passed, half_life))
            if predicting:
                predictions[i] = predict(cells, features[row[i]], said[i], parameters)
            answer = swipe(cells, features[row[i]], said[i], label[i], parameters)
            if answer == BAD_FEATURES:
                return i
            if answer == TASTE_CHANGED:
                forget(cells, start, 0.0)
            ended = False
            passed = 0
    return -1


# (cells, session, microseconds) after a user's last swipe: what is needed to continue with the next part of a log.
FoldProgress = tuple[Vector, Any, int | None]

NO_SESSION = object()


@final
@dataclass(frozen=True, slots=True)
class GroupedSwipes:
    """Checked swipes, each user's next to each other and in order. Columns that the log does not have are empty."""

    features: Matrix
    candidate_row: Integers
    label: Vector
    said: Matrix  # by others about the candidate; no columns where nothing is known
    reference_end_session: NDArray[np.bool_]  # whether a session ended between the swipe before and this one
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
        start: Vector,
        begin: Integers,
        end: Integers,
        *,
        left_out: Integers | None = None,
        predictions: Vector | None = None,
    ) -> None:
        """Fold swipes begin[u] to end[u], except left_out[u], into row u of `work`.

        Where `predictions` is given, it receives the probability of a like for each swipe, just before the swipe is learned from.
        """
        failed = _fold(
            *learner.kernels,
            work,
            start,
            begin,
            end,
            np.full(len(work), NOTHING_LEFT_OUT) if left_out is None else left_out,
            self.features,
            self.candidate_row,
            self.label,
            self.said,
            self.reference_end_session,
            self.gap,
            learner.half_life,
            learner.session_timeout,
            learner.parameters,
            np.empty(0) if predictions is None else predictions,
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
