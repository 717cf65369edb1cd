"""Damped Kaczmarz: the row step whose denominator the paper's TK takes over.

    x ← x + (bᵢ - aᵢ·x)/(‖aᵢ‖² + α) aᵢ,    P(i) = ‖aᵢ‖²/‖A‖_F²

A. A. Ivanov, A. I. Zhdanov (2013), Kaczmarz algorithm for Tikhonov regularization problem, Appl. Math. E-Notes 13, has this
denominator, together with the second half of the iterate that `regularised` keeps. Without that half, α regularises nothing: a
row is projected onto with relaxation ωᵢ = ‖aᵢ‖²/(‖aᵢ‖² + α) < 1, so a consistent system is solved all the same, only slower,

    E‖x_k - x*‖² ≤ (1 - min_i ωᵢ(2 - ωᵢ) σ_min²/‖A‖_F²)^k ‖x₀ - x*‖²,

and on an inconsistent one the iterate wanders around the least-squares solution weighted by P(i)/(‖aᵢ‖² + α), less far than
without α.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.errors import check_number
from kaczmatch.core.vectors import Vector
from kaczmatch.solvers.alias import alias_table
from kaczmatch.solvers.contract import Advance, Solver
from kaczmatch.solvers.projection import project_rows
from kaczmatch.solvers.system import LinearSystem


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DampedKaczmarz(Solver):
    """Rows drawn by their squared length, each step shortened by α (the step of the paper's eq. 5)."""

    slug: ClassVar[str] = "damped"
    draws: ClassVar[bool] = True

    alpha: float = 1.0

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, low=0.0, high=1e100)

    def begin(self, system: LinearSystem, x: Vector, rng: np.random.Generator) -> Advance:
        table = alias_table(system.squared)

        def advance(rows: int) -> float:
            project_rows(system.rows, system.b, system.squared, table.draw(rng, rows), 1.0, self.alpha, x)
            return rows

        return advance
