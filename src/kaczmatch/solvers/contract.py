"""The contract of all solvers: one `solve`, whose looks at the residual, limits and trace are the same for each."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.errors import InvalidInput, check_integer, check_number
from kaczmatch.core.vectors import Vector
from kaczmatch.solvers.system import LinearSystem, linear_system, start_of

Reason = Literal["solved", "least squares", "rows", "seconds", "diverged"]
# Takes x further by about so many rows (at least one step) and answers how many rows' worth of entries it has read.
Advance = Callable[[int], float]
MOST_ROWS = 10**15


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
        return self.reason in ("solved", "least squares")


@dataclass(frozen=True, slots=True, kw_only=True)
class Solver(ABC):
    """A frozen set of parameters; `solve` starts from them every time and keeps nothing."""

    @abstractmethod
    def begin(self, system: LinearSystem, x: Vector, rng: np.random.Generator) -> Advance:
        """The algorithm: what takes x, in place, further and further."""

    @property
    def draws(self) -> bool:
        """Whether it needs a generator."""
        return True

    @property
    def penalty(self) -> float:
        """α of the problem solved: min ‖Ax - b‖² + α‖x - start‖²."""
        return 0.0

    @final
    def solve(
        self,
        A: Any,
        b: ArrayLike,
        *,
        rng: np.random.Generator | None = None,
        start: ArrayLike | None = None,
        truth: ArrayLike | None = None,
        tolerance: float = 1e-8,
        rows: int | None = None,
        seconds: float = math.inf,
        every: int | None = None,
    ) -> Solution:
        """x with Ax = b, A a dense matrix or any of scipy's sparse ones.

        Stops when the relative residual or the relative gradient is at most `tolerance`, after `rows` rows (1,000 passes unless
        said otherwise), or after `seconds`. Looks every `every` rows (a pass unless said otherwise). A and b are not changed.
        """
        system = linear_system(A, b)
        m, n = system.shape
        x = start_of(start, n, "start")
        look = _Look(system, self.penalty, x, None if truth is None else start_of(truth, n, "truth"))
        tolerance = check_number("tolerance", tolerance, low=0.0, high=1.0)
        most = 1000 * m if rows is None else check_integer("rows", rows, low=0, high=MOST_ROWS)
        every = m if every is None else check_integer("every", every, low=1, high=MOST_ROWS)
        seconds = check_number("seconds", seconds, low=0.0)
        if self.draws and not isinstance(rng, np.random.Generator):
            raise InvalidInput("rng", f"draws rows: must be a generator, such as numpy.random.default_rng(1), got {rng!r}")
        begun = time.perf_counter()
        advance = self.begin(system, x, rng or np.random.default_rng(0))
        touched, taken = 0.0, 0.0
        while (reason := look.at(x, touched, taken, tolerance)) is None:
            if touched >= most or taken >= seconds:
                reason = "rows" if touched >= most else "seconds"
                break
            touched += advance(min(every, math.ceil(most - touched)))
            taken = time.perf_counter() - begun
        return Solution(x, reason, SolverTrace(*np.array(look.seen).T))


@final
class _Look:
    """Residual, gradient and error at some x, kept for the trace."""

    def __init__(self, system: LinearSystem, penalty: float, x: Vector, truth: Vector | None) -> None:
        self._system, self._penalty, self._start, self._truth = system, penalty, x.copy(), truth
        self._scale = float(np.linalg.norm(system.b)) or float(np.linalg.norm(system.b - system.matrix @ x)) or 1.0
        self._frobenius = math.sqrt(system.squared.sum())
        self.seen: list[tuple[float, float, float, float, float]] = []

    def at(self, x: Vector, rows: float, seconds: float, tolerance: float) -> Reason | None:
        """Whether x is good enough, or beyond hope."""
        matrix, truth = self._system.matrix, self._truth
        with np.errstate(over="ignore", invalid="ignore"):
            r, moved = np.asarray(self._system.b - matrix @ x), x - self._start
            cost = float(r @ r) + self._penalty * float(moved @ moved)
            slope = float(np.linalg.norm(np.asarray(matrix.T @ r) - self._penalty * moved))
            residual = float(np.linalg.norm(r)) / self._scale
        gradient = slope / (self._frobenius * math.sqrt(cost)) if cost > 0.0 else 0.0
        error = math.nan
        if truth is not None:
            error = float(np.linalg.norm(x - truth)) / (float(np.linalg.norm(truth)) or 1.0)
        self.seen.append((rows, seconds, residual, gradient, error))
        if not math.isfinite(residual):
            return "diverged"
        if self._penalty == 0.0 and residual <= tolerance:
            return "solved"
        return "least squares" if gradient <= tolerance else None
