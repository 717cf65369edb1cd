"""Kernels: the compiled functions that a learner is made of, and their fixed signatures.

Cells are the float64 numbers inside a state. A kernel is a compiled function that changes the cells of one user in place.
Live calls hand it a copy of a state's cells. Replay hands it a row of working memory. Both run the same machine code, so they
agree bit for bit.

`said` is what others said of the candidate: appeal as one number, traits with their doubts as 2K, nothing where nothing is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types

from kaczmatch.core.compiled import compiled, compiled_as
from kaczmatch.core.vectors import Matrix, Vector

CELLS = types.Array(types.float64, 1, "C")
INPUT = types.Array(types.float64, 1, "C", readonly=True)

SWIPE_SIGNATURE = types.int64(CELLS, INPUT, INPUT, types.float64, INPUT)
END_SESSION_SIGNATURE = types.int64(CELLS, types.int64, INPUT)
FORGET_SIGNATURE = types.int64(CELLS, INPUT, types.float64)
PREDICT_SIGNATURE = types.float64(CELLS, INPUT, INPUT, INPUT)

# What a swipe kernel returns. After BAD_FEATURES the cells are unchanged. After TASTE_CHANGED the caller starts again from the
# prior.
DONE = 0
BAD_FEATURES = 1
TASTE_CHANGED = 2


swipe_kernel = compiled_as(SWIPE_SIGNATURE)  # (cells, features, said, label, parameters) -> DONE | BAD_FEATURES | CHANGED
end_session_kernel = compiled_as(END_SESSION_SIGNATURE)  # (cells, dimensions, parameters) -> DONE
forget_kernel = compiled_as(FORGET_SIGNATURE)  # (cells, cells at the start, keep) -> DONE
predict_kernel = compiled_as(PREDICT_SIGNATURE)  # (cells, features, said, parameters) -> probability of a like; changes nothing


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


@compiled
def decay_factor(microseconds: int, half_life: float) -> float:
    """The share that is kept after some time: one half per half-life (in seconds)."""
    return math.pow(2.0, -(microseconds / 1e6) / half_life)


_ROWS = types.Array(types.float64, 2, "C", readonly=True)


# With its signature: the code for a function that is given otherwise would be compiled anew in every process.
@compiled_as(CELLS(types.FunctionType(PREDICT_SIGNATURE), CELLS, _ROWS, _ROWS, INPUT))
def predict_candidates(predict: Any, cells: Vector, features: Matrix, said: Matrix, parameters: Vector) -> Vector:
    """The probability that a user likes each of many candidates."""
    found = np.empty(len(features))
    for i in range(len(features)):
        found[i] = predict(cells, features[i], said[i], parameters)
    return found


class Kernels(NamedTuple):
    """The kernels of a learner, live and in replay."""

    swipe: Callable[[Vector, Vector, Vector, float, Vector], int]
    end_session: Callable[[Vector, int, Vector], int] = end_session_noop
    forget: Callable[[Vector, Vector, float], int] = forget_noop
    predict: Callable[[Vector, Vector, Vector, Vector], float] = predict_unsupported
