"""The one compiled loop of the row methods: a relaxed, damped projection per row of an order."""

from __future__ import annotations

from kaczmatch.core.compiled import compiled
from kaczmatch.core.vectors import Vector
from kaczmatch.solvers.rows import Places, Rows, row_add, row_dot


@compiled
def project_rows(rows: Rows, b: Vector, squared: Vector, order: Places, relaxation: float, alpha: float, x: Vector) -> None:
    """x += ω (bᵢ - aᵢ·x)/(‖aᵢ‖² + α) aᵢ for each i of the order; a row of zeros says nothing and is passed over."""
    for k in range(order.shape[0]):
        i = order[k]
        if squared[i] > 0.0:
            row_add(x, relaxation * (b[i] - row_dot(rows, i, x)) / (squared[i] + alpha), rows, i)
