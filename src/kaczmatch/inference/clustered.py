"""Ratios of sums whose parts come in clusters: what one person decided is not independent, what two people decided is."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from kaczmatch.core.vectors import Vector


class IntervalEstimate(NamedTuple):
    """A figure and the interval that covers the truth in 95 of 100 studies like this one."""

    value: float
    low: float
    high: float

    def covers(self, truth: float) -> bool:
        return self.low <= truth <= self.high


def clustered_ratio(above: Vector, below: Vector, *, level: float = 0.95) -> IntervalEstimate:
    """Σ above / Σ below, a value a cluster each; the spread is what leaving out one cluster at a time does (jackknife).

    Without the largest cluster a ratio may move a lot, and the jackknife sees that; the usual sandwich does not.
    """
    clusters, total = len(above), float(below.sum())
    value = float(above.sum()) / total if total else math.nan
    without = total - below
    if clusters < 2 or not (without > 0.0).all():
        return IntervalEstimate(value, -math.inf, math.inf)
    left = (above.sum() - above) / without
    spread = math.sqrt((clusters - 1) / clusters * float(np.square(left - left.mean()).sum()))
    reach = float(stdtrit(clusters - 1, 0.5 + level / 2.0)) * spread
    return IntervalEstimate(value, value - reach, value + reach)
