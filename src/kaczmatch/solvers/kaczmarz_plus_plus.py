"""Kaczmarz++: block Kaczmarz with momentum that finds its own rate, damped projections and a memory of blocks.

    w ← A_τᵀ(A_τA_τᵀ + λI)⁻¹ (A_τ x - b_τ)                       τ: k rows of the mixed system (`mixing`)
    z ← (1-ρ)/(1+ρ) (z + w),    x ← x - w - η z                   η = k/(2n)

ρ is how much a step contracts. It is estimated from the run itself, over pairs of windows of h = 1 + n/k steps: s is the sum of
‖A_τ x - b_τ‖² over the second window by that over the first, q the weighted mean of min(1, s) over the pairs so far (the weight
of all pairs up to the c-th grows as c^ln c), and ρ = 1 - q^(1/h). Until the first pair is over, η = 0. At step t a new block is
drawn with probability min(1, n ln n/(k t)). Otherwise a block drawn before is taken again, with its Cholesky factor.

M. Dereziński, D. Needell, E. Rebrova, J. Yang (2025), Randomized Kaczmarz methods with beyond-Krylov convergence,
arXiv 2501.11673. For consistent systems. They show that blocks of O(l) rows remove the effect of l outlying singular values: the
rate is that of the rest of the spectrum, and momentum improves it like a square root. Simplified here:
- the inner system is solved exactly, by its Cholesky factor, where the authors also allow a few steps of preconditioned LSQR;
- λ is a share of the mean squared row length, so that it does not depend on the units of A;
- a sparse A is not mixed, which would make it dense: their analysis does not cover rows of very different weight then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.errors import check_integer, check_number
from kaczmatch.core.vectors import Vector
from kaczmatch.solvers.block_step import BlockStep, cholesky_step
from kaczmatch.solvers.contract import Advance, Solver
from kaczmatch.solvers.mixing import mixed
from kaczmatch.solvers.rows import Places, residual_at
from kaczmatch.solvers.system import LinearSystem, is_sparse


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class KaczmarzPlusPlus(Solver):
    """Accelerated blocks with a memory, for systems with a few large singular values (Dereziński et al. 2025)."""

    slug: ClassVar[str] = "kaczmarz++"
    draws: ClassVar[bool] = True

    size: int = 32
    damping: float = 1e-8  # λ, by the mean squared row length
    momentum: bool = True
    memory: bool = True
    mixing: bool = True

    def __post_init__(self) -> None:
        check_integer("size", self.size, low=1, high=10**6)
        check_number("damping", self.damping, low=0.0, high=1e100)

    def begin(self, system: LinearSystem, x: Vector, rng: np.random.Generator) -> Advance:
        if self.mixing and not is_sparse(system.matrix):
            system = mixed(system, rng)
        size = min(self.size, *system.shape)
        blocks = _Blocks(system, size, self.damping * float(system.squared.mean()), self.memory, rng)
        pace = MomentumSchedule(system.shape[1], size)
        z = np.zeros_like(x)

        def advance(rows: int) -> float:
            touched = 0
            while touched < rows:
                picked, step = blocks.next()
                r = residual_at(system.rows, system.b, picked, x)
                w = step(r)  # the negative of w above: towards the equations
                if self.momentum:
                    z[:] = pace.momentum * (z + w)
                    w += pace.eta * z
                    pace.saw(float(r @ r))
                x[:] += w
                touched += size
            return touched

        return advance


@final
class _Blocks:
    """Blocks of rows with their factors: new ones less and less often."""

    def __init__(self, system: LinearSystem, size: int, alpha: float, memory: bool, rng: np.random.Generator) -> None:
        self._system, self._size, self._alpha, self._rng = system, size, alpha, rng
        n = system.shape[1]
        self._new = n * math.log(max(n, 2)) / size if memory else math.inf
        self._kept: list[tuple[Places, BlockStep]] = []
        self._steps = 0

    def next(self) -> tuple[Places, BlockStep]:
        self._steps += 1
        if self._kept and self._rng.random() >= self._new / self._steps:
            return self._kept[int(self._rng.integers(len(self._kept)))]
        picked = self._rng.choice(len(self._system.b), self._size, replace=False, shuffle=False)
        block = picked, cholesky_step(self._system, picked, self._alpha)
        if self._new < math.inf:
            self._kept.append(block)
        return block


@final
class MomentumSchedule:
    """How much momentum a run can bear: from how fast its block residuals fall."""

    def __init__(self, columns: int, size: int) -> None:
        self.momentum, self.eta = 1.0, 0.0
        self._later, self._window = size / (2.0 * columns), round(columns / size + 1)
        self._sums, self._steps, self._pairs, self._ratio = [0.0, 0.0], 0, 1, 0.0

    def saw(self, squared: float) -> None:
        """After a step whose block residual had this squared length."""
        self._sums[self._steps // self._window] += squared
        self._steps += 1
        if self._steps < 2 * self._window:
            return
        first, second = self._sums
        kept = self._pairs ** math.log(self._pairs) / (self._pairs + 1) ** math.log(self._pairs + 1)
        self._ratio = self._ratio * kept + min(1.0, second / first if first > 0.0 else 1.0) * (1.0 - kept)
        rho = max(0.0, 1.0 - self._ratio ** (1.0 / self._window))
        self.momentum, self.eta = (1.0 - rho) / (1.0 + rho), self._later
        self._sums, self._steps, self._pairs = [0.0, 0.0], 0, self._pairs + 1
