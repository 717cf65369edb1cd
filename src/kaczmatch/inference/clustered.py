"""Ratios of sums over clusters: decisions of one person are dependent, decisions of different people are independent."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from kaczmatch.core.vectors import Vector


class RatioEstimate(NamedTuple):
    """An estimate with its confidence interval (95 % unless said otherwise)."""

    value: float
    low: float
    high: float

    def covers(self, truth: float) -> bool:
        return self.low <= truth <= self.high


def clustered_ratio(above: Vector, below: Vector, *, level: float = 0.95) -> RatioEstimate:
    """Σ above / Σ below, one value per cluster each, with an interval from the jackknife over clusters.

    Leaving out the largest cluster may move the ratio a lot. The jackknife sees that; the usual sandwich estimator does not.
    """
    clusters, total = len(above), float(below.sum())
    value = float(above.sum()) / total if total else math.nan
    without = total - below
    if clusters < 2 or not (without > 0.0).all():
        return RatioEstimate(value, -math.inf, math.inf)
    left = (above.sum() - above) / without
    spread = math.sqrt((clusters - 1) / clusters * float(np.square(left - left.mean()).sum()))
    reach = float(stdtrit(clusters - 1, 0.5 + level / 2.0)) * spread
    return RatioEstimate(value, value - reach, value + reach)
