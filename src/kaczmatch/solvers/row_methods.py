"""Solvers that take one row at a time.

    cyclic        x ← x + ω (bᵢ - aᵢ·x)/(‖aᵢ‖² + α) aᵢ       i = k mod m,  0 < ω < 2,  α = 0
    randomised    the same                                    P(i) = ‖aᵢ‖²/‖A‖_F²,  α = 0
    damped        the same                                    P(i) = ‖aᵢ‖²/‖A‖_F²,  α > 0
    regularised   c = (bᵢ - aᵢ·x - √α vᵢ)/(‖aᵢ‖² + α),       P(i) ∝ ‖aᵢ‖² + α
                  x ← x + c aᵢ,  vᵢ ← vᵢ + √α c
    extended      z ← z - (cⱼ·z)/‖cⱼ‖² cⱼ,  z₀ = b           P(j) = ‖cⱼ‖²/‖A‖_F²,  cⱼ the columns of A
                  x ← x + (bᵢ - zᵢ - aᵢ·x)/‖aᵢ‖² aᵢ          P(i) = ‖aᵢ‖²/‖A‖_F²

S. Kaczmarz (1937), Angenäherte Auflösung von Systemen linearer Gleichungen, Bull. Int. Acad. Polon. Sci. Lett. A 35.
T. Strohmer, R. Vershynin (2009), A randomized Kaczmarz algorithm with exponential convergence, J. Fourier Anal. Appl. 15.
G. T. Herman, A. Lent, H. Hurwitz (1980), A storage-efficient algorithm for finding the regularized solution of a large,
inconsistent system of equations, J. Inst. Math. Appl. 25.
A. A. Ivanov, A. I. Zhdanov (2013), Kaczmarz algorithm for Tikhonov regularization problem, Appl. Math. E-Notes 13.
A. Zouzias, N. M. Freris (2013), Randomized extended Kaczmarz for solving least squares, SIAM J. Matrix Anal. Appl. 34.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, final, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from kaczmatch.core.compiled import compiled
from kaczmatch.core.errors import InvalidInput, check_number
from kaczmatch.core.vectors import Vector
from kaczmatch.solvers.alias import alias_table
from kaczmatch.solvers.contract import Advance, Solver
from kaczmatch.solvers.system import LinearSystem, Places, Rows, assembled, linear_system, row_add, row_dot

Order = Literal["norms", "uniform", "cyclic"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Projections(Solver):
    """A relaxed, damped projection per row: `cyclic`, `randomised` and `damped` (the step of the paper's eq. 5).

    No theorem bounds the pace of rows in their order well. Where there is no solution, they end in a cycle around the
    least-squares one, and drawn rows keep a floor of ‖b - Ax*‖²/σ_min² (D. Needell 2010, BIT 50). Multiplying an equation by a
    number changes how often it is drawn and nothing else, so uniform draws have the rate of the matrix whose rows were made unit
    vectors, better or worse (Y. Censor, G. T. Herman, M. Jiang 2009, J. Fourier Anal. Appl. 15).

    Ivanov and Zhdanov have the damped denominator together with v, the second half of the iterate of `regularised`. Without it α
    regularises nothing: it relaxes a row's projection by ‖aᵢ‖²/(‖aᵢ‖² + α). A consistent system is solved all the same, only
    slower; on an inconsistent one the iterate wanders less far around the least-squares solution weighted by P(i)/(‖aᵢ‖² + α).
    """

    order: Order = "norms"
    relaxation: float = 1.0
    alpha: float = 0.0

    def __post_init__(self) -> None:
        if self.order not in get_args(Order):
            raise InvalidInput("order", f"must be 'norms', 'uniform' or 'cyclic', got {self.order!r}")
        if check_number("relaxation", self.relaxation, low=0.0, high=2.0, open_low=True) == 2.0:
            raise InvalidInput("relaxation", "must be above 0 and below 2: at 2 a step is a reflection and never comes closer")
        check_number("alpha", self.alpha, low=0.0, high=1e100)

    @property
    def draws(self) -> bool:
        return self.order != "cyclic"

    def begin(self, system: LinearSystem, x: Vector, rng: np.random.Generator) -> Advance:
        m, at = len(system.b), 0
        table = alias_table(system.squared) if self.order == "norms" else None

        def advance(rows: int) -> float:
            nonlocal at
            if table is not None:
                order = table.draw(rng, rows)
            elif self.order == "uniform":
                order = rng.integers(m, size=rows)
            else:
                order = np.arange(at, at + rows) % m
                at = (at + rows) % m
            _project(system.rows, system.b, system.squared, order, self.relaxation, self.alpha, x)
            return rows

        return advance


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RegularisedKaczmarz(Solver):
    """Converges to min ‖Ax - b‖² + α‖x - start‖², whether Ax = b has a solution or not (Herman, Lent and Hurwitz 1980).

    The method on (A √αI)(x; v) = b, which always has a solution; the one nearest to (start; 0) has Tikhonov's x. Ivanov and
    Zhdanov (2013) take the square system with the normal equations below instead (`augmented_system`): the same x from any start,
    at the cost of columns.
    """

    alpha: float = 1.0

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, low=0.0, high=1e100, open_low=True)

    @property
    def penalty(self) -> float:
        return self.alpha

    def begin(self, system: LinearSystem, x: Vector, rng: np.random.Generator) -> Advance:
        table, v = alias_table(system.squared + self.alpha), np.zeros(len(system.b))

        def advance(rows: int) -> float:
            _project_extended(system.rows, system.b, system.squared, table.draw(rng, rows), self.alpha, x, v)
            return rows

        return advance


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ExtendedKaczmarz(Solver):
    """Least squares: rows for x, columns for what x cannot explain (Zouzias and Freris 2013).

    z goes to the part of b that no x can explain, and rows are projected onto what is left. A step reads a column too: m entries,
    which count as m/n rows.
    """

    def begin(self, system: LinearSystem, x: Vector, rng: np.random.Generator) -> Advance:
        m, n = system.shape
        columns, z = assembled(system.matrix.T, np.zeros(n)), system.b.copy()
        by_row, by_column = alias_table(system.squared), alias_table(columns.squared)

        def advance(rows: int) -> float:
            steps = max(1, round(rows / (1.0 + m / n)))
            down, across = by_row.draw(rng, steps), by_column.draw(rng, steps)
            _project_both(system.rows, columns.rows, system.b, system.squared, columns.squared, down, across, x, z)
            return steps * (1.0 + m / n)

        return advance


def augmented_system(A: Any, b: ArrayLike, alpha: float) -> tuple[sparse.csr_array, Vector]:
    """(√α I  A; Aᵀ  -√α I)(v; x) = (b; 0), whose only solution has Tikhonov's x (Ivanov and Zhdanov 2013)."""
    system = linear_system(A, b)
    root = math.sqrt(check_number("alpha", alpha, low=0.0, high=1e100, open_low=True))
    m, n = system.shape
    matrix = sparse.csr_array(system.matrix)
    blocks = [[root * sparse.eye_array(m), matrix], [matrix.T, -root * sparse.eye_array(n)]]
    return sparse.csr_array(sparse.block_array(blocks)), np.concatenate([system.b, np.zeros(n)])


@compiled
def _project(rows: Rows, b: Vector, squared: Vector, order: Places, relaxation: float, alpha: float, x: Vector) -> None:
    """x += ω (bᵢ - aᵢ·x)/(‖aᵢ‖² + α) aᵢ for each i of the order; a row of zeros says nothing and is passed over."""
    for k in range(order.shape[0]):
        i = order[k]
        if squared[i] > 0.0:
            row_add(x, relaxation * (b[i] - row_dot(rows, i, x)) / (squared[i] + alpha), rows, i)


@compiled
def _project_extended(rows: Rows, b: Vector, squared: Vector, order: Places, alpha: float, x: Vector, v: Vector) -> None:
    root = math.sqrt(alpha)
    for k in range(order.shape[0]):
        i = order[k]
        c = (b[i] - row_dot(rows, i, x) - root * v[i]) / (squared[i] + alpha)
        row_add(x, c, rows, i)
        v[i] += root * c


@compiled
def _project_both(
    rows: Rows, columns: Rows, b: Vector, squared: Vector, lengths: Vector, down: Places, across: Places, x: Vector, z: Vector
) -> None:
    for k in range(down.shape[0]):
        i, j = down[k], across[k]
        row_add(z, -row_dot(columns, j, z) / lengths[j], columns, j)
        row_add(x, (b[i] - z[i] - row_dot(rows, i, x)) / squared[i], rows, i)
