"""Confidence sequences: intervals that hold at all looks together, however often one looks and whenever one stops.

A usual 95 % interval that is looked at again and again excludes the truth at some look much more often than once in twenty.
These are asymptotic confidence sequences from a normal mixture (Robbins 1970; Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas
2024): after n units, with s the standard error of the estimate,

    estimate ± s √( 2 (1 + 1/(nρ²)) log( √(nρ² + 1) / α ) )

with ρ such that they are narrowest at a planned n. They are about half as wide again as a usual interval.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.vectors import Vector
from kaczmatch.inference.clustered import RatioEstimate

ALPHA: Final = 0.05
PLANNED_UNITS: Final = 500  # the number of units at which intervals are narrowest
MIN_UNITS: Final = 30  # per arm, before there is an estimate: the theory is asymptotic
MIN_EFFECTIVE_UNITS: Final = 8.0  # that contribute to the variance: one match in thirty people does not measure it


class ConfidenceSequence(NamedTuple):
    """An estimate and its interval after each unit; NaN where there is none yet."""

    value: Vector
    low: Vector
    high: Vector

    def last(self) -> RatioEstimate | None:
        """The latest estimate, or None."""
        if not len(self.value) or math.isnan(self.value[-1]):
            return None
        return RatioEstimate(float(self.value[-1]), float(self.low[-1]), float(self.high[-1]))


def mean_sequence(values: Vector, *, alpha: float = ALPHA) -> ConfidenceSequence:
    """The mean of all units so far, after each unit."""
    value, squared = _moments(values, np.ones(len(values), np.bool_))
    return _confidence_sequence(value, squared, np.arange(1, len(values) + 1), alpha)


def difference_sequence(values: Vector, treated: NDArray[np.bool_], *, alpha: float = ALPHA) -> ConfidenceSequence:
    """The mean of the treated units minus that of the others, after each unit."""
    treated_mean, treated_error = _moments(values, treated)
    other_mean, other_error = _moments(values, ~treated)
    return _confidence_sequence(treated_mean - other_mean, treated_error + other_error, np.arange(1, len(values) + 1), alpha)


def _moments(values: Vector, counted: NDArray[np.bool_]) -> tuple[Vector, Vector]:
    """Mean and squared standard error of the counted units, after each unit.

    There is no estimate from few units, nor while nearly all are alike, because the variance is not known then. With d the
    distance of a unit from the mean, (Σd²)²/Σd⁴ is the effective number of units that make up the variance: n/3 for a normal
    distribution, the number of exceptions where few units differ.
    """
    n = np.cumsum(counted).astype(np.float64)
    total, squares, cubes, fourths = (np.cumsum(np.where(counted, values**power, 0.0)) for power in (1, 2, 3, 4))
    average = total / np.maximum(n, 1.0)
    scatter = squares - total * average
    tails = fourths - 4.0 * average * cubes + 6.0 * average**2 * squares - 3.0 * n * average**4
    known = (n >= MIN_UNITS) & (scatter > 1e-9 * squares) & (scatter**2 >= MIN_EFFECTIVE_UNITS * tails)
    return np.where(known, average, np.nan), np.divide(scatter, n * (n - 1.0), out=np.full(len(n), np.nan), where=known)


def _confidence_sequence(value: Vector, squared_error: Vector, units: NDArray[np.int64], alpha: float) -> ConfidenceSequence:
    planned = -2.0 * math.log(alpha)
    grown = units * (planned + math.log(planned) + 1.0) / PLANNED_UNITS
    reach = np.sqrt(squared_error * 2.0 * (1.0 + 1.0 / grown) * np.log(np.sqrt(grown + 1.0) / alpha))
    return ConfidenceSequence(value, value - reach, value + reach)
