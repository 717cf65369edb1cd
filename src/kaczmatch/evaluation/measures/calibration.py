"""Calibration: of what is predicted at 70 %, are 70 in a hundred liked?"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.vectors import Vector

BINS = 10
MATTERS = 0.01  # nats per swipe: a difference below that moves a probability by less than anybody would notice
_SUREST = 1e-12


class Bin(NamedTuple):
    """The swipes whose probability fell into one tenth."""

    predicted: float
    observed: float
    swipes: int
    low: float  # 95 % interval of what was observed (Wilson)
    high: float


def losses(probability: Vector, like: NDArray[np.bool_]) -> Vector:
    """Nats lost on each swipe."""
    likely = np.clip(probability, _SUREST, 1.0 - _SUREST)
    return -np.log(np.where(like, likely, 1.0 - likely))


def reliability(probability: Vector, like: NDArray[np.bool_]) -> list[Bin]:
    """Ten bins of equal width, the empty ones left out."""
    place = np.minimum((probability * BINS).astype(np.int64), BINS - 1)
    found = []
    for one in range(BINS):
        inside = place == one
        swipes = int(inside.sum())
        if swipes:
            observed = float(like[inside].mean())
            found.append(Bin(float(probability[inside].mean()), observed, swipes, *_wilson(observed, swipes)))
    return found


def calibration_error(probability: Vector, like: NDArray[np.bool_]) -> float:
    """Mean distance of predicted and observed over the bins, weighted by their swipes."""
    bins = reliability(probability, like)
    total = sum(one.swipes for one in bins)
    return sum(one.swipes * abs(one.predicted - one.observed) for one in bins) / total if total else math.nan


def _wilson(share: float, n: int) -> tuple[float, float]:
    z = 1.959964
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return middle - half, middle + half
