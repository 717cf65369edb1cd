"""The compiled functions a learner is made of, and their fixed signatures.

A kernel changes one user's cells in place. Live calls hand it a copy of a state's cells, replay hands it a row of working
memory: both reach the same machine code, which is why they agree bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from numba import types

from kaczmatch.core.compiled import compiled, compiled_as
from kaczmatch.core.vectors import Vector

CELLS = types.Array(types.float64, 1, "C")
GIVEN = types.Array(types.float64, 1, "C", readonly=True)

SWIPE = types.int64(CELLS, GIVEN, types.float64, types.float64, GIVEN)
END_SESSION = types.int64(CELLS, types.int64, GIVEN)
FORGET = types.int64(CELLS, GIVEN, types.float64)
FORETELL = types.float64(CELLS, GIVEN, types.float64, GIVEN)

# What a swipe kernel answers: done; why it left the cells as they were; or done, and start anew: the taste has changed.
DONE = 0
BAD_FEATURES = 1
CHANGED = 2


swipe_kernel = compiled_as(SWIPE)  # (cells, features, appeal, label, parameters) -> DONE | BAD_FEATURES | CHANGED
end_session_kernel = compiled_as(END_SESSION)  # (cells, dimensions, parameters) -> DONE
forget_kernel = compiled_as(FORGET)  # (cells, cells at the start, keep) -> DONE
foretell_kernel = compiled_as(FORETELL)  # (cells, features, appeal, parameters) -> probability of a like; changes nothing


@end_session_kernel
def nothing_pending(cells: Vector, dimensions: int, parameters: Vector) -> int:
    """For rules that learn at every swipe: the end of a session changes nothing."""
    return DONE


@forget_kernel
def never_forgets(cells: Vector, start: Vector, keep: float) -> int:
    """For rules without a notion of time."""
    return DONE


@foretell_kernel
def says_nothing(cells: Vector, features: Vector, appeal: float, parameters: Vector) -> float:
    """For rules that only order."""
    return math.nan


@compiled
def kept_after(microseconds: int, half_life: float) -> float:
    """How much is kept after some time: a half after each half-life (in seconds)."""
    return math.pow(2.0, -(microseconds / 1e6) / half_life)


class Kernels(NamedTuple):
    """What a learner runs, live and in replay."""

    swipe: Callable[[Vector, Vector, float, float, Vector], int]
    end_session: Callable[[Vector, int, Vector], int] = nothing_pending
    forget: Callable[[Vector, Vector, float], int] = never_forgets
    foretell: Callable[[Vector, Vector, float, Vector], float] = says_nothing
