"""Randomised extended Kaczmarz: least squares where Ax = b has no solution.

    z ← z - (cⱼ·z)/‖cⱼ‖² cⱼ,                       P(j) = ‖cⱼ‖²/‖A‖_F²,  cⱼ the columns of A,  z₀ = b
    x ← x + (bᵢ - zᵢ - aᵢ·x)/‖aᵢ‖² aᵢ,             P(i) = ‖aᵢ‖²/‖A‖_F²

z goes to the part of b that no x can explain, and rows are projected onto what is left. A. Zouzias, N. M. Freris (2013),
Randomized extended Kaczmarz for solving least squares, SIAM J. Matrix Anal. Appl. 34, from x₀ = 0 and with κ = σ_max/σ_min:

    E‖x_k - x*‖² ≤ (1 - σ_min²/‖A‖_F²)^⌊k/2⌋ (1 + 2κ²) ‖x*‖².

A step reads a column too: m entries, which count as m/n rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.compiled import compiled
from kaczmatch.core.vectors import Vector
from kaczmatch.solvers.alias import alias_table
from kaczmatch.solvers.contract import Advance, Solver
from kaczmatch.solvers.rows import Places, Rows, row_add, row_dot
from kaczmatch.solvers.system import LinearSystem


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ExtendedKaczmarz(Solver):
    """Rows for x, columns for what x cannot explain (Zouzias and Freris 2013)."""

    slug: ClassVar[str] = "extended"
    draws: ClassVar[bool] = True

    def begin(self, system: LinearSystem, x: Vector, rng: np.random.Generator) -> Advance:
        m, n = system.shape
        columns, lengths = system.transposed_rows()
        by_row, by_column, z = alias_table(system.squared), alias_table(lengths), system.b.copy()

        def advance(rows: int) -> float:
            steps = max(1, round(rows / (1.0 + m / n)))
            of_rows, of_columns = by_row.draw(rng, steps), by_column.draw(rng, steps)
            _project_both(system.rows, columns, system.b, system.squared, lengths, of_rows, of_columns, x, z)
            return steps * (1.0 + m / n)

        return advance


@compiled
def _project_both(
    rows: Rows,
    columns: Rows,
    b: Vector,
    squared: Vector,
    lengths: Vector,
    of_rows: Places,
    of_columns: Places,
    x: Vector,
    z: Vector,
) -> None:
    for k in range(of_rows.shape[0]):
        i, j = of_rows[k], of_columns[k]
        row_add(z, -row_dot(columns, j, z) / lengths[j], columns, j)
        row_add(x, (b[i] - z[i] - row_dot(rows, i, x)) / squared[i], rows, i)
