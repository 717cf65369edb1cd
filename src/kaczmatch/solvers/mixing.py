"""The randomised Hadamard transform of rows: after it, all rows say about equally much, so uniform blocks do.

    A ← H D A/√p,    b ← H D b/√p,    D random signs, H Hadamard's matrix of order p, the next power of two; rows of 0 fill up

It is orthogonal, so the solutions are the same. O(p n log p) once. N. Ailon, B. Chazelle (2009), SIAM J. Comput. 39.
"""

from __future__ import annotations

import math

import numpy as np

from kaczmatch.core.compiled import compiled
from kaczmatch.core.vectors import Matrix
from kaczmatch.solvers.system import LinearSystem, assembled


def mixed(system: LinearSystem, rng: np.random.Generator) -> LinearSystem:
    """A dense system with the same solutions and mixed rows."""
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
