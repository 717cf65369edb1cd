"""Bootstrap over users: intervals of means, and of paired differences between two means."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from kaczmatch.core.vectors import Matrix, Vector

RESAMPLES = 2_000
_DRAWN_AT_ONCE = 4_000_000  # counts held in memory


class Interval(NamedTuple):
    """A mean and the middle 95 % of its resamples."""

    mean: float
    low: float
    high: float

    @property
    def above_zero(self) -> bool:
        return self.low > 0.0

    @property
    def below_zero(self) -> bool:
        return self.high < 0.0


class Resamples:
    """Means of each column of `values` (users x contenders) over resampled users, the same for all columns, which pairs them."""

    def __init__(self, values: Matrix, rng: np.random.Generator) -> None:
        users = len(values)
        self._mean: Vector = values.mean(axis=0) if users else np.full(values.shape[1], np.nan)
        step = max(1, _DRAWN_AT_ONCE // max(users, 1))
        parts = []
        for first in range(0, RESAMPLES if users else 0, step):
            counts = rng.multinomial(users, np.full(users, 1.0 / users), min(step, RESAMPLES - first))
            parts.append(counts @ values / users)
        self._drawn: Matrix = np.concatenate(parts) if parts else np.full((1, values.shape[1]), np.nan)

    def mean(self, column: int) -> Interval:
        return _interval(float(self._mean[column]), self._drawn[:, column])

    def difference(self, column: int, other: int) -> Interval:
        """Column minus other column, user by user."""
        return _interval(float(self._mean[column] - self._mean[other]), self._drawn[:, column] - self._drawn[:, other])

    def deviations(self, other: int) -> Matrix:
        """|Difference from the other column, minus its mean|, in standard deviations, of each resample (rows) and column."""
        apart = self._drawn - self._drawn[:, [other]]
        spread = apart.std(axis=0)
        mean = self._mean - self._mean[other]
        return np.asarray(np.abs(apart - mean) / np.where(spread > 0.0, spread, np.inf))

    def wide_difference(self, column: int, other: int, deviations: float) -> Interval:
        """Column minus other column, give or take so many standard deviations."""
        mean = float(self._mean[column] - self._mean[other])
        reach = deviations * float(np.std(self._drawn[:, column] - self._drawn[:, other]))
        return Interval(mean, mean - reach, mean + reach)

    def beats(self, column: int, other: int, among: int) -> bool:
        """Whether a column that was picked from so many is above the other by more than the luck of the best of them (Bonferroni)."""
        spread = float(np.std(self._drawn[:, column] - self._drawn[:, other]))
        return bool(self._mean[column] - self._mean[other] > float(ndtri(1.0 - 0.025 / among)) * spread)


def _interval(mean: float, drawn: Vector) -> Interval:
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Interval(mean, float(low), float(high))
