"""The step of a block: A_τᵀ(A_τA_τᵀ + αI)⁻¹ r, from a Cholesky factor that can be kept, or by least squares."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.solvers.rows import Places, combination
from kaczmatch.solvers.system import LinearSystem

BlockStep = Callable[[Vector], Vector]

# Below this share of its row's length a pivot of the factor has few digits left: the rows depend on each other.
_SMALLEST_PIVOT = 1e-6


def cholesky_step(system: LinearSystem, picked: Places, alpha: float) -> BlockStep:
    """From r to the step, by the factor of the Gram matrix; by least squares where that is too close to singular."""
    gram = system.gram(picked)
    gram.flat[:: len(picked) + 1] += alpha
    lengths = np.sqrt(gram.diagonal())
    try:
        factor = linalg.cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return least_squares_step(system, picked, alpha)
    if not np.all(factor.diagonal() > _SMALLEST_PIVOT * lengths):
        return least_squares_step(system, picked, alpha)

    def step(r: Vector) -> Vector:
        c = linalg.cho_solve((factor, True), r, check_finite=False)
        return combination(system.rows, picked, c, system.shape[1])

    return step


def least_squares_step(system: LinearSystem, picked: Places, alpha: float) -> BlockStep:
    """From r to the step, by singular values: any rows will do, and what rounding left of a zero one is left out."""
    rows = system.dense(picked)
    u, sigma, vt = linalg.svd(rows, full_matrices=False, check_finite=False)
    kept = sigma > max(rows.shape) * np.finfo(np.float64).eps * max(sigma[0], np.finfo(np.float64).tiny)
    filtered = sigma[kept] / (sigma[kept] ** 2 + alpha)
    left: Matrix = u[:, kept].T
    right: Matrix = vt[kept].T
    return lambda r: np.asarray(right @ (filtered * (left @ r)))
