"""Randomised block Kaczmarz: project onto several equations at once.

    x ← x + A_τᵀ(A_τA_τᵀ + αI)⁻¹ (b_τ - A_τ x),    τ a block of rows, drawn uniformly;    α = 0: A_τ⁺(b_τ - A_τ x)

D. Needell, J. A. Tropp (2014), Paved with good intentions: analysis of a randomized block Kaczmarz method, Linear Algebra
Appl. 441. For a partition into M blocks with ‖A_τ‖² ≤ β for all of them, α = 0 and a consistent system:

    E‖x_k - x*‖² ≤ (1 - σ_min²/(β M))^k ‖x₀ - x*‖².

With `paved` the rows are dealt into such a partition once, at random, and each block's factor is kept; otherwise every block is
sampled anew. One block with α is the step of the paper's Block-TK, which has a block per session.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, final, get_args

import numpy as np

from kaczmatch.core.errors import InvalidInput, check_integer, check_number
from kaczmatch.core.vectors import Vector
from kaczmatch.solvers.block_step import BlockStep, cholesky_step, least_squares_step
from kaczmatch.solvers.contract import Advance, Solver
from kaczmatch.solvers.rows import Places, residual_at
from kaczmatch.solvers.system import LinearSystem

Inner = Literal["cholesky", "least-squares"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BlockKaczmarz(Solver):
    """Blocks of rows, of a random partition or sampled anew, solved by Cholesky or by least squares (Needell and Tropp 2014)."""

    slug: ClassVar[str] = "block"
    draws: ClassVar[bool] = True

    size: int = 32
    alpha: float = 0.0
    paved: bool = True
    inner: Inner = "cholesky"

    def __post_init__(self) -> None:
        check_integer("size", self.size, low=1, high=10**6)
        check_number("alpha", self.alpha, low=0.0, high=1e100)
        if self.inner not in get_args(Inner):
            raise InvalidInput("inner", f"must be 'cholesky' or 'least-squares', got {self.inner!r}")

    def begin(self, system: LinearSystem, x: Vector, rng: np.random.Generator) -> Advance:
        m = len(system.b)
        size = min(self.size, m)
        blocks = np.array_split(rng.permutation(m), -(-m // size)) if self.paved else []
        kept: dict[int, BlockStep] = {}

        def drawn() -> tuple[Places, BlockStep]:
            if not self.paved:
                picked = rng.choice(m, size, replace=False, shuffle=False)
                return picked, self._step(system, picked)
            which = int(rng.integers(len(blocks)))
            if which not in kept:
                kept[which] = self._step(system, blocks[which])
            return blocks[which], kept[which]

        def advance(rows: int) -> float:
            touched = 0
            while touched < rows:
                picked, step = drawn()
                x[:] += step(residual_at(system.rows, system.b, picked, x))
                touched += len(picked)
            return touched

        return advance

    def _step(self, system: LinearSystem, picked: Places) -> BlockStep:
        make = cholesky_step if self.inner == "cholesky" else least_squares_step
        return make(system, picked, self.alpha)
