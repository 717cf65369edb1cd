"""Kernels: the compiled functions that a learner is made of, and their fixed signatures.

Cells are the float64 numbers inside a state. A kernel is a compiled function that changes the cells of one user in place.
Live calls hand it a copy of a state's cells. Replay hands it a row of working memory. Both run the same machine code, so they
agree bit for bit.

`said` is what is known of the candidate beside the tags: appeal as one number, or directions, traits and doubts about these, or
nothing where nothing is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from numba import types

from kaczmatch.core.compiled import compiled_as, compiled_short
from kaczmatch.core.vectors import Vector

CELLS = types.Array(types.float64, 1, "C")
INPUT = types.Array(types.float64, 1, "C", readonly=True)

SWIPE_SIGNATURE = types.int64(CELLS, INPUT, INPUT, types.float64, INPUT)
END_SESSION_SIGNATURE = types.int64(CELLS, types.int64, INPUT)
FORGET_SIGNATURE = types.int64(CELLS, INPUT, types.float64)
PREDICT_SIGNATURE = types.float64(CELLS, INPUT, INPUT, INPUT)
_ROWS = types.Array(types.float64, 2, "C", readonly=True)

# What a swipe kernel returns. After BAD_FEATURES the cells are unchanged. After TASTE_CHANGED the caller starts again from the
# prior.
DONE = 0
BAD_FEATURES = 1
TASTE_CHANGED = 2


# (cells, features, said, label, parameters) -> DONE | BAD_FEATURES | TASTE_CHANGED
swipe_kernel = compiled_as(SWIPE_SIGNATURE, short=True)
end_session_kernel = compiled_as(END_SESSION_SIGNATURE, short=True)  # (cells, dimensions, parameters) -> DONE
forget_kernel = compiled_as(FORGET_SIGNATURE, short=True)  # (cells, cells at the start, keep) -> DONE
# (cells, features, said, parameters) -> probability of a like; changes nothing
predict_kernel = compiled_as(PREDICT_SIGNATURE, short=True)
predict_rows_kernel = compiled_as(CELLS(CELLS, _ROWS, _ROWS, INPUT))  # the same of many candidates


@end_session_kernel
def end_session_noop(cells: Vector, dimensions: int, parameters: Vector) -> int:
    """For rules that learn at every swipe. The end of a session changes nothing."""
    return DONE


@forget_kernel
def forget_noop(cells: Vector, start: Vector, keep: float) -> int:
    """For rules that never forget."""
    return DONE


@predict_kernel
def predict_unsupported(cells: Vector, features: Vector, said: Vector, parameters: Vector) -> float:
    """For rules that rank but know no probability: NaN."""
    return math.nan


@compiled_short
def decay_factor(microseconds: int, half_life: float) -> float:
    """The share that is kept after some time: one half per half-life (in seconds)."""
    return math.pow(2.0, -(microseconds / 1e6) / half_life)


class Kernels(NamedTuple):
    """The kernels of a learner, live and in replay."""

    swipe: Callable[[Vector, Vector, Vector, float, Vector], int]
    end_session: Callable[[Vector, int, Vector], int] = end_session_noop
    forget: Callable[[Vector, Vector, float], int] = forget_noop
    predict: Callable[[Vector, Vector, Vector, Vector], float] = predict_unsupported
