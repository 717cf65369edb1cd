"""The contract of all solvers: one `solve`, whose looks at the residual, limits and trace are the same for each."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.errors import InvalidInput, check_integer, check_number
from kaczmatch.core.vectors import Vector
from kaczmatch.solvers.system import LinearSystem, linear_system, start_of
from kaczmatch.solvers.trace import Reason, Solution, SolverTrace

# Takes x further by about so many rows (at least one step) and answers how many rows' worth of entries it has read.
Advance = Callable[[int], float]

MOST_ROWS = 10**15


@dataclass(frozen=True, slots=True, kw_only=True)
class Solver(ABC):
    """A frozen set of parameters; `solve` starts from them every time and keeps nothing."""

    slug: ClassVar[str]
    draws: ClassVar[bool]  # whether it needs a generator

    @abstractmethod
    def begin(self, system: LinearSystem, x: Vector, rng: np.random.Generator) -> Advance:
        """The algorithm: what takes x, in place, further and further."""

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
        begun = time.perf_counter()
        advance = self.begin(system, x, self._generator(rng))
        touched, taken = 0.0, 0.0
        while (reason := look.at(x, touched, taken, tolerance)) is None:
            if touched >= most:
                reason = "rows"
            elif taken >= seconds:
                reason = "seconds"
            if reason is not None:
                break
            touched += advance(min(every, math.ceil(most - touched)))
            taken = time.perf_counter() - begun
        return Solution(x, reason, look.trace())

    def _generator(self, rng: np.random.Generator | None) -> np.random.Generator:
        if rng is None and not self.draws:
            return np.random.default_rng(0)  # nothing is drawn from it
        if not isinstance(rng, np.random.Generator):
            raise InvalidInput(
                "rng", f"{self.slug} draws rows: must be a generator, such as numpy.random.default_rng(1), got {rng!r}"
            )
        return rng


@final
class _Look:
    """Residual, gradient and error at some x, kept for the trace."""

    def __init__(self, system: LinearSystem, penalty: float, x: Vector, truth: Vector | None) -> None:
        self._system, self._penalty, self._start, self._truth = system, penalty, x.copy(), truth
        self._scale = float(np.linalg.norm(system.b)) or float(np.linalg.norm(system.residual(x))) or 1.0
        self._seen: list[tuple[float, float, float, float, float]] = []

    def at(self, x: Vector, rows: float, seconds: float, tolerance: float) -> Reason | None:
        """Whether x is good enough, or beyond hope."""
        with np.errstate(over="ignore", invalid="ignore"):
            r, moved = self._system.residual(x), x - self._start
            length = float(np.linalg.norm(r))
            cost = float(r @ r) + self._penalty * float(moved @ moved)
            slope = float(np.linalg.norm(self._system.gradient(r) - self._penalty * moved))
        residual = length / self._scale
        gradient = slope / (self._system.frobenius * math.sqrt(cost)) if cost > 0.0 else 0.0
        self._seen.append((rows, seconds, residual, gradient, self._error(x)))
        if not math.isfinite(residual):
            return "diverged"
        if self._penalty == 0.0 and residual <= tolerance:
            return "solved"
        return "least squares" if gradient <= tolerance else None

    def trace(self) -> SolverTrace:
        return SolverTrace(*np.array(self._seen).T)

    def _error(self, x: Vector) -> float:
        if self._truth is None:
            return math.nan
        return float(np.linalg.norm(x - self._truth)) / (float(np.linalg.norm(self._truth)) or 1.0)
