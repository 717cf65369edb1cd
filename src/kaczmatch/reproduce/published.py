"""The numbers the paper prints, and ours beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from scipy.special import stdtrit

from kaczmatch.core.vectors import Vector

PAPER_SIZE = (6_400, 100)  # swipes, and users of a seed

# Table 2: like rate, Align@20, Δs under row-norm sampling, label noise 0.2.
METRICS = {
    "tk": {"like_rate": 0.800, "align_at_20": 0.710, "delta_s": 0.948},
    "block-tk": {"like_rate": 0.800, "align_at_20": 0.698, "delta_s": 0.968},
    "block-nk": {"like_rate": 0.800, "align_at_20": 0.698, "delta_s": 0.994},
    "nk": {"like_rate": 0.800, "align_at_20": 0.626, "delta_s": 0.738},
    "k-nonorm": {"like_rate": 0.800, "align_at_20": 0.710, "delta_s": 0.948},
    "ogd": {"like_rate": 0.800, "align_at_20": 0.716, "delta_s": 0.933},
}

# How near a mean over seeds has to come to count as reproduced.
TOLERANCE = {"like_rate": 0.005, "align_at_20": 0.02, "delta_s": 0.005}
NEAR: Final = 0.02  # in figures, which print two digits
ROUNDING: Final = 0.0005  # of a table that prints three

# Section 8.3: final alignment at the lowest and the highest label noise. The paper gives no upper end for NK.
NOISE: dict[str, tuple[float, float | None]] = {
    "block-nk": (0.61, 0.60),
    "tk": (0.59, 0.53),
    "k-nonorm": (0.59, 0.53),
    "ogd": (0.59, 0.53),
    "nk": (0.48, None),
}
LABEL_NOISE = (0.10, 0.15, 0.20, 0.25, 0.30, 0.35)

# Section 8.2: Block-NK under cosine subsampling, and the like rate there.
ADAPTIVE_BLOCK_NK_AT_3000 = 0.93
ROW_NORM_BLOCK_NK_AT_3000 = 0.63
ADAPTIVE_LIKE_RATE = 0.45

# Table 1: α, step fraction, equivalent η.
ALPHA = ((0.01, 0.990, 0.990), (0.10, 0.909, 0.909), (1.0, 0.500, 0.500), (9.0, 0.100, 0.100))

REPRODUCED, MISLEADING, FALSE = "reproduced", "reproduced but misleading", "false"
NOT_REPRODUCED, CANNOT_TELL = "not reproduced", "cannot tell"
ALL_HIGH, ALL_LOW = "near, but all high", "near, but all low"


@final
@dataclass(frozen=True, slots=True)
class Beside:
    """A number of the paper and our means over users, one per seed."""

    what: Mapping[str, object]  # what it is about, by name
    paper: float
    seeds: Vector
    near: float  # a difference up to this one is none
    decides: bool  # whether the run has the paper's sizes

    @property
    def verdict(self) -> str:
        if not self.decides:
            return CANNOT_TELL
        return REPRODUCED if abs(float(np.mean(self.seeds)) - self.paper) <= self.near else NOT_REPRODUCED

    def row(self, verdict: str = "") -> dict[str, Any]:
        ours, spread = float(np.mean(self.seeds)), deviation(self.seeds)
        difference = ours - self.paper
        return {
            **self.what,
            "paper": self.paper,
            "ours": ours,
            "difference": difference,
            "verdict": verdict or self.verdict,
            "seed_deviation": spread,
            "difference_in_seed_deviations": difference / spread if spread > 0.0 else math.nan,
            "difference_in_standard_errors": difference / spread * math.sqrt(len(self.seeds)) if spread > 0.0 else math.nan,
        }


@final
@dataclass(frozen=True, slots=True)
class Column:
    """All rows of one column of the paper's table, whose differences may have one cause."""

    cells: Sequence[Beside]

    @property
    def differences(self) -> Vector:
        """The mean over rows of ours minus the paper's, one per seed."""
        return np.asarray(np.mean([cell.seeds - cell.paper for cell in self.cells], axis=0))

    def verdict(self, cell: Beside) -> str:
        """A cell within the tolerance is not reproduced where all of them are off to one side, beyond chance and rounding."""
        side = {float(np.sign(np.mean(each.seeds) - each.paper)) for each in self.cells}
        off = Difference.of(self.differences)
        if cell.verdict != REPRODUCED or len(side) > 1 or not off.outside(ROUNDING):
            return cell.verdict
        return ALL_HIGH if off.mean > 0.0 else ALL_LOW


def deviation(means: Sequence[float] | Vector) -> float:
    """From seed to seed; NaN with one seed."""
    return float(np.std(means, ddof=1)) if len(means) > 1 else math.nan


@final
@dataclass(frozen=True, slots=True)
class Difference:
    """A mean over seeds and its 95 % interval, which one seed does not give."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, seeds: Vector) -> Difference:
        mean, count = float(np.mean(seeds)), len(seeds)
        if count < 2:
            return cls(mean, -math.inf, math.inf)
        reach = float(stdtrit(count - 1, 0.975) * deviation(seeds) / math.sqrt(count))
        return cls(mean, mean - reach, mean + reach)

    def above(self, least: float = 0.0) -> bool:
        return self.low > least

    def below(self, most: float = 0.0) -> bool:
        return self.high < most

    def within(self, near: float) -> bool:
        return -near < self.low and self.high < near

    def outside(self, near: float) -> bool:
        return self.above(near) or self.below(-near)

    def __str__(self) -> str:
        interval = f"95 %: {self.low:+.3f} to {self.high:+.3f}" if math.isfinite(self.low) else "one seed"
        return f"{self.mean:+.3f} ({interval})"
