"""What the theorems promise: how much of the squared error is left, in expectation, after one step.

Each is for a system with a solution, from a start in the span of the rows; σ_min is the smallest singular value that is not 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.solvers.rows import Places


def singular_values(A: Matrix) -> Vector:
    """Those that are not 0, the largest first."""
    sigma = np.linalg.svd(A, compute_uv=False)
    kept: Vector = sigma[sigma > max(A.shape) * np.finfo(np.float64).eps * sigma[0]]
    return kept


def randomised_rate(A: Matrix) -> float:
    """1 - σ_min²/‖A‖_F² per row drawn by squared length (Strohmer and Vershynin 2009)."""
    sigma = singular_values(A)
    return float(1.0 - sigma[-1] ** 2 / np.sum(A * A))


def uniform_rate(A: Matrix) -> float:
    """The same for uniform draws: that of the matrix with its rows made unit vectors."""
    lengths = np.linalg.norm(A, axis=1, keepdims=True)
    return randomised_rate(A / lengths)


def damped_rate(A: Matrix, alpha: float) -> float:
    """1 - min ω(2 - ω) σ_min²/‖A‖_F² with ω = ‖a‖²/(‖a‖² + α) of each row, drawn by squared length."""
    squared = np.sum(A * A, axis=1)
    omega = squared / (squared + alpha)
    return float(1.0 - np.min(omega * (2.0 - omega)) * (1.0 - randomised_rate(A)))


def regularised_rate(A: Matrix, alpha: float) -> float:
    """The randomised rate of the extended matrix (A  √α I)."""
    return randomised_rate(np.hstack([A, np.sqrt(alpha) * np.eye(len(A))]))


def block_rate(A: Matrix, blocks: Sequence[Places]) -> float:
    """1 - σ_min²/(βM) per block of a partition into M with ‖A_τ‖² at most β (Needell and Tropp 2014)."""
    largest = max(np.linalg.norm(A[block], 2) ** 2 for block in blocks)
    return float(1.0 - singular_values(A)[-1] ** 2 / (largest * len(blocks)))
