"""Randomised Kaczmarz: the row is drawn, by its squared length.

    x ← x + ω (bᵢ - aᵢ·x)/‖aᵢ‖² aᵢ,    P(i) = ‖aᵢ‖²/‖A‖_F²

T. Strohmer, R. Vershynin (2009), A randomized Kaczmarz algorithm with exponential convergence, J. Fourier Anal. Appl. 15:

    E‖x_k - x*‖² ≤ (1 - σ_min²/‖A‖_F²)^k ‖x₀ - x*‖²    for ω = 1 and a consistent system.

Where there is no solution, D. Needell (2010, BIT 50) adds a floor of ‖b - Ax*‖²/σ_min², which no number of steps goes below.
Multiplying an equation by a number changes how often it is drawn and nothing else: its projection stays. Uniform draws therefore
have the rate of the matrix whose rows were made unit vectors, which may be better or worse (Y. Censor, G. T. Herman, M. Jiang
2009, J. Fourier Anal. Appl. 15).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, final, get_args

import numpy as np

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Vector
from kaczmatch.solvers.alias import alias_table
from kaczmatch.solvers.contract import Advance, Solver
from kaczmatch.solvers.cyclic import check_relaxation
from kaczmatch.solvers.projection import project_rows
from kaczmatch.solvers.system import LinearSystem

By = Literal["norms", "uniform"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RandomisedKaczmarz(Solver):
    """Rows drawn independently, by their squared length or all alike (Strohmer and Vershynin 2009)."""

    slug: ClassVar[str] = "randomised"
    draws: ClassVar[bool] = True

    relaxation: float = 1.0
    by: By = "norms"

    def __post_init__(self) -> None:
        check_relaxation(self.relaxation)
        if self.by not in get_args(By):
            raise InvalidInput("by", f"must be 'norms' or 'uniform', got {self.by!r}")

    def begin(self, system: LinearSystem, x: Vector, rng: np.random.Generator) -> Advance:
        m = len(system.b)
        table = alias_table(system.squared) if self.by == "norms" else None

        def advance(rows: int) -> float:
            order = rng.integers(m, size=rows) if table is None else table.draw(rng, rows)
            project_rows(system.rows, system.b, system.squared, order, self.relaxation, 0.0, x)
            return rows

        return advance
