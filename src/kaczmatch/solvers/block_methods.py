"""Solvers that take several rows at once.

    block         x ← x + A_τᵀ(A_τA_τᵀ + αI)⁻¹ (b_τ - A_τ x)            τ a block of rows; α = 0: A_τ⁺(b_τ - A_τ x)
    kaczmarz++    w ← A_τᵀ(A_τA_τᵀ + λI)⁻¹ (A_τ x - b_τ)                τ: k rows of the mixed system
                  z ← (1-ρ)/(1+ρ) (z + w),    x ← x - w - η z           η = k/(2n)

D. Needell, J. A. Tropp (2014), Paved with good intentions: analysis of a randomized block Kaczmarz method, Linear Algebra
Appl. 441.
M. Dereziński, D. Needell, E. Rebrova, J. Yang (2025), Randomized Kaczmarz methods with beyond-Krylov convergence,
arXiv 2501.11673.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy import linalg

from kaczmatch.core.compiled import compiled
from kaczmatch.core.errors import check_integer, check_number
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.solvers.contract import Advance, Solver
from kaczmatch.solvers.system import LinearSystem, Places, Rows, assembled, is_sparse, row_add, row_dot

BlockStep = Callable[[Vector], Vector]  # from a block's residuals to the step

# Below this share of its row's length a pivot of the factor has few digits left: the rows depend on each other.
_SMALLEST_PIVOT = 1e-6


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BlockKaczmarz(Solver):
    """Blocks of rows, of a random partition or sampled anew (Needell and Tropp 2014).

    With `paved` the rows are dealt into a partition once, at random, and each block's factor is kept; otherwise every block is
    sampled anew. One block with α is the step of the paper's Block-TK, which has a block per session.
    """

    size: int = 32
    alpha: float = 0.0
    paved: bool = True

    def __post_init__(self) -> None:
        check_integer("size", self.size, low=1, high=10**6)
        check_number("alpha", self.alpha, low=0.0, high=1e100)

    def begin(self, system: LinearSystem, x: Vector, rng: np.random.Generator) -> Advance:
        m = len(system.b)
        size = min(self.size, m)
        blocks = np.array_split(rng.permutation(m), -(-m // size)) if self.paved else []
        kept: dict[int, BlockStep] = {}

        def drawn() -> tuple[Places, BlockStep]:
            if not self.paved:
                picked = rng.choice(m, size, replace=False, shuffle=False)
                return picked, _cholesky_step(system, picked, self.alpha)
            which = int(rng.integers(len(blocks)))
            if which not in kept:
                kept[which] = _cholesky_step(system, blocks[which], self.alpha)
            return blocks[which], kept[which]

        def advance(rows: int) -> float:
            touched = 0
            while touched < rows:
                picked, step = drawn()
                x[:] += step(_residual_at(system.rows, system.b, picked, x))
                touched += len(picked)
            return touched

        return advance


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class KaczmarzPlusPlus(Solver):
    """Accelerated blocks with a memory, for consistent systems with a few large singular values (Dereziński et al. 2025).

    At step t a new block is drawn with probability min(1, n ln n/(k t)); otherwise a block drawn before is taken again, with its
    Cholesky factor. Blocks of O(l) rows remove the effect of l outlying singular values: the rate is that of the rest of the
    spectrum, and momentum improves it like a square root. Simplified here:
    - the inner system is solved exactly, by its Cholesky factor, where the authors also allow a few steps of preconditioned LSQR;
    - λ is a share of the mean squared row length, so that it does not depend on the units of A;
    - a sparse A is not mixed, which would make it dense: their analysis does not cover rows of very different weight then.
    """

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
        m, n = system.shape
        size, alpha = min(self.size, m, n), self.damping * float(system.squared.mean())
        new = n * math.log(max(n, 2)) / size if self.memory else math.inf
        kept: list[tuple[Places, BlockStep]] = []
        pace, z, steps = MomentumSchedule(n, size), np.zeros_like(x), 0

        def drawn() -> tuple[Places, BlockStep]:
            nonlocal steps
            steps += 1
            if kept and rng.random() >= new / steps:
                return kept[int(rng.integers(len(kept)))]
            picked = rng.choice(m, size, replace=False, shuffle=False)
            block = picked, _cholesky_step(system, picked, alpha)
            if self.memory:
                kept.append(block)
            return block

        def advance(rows: int) -> float:
            touched = 0
            while touched < rows:
                picked, step = drawn()
                r = _residual_at(system.rows, system.b, picked, x)
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
class MomentumSchedule:
    """How much momentum a run can bear: from how fast its block residuals fall.

    ρ is how much a step contracts, estimated over pairs of windows of h = 1 + n/k steps: s is the sum of ‖A_τ x - b_τ‖² over the
    second window by that over the first, q the weighted mean of min(1, s) over the pairs so far (the weight of all pairs up to
    the c-th grows as c^ln c), and ρ = 1 - q^(1/h). Until the first pair is over, η = 0.
    """

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


def mixed(system: LinearSystem, rng: np.random.Generator) -> LinearSystem:
    """A dense system with the same solutions, all of whose rows say about equally much, so that uniform blocks do.

    A ← H D A/√p,  b ← H D b/√p,  D random signs, H Hadamard's matrix of order p, the next power of two; rows of 0 fill up.
    N. Ailon, B. Chazelle (2009), SIAM J. Comput. 39.
    """
    m, n = system.shape
    order = 1 << (m - 1).bit_length()
    both = np.zeros((order, n + 1))
    both[:m, :n], both[:m, n] = system.matrix, system.b
    both[:m] *= rng.choice(np.array([-1.0, 1.0]), m)[:, None]
    _transform(both)
    both /= math.sqrt(order)
    return assembled(np.ascontiguousarray(both[:, :n]), np.ascontiguousarray(both[:, n]))


@compiled
def _transform(rows: Matrix) -> None:
    """rows ← H rows, by sums and differences of pairs of rows."""
    m, n = rows.shape
    half = 1
    while half < m:
        for begin in range(0, m, 2 * half):
            for i in range(begin, begin + half):
                for j in range(n):
                    upper, lower = rows[i, j], rows[i + half, j]
                    rows[i, j], rows[i + half, j] = upper + lower, upper - lower
        half *= 2


def _cholesky_step(system: LinearSystem, picked: Places, alpha: float) -> BlockStep:
    """By the factor of the Gram matrix, which can be kept; by least squares where that is too close to singular."""
    block = system.matrix[picked]
    gram = _dense(block @ block.T)
    gram.flat[:: len(picked) + 1] += alpha
    lengths = np.sqrt(gram.diagonal())
    try:
        factor = linalg.cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return _least_squares_step(system, picked, alpha)
    if not np.all(factor.diagonal() > _SMALLEST_PIVOT * lengths):
        return _least_squares_step(system, picked, alpha)

    def step(r: Vector) -> Vector:
        c = linalg.cho_solve((factor, True), r, check_finite=False)
        return _combination(system.rows, picked, c, system.shape[1])

    return step


def _least_squares_step(system: LinearSystem, picked: Places, alpha: float) -> BlockStep:
    """By singular values: any rows will do, and what rounding left of a zero one is left out."""
    rows = _dense(system.matrix[picked])
    u, sigma, vt = linalg.svd(rows, full_matrices=False, check_finite=False)
    kept = sigma > max(rows.shape) * np.finfo(np.float64).eps * max(sigma[0], np.finfo(np.float64).tiny)
    filtered = sigma[kept] / (sigma[kept] ** 2 + alpha)
    left: Matrix = u[:, kept].T
    right: Matrix = vt[kept].T
    return lambda r: np.asarray(right @ (filtered * (left @ r)))


def _dense(matrix: Any) -> Matrix:
    return np.asarray(matrix.toarray() if is_sparse(matrix) else matrix)


@compiled
def _residual_at(rows: Rows, b: Vector, picked: Places, x: Vector) -> Vector:
    """bᵢ - aᵢ·x for the picked rows."""
    r = np.empty(picked.shape[0])
    for j in range(picked.shape[0]):
        r[j] = b[picked[j]] - row_dot(rows, picked[j], x)
    return r


@compiled
def _combination(rows: Rows, picked: Places, c: Vector, columns: int) -> Vector:
    """Σ cⱼ aᵢ over the picked rows i."""
    total = np.zeros(columns)
    for j in range(picked.shape[0]):
        row_add(total, c[j], rows, picked[j])
    return total
