"""Compiled access to the rows of a matrix, dense or sparse, so that each kernel is written once.

`row_dot` and `row_add` are replaced, when a kernel is compiled, by the version for the kind of rows it is called with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from kaczmatch.core.compiled import add_scaled, compiled, dot
from kaczmatch.core.vectors import Matrix, Vector

Places = NDArray[np.int64]


class SparseRows(NamedTuple):
    """Compressed sparse rows: row i is values[starts[i]:starts[i + 1]] in columns[starts[i]:starts[i + 1]]."""

    values: Vector
    columns: Places
    starts: Places


Rows = Matrix | SparseRows


def row_dot(rows: Rows, i: int, x: Vector) -> float:
    """aᵢ·x."""
    raise TypeError("row_dot is for compiled kernels")


def row_add(x: Vector, c: float, rows: Rows, i: int) -> None:
    """x += c aᵢ."""
    raise TypeError("row_add is for compiled kernels")


@overload(row_dot)
def _row_dot(rows: Any, i: Any, x: Any) -> Callable[..., float]:
    def dense(rows: Any, i: Any, x: Any) -> float:
        return dot(rows[i], x)

    def sparse(rows: Any, i: Any, x: Any) -> float:
        total = 0.0
        for place in range(rows.starts[i], rows.starts[i + 1]):
            total += rows.values[place] * x[rows.columns[place]]
        return total

    return dense if isinstance(rows, types.Array) else sparse


@overload(row_add)
def _row_add(x: Any, c: Any, rows: Any, i: Any) -> Callable[..., None]:
    def dense(x: Any, c: Any, rows: Any, i: Any) -> None:
        add_scaled(x, c, rows[i])

    def sparse(x: Any, c: Any, rows: Any, i: Any) -> None:
        for place in range(rows.starts[i], rows.starts[i + 1]):
            x[rows.columns[place]] += c * rows.values[place]

    return dense if isinstance(rows, types.Array) else sparse


@compiled
def residual_at(rows: Rows, b: Vector, picked: Places, x: Vector) -> Vector:
    """bᵢ - aᵢ·x for the picked rows."""
    r = np.empty(picked.shape[0])
    for j in range(picked.shape[0]):
        r[j] = b[picked[j]] - row_dot(rows, picked[j], x)
    return r


@compiled
def combination(rows: Rows, picked: Places, c: Vector, columns: int) -> Vector:
    """Σ cⱼ aᵢ over the picked rows i."""
    total = np.zeros(columns)
    for j in range(picked.shape[0]):
        row_add(total, c[j], rows, picked[j])
    return total
