"""Regularised Kaczmarz: the method on an extended system that always has a solution, Tikhonov's.

    (A  √α I)(x; v) = b,    so a step is    c = (bᵢ - aᵢ·x - √α vᵢ)/(‖aᵢ‖² + α),    x ← x + c aᵢ,    vᵢ ← vᵢ + √α c

with P(i) ∝ ‖aᵢ‖² + α. Its solution nearest to (start; 0) has the x of min ‖Ax - b‖² + α‖x - start‖². Strohmer's and Vershynin's
rate holds for the extended matrix, whose smallest squared singular value is α where A has more rows than columns.

G. T. Herman, A. Lent, H. Hurwitz (1980), A storage-efficient algorithm for finding the regularized solution of a large,
inconsistent system of equations, J. Inst. Math. Appl. 25. A. A. Ivanov, A. I. Zhdanov (2013), Appl. Math. E-Notes 13, take the
square system with the normal equations below instead (`augmented_system`): the same x from any start, at the cost of columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from kaczmatch.core.compiled import compiled
from kaczmatch.core.errors import check_number
from kaczmatch.core.vectors import Vector
from kaczmatch.solvers.alias import alias_table
from kaczmatch.solvers.contract import Advance, Solver
from kaczmatch.solvers.rows import Places, Rows, row_add, row_dot
from kaczmatch.solvers.system import LinearSystem, linear_system


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RegularisedKaczmarz(Solver):
    """Converges to min ‖Ax - b‖² + α‖x - start‖², whether Ax = b has a solution or not (Herman, Lent and Hurwitz 1980)."""

    slug: ClassVar[str] = "regularised"
    draws: ClassVar[bool] = True

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


def augmented_system(A: Any, b: ArrayLike, alpha: float) -> tuple[sparse.csr_array, Vector]:
    """(√α I  A; Aᵀ  -√α I)(v; x) = (b; 0), whose only solution has Tikhonov's x (Ivanov and Zhdanov 2013)."""
    system = linear_system(A, b)
    root = math.sqrt(check_number("alpha", alpha, low=0.0, high=1e100, open_low=True))
    m, n = system.shape
    matrix = sparse.csr_array(system.matrix)
    blocks = [[root * sparse.eye_array(m), matrix], [matrix.T, -root * sparse.eye_array(n)]]
    return sparse.csr_array(sparse.block_array(blocks)), np.concatenate([system.b, np.zeros(n)])


@compiled
def _project_extended(rows: Rows, b: Vector, squared: Vector, order: Places, alpha: float, x: Vector, v: Vector) -> None:
    root = math.sqrt(alpha)
    for k in range(order.shape[0]):
        i = order[k]
        c = (b[i] - row_dot(rows, i, x) - root * v[i]) / (squared[i] + alpha)
        row_add(x, c, rows, i)
        v[i] += root * c
