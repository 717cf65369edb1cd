"""What a solver answers: x, why it stopped, and how it got there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from kaczmatch.core.vectors import Vector

Reason = Literal["solved", "least squares", "rows", "seconds", "diverged"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class SolverTrace:
    """One entry per look at the residual, the first before the first step.

    Looking reads all of A and counts as time, not as rows: `rows` is what the steps have read, in rows' worth of entries.
    """

    rows: Vector
    seconds: Vector
    residual: Vector  # ‖b - Ax‖ / ‖b‖; where b is 0, by its length at the start
    gradient: Vector  # half that of ‖b - Ax‖² + α‖x - start‖², by ‖A‖_F and that sum's root: 0 where the sum is least
    error: Vector  # ‖x - truth‖ / ‖truth‖; NaN where no truth is given


@final
@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """x and why it is the last one.

    `reason` is "solved" where the residual met the tolerance, "least squares" where the gradient did (the system has no solution,
    or the solver is a regularised one), "rows" or "seconds" where a limit came first, "diverged" where x is no longer finite.
    """

    x: Vector
    reason: Reason
    trace: SolverTrace

    @property
    def converged(self) -> bool:
        """Whether the tolerance was met."""
        return self.reason in ("solved", "least squares")
