"""A linear system Ax = b, checked once and read-only from then on, and compiled access to its rows, dense or sparse.

`row_dot` and `row_add` are replaced, when a kernel is compiled, by the version for the kind of rows it is called with, so that
each kernel is written once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from kaczmatch.core.compiled import add_scaled, dot
from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Matrix, Vector, as_matrix, as_vector, check_vector, problem_with, usable_rows

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


@final
@dataclass(frozen=True, slots=True, eq=False)
class LinearSystem:
    """A and b, float64, with the squared lengths of A's rows; nothing in it can be written to."""

    matrix: Any  # a read-only array, or scipy's CSR array
    rows: Rows  # the same as the kernels take it
    b: Vector
    squared: Vector  # ‖aᵢ‖²

    @property
    def shape(self) -> tuple[int, int]:
        m, n = self.matrix.shape
        return int(m), int(n)


def is_sparse(matrix: Any) -> bool:
    return bool(sparse.issparse(matrix))  # and to a type checker it stays what it was


def linear_system(A: Any, b: ArrayLike) -> LinearSystem:
    """The system, or what is wrong with it. Float64 input is read where it lies; anything else is copied."""
    matrix = _sparse_matrix(A) if is_sparse(A) else _dense_matrix(A)
    m, n = matrix.shape
    if m == 0 or n == 0:
        raise InvalidInput("A", f"must have at least one row and one column, got {m} x {n}")
    right = as_vector(b, "b")
    if len(right) != m:
        raise InvalidInput("b", f"must have one entry per row of A, {m:,}, got {len(right):,}")
    check_vector(right, "b")
    system = assembled(matrix, right)
    if not system.squared.any():
        raise InvalidInput("A", "has no entry but 0, so no row says anything about x")
    return system


def assembled(matrix: Any, b: Vector) -> LinearSystem:
    """The system of a matrix and a right side that are known to be sound."""
    rows: Rows = _read_only(np.ascontiguousarray(matrix)) if not is_sparse(matrix) else _sparse_rows(sparse.csr_array(matrix))
    return LinearSystem(matrix, rows, _read_only(b), _read_only(_squared(matrix)))


def start_of(start: ArrayLike | None, columns: int, field: str) -> Vector:
    """A copy of a vector with one entry per column of A; zeros where none is given."""
    if start is None:
        return np.zeros(columns)
    x = check_vector(as_vector(start, field), field)
    if len(x) != columns:
        raise InvalidInput(field, f"must have one entry per column of A, {columns:,}, got {len(x):,}")
    return x.copy()


def _dense_matrix(A: ArrayLike) -> Matrix:
    matrix = as_matrix(A, "A")
    bad = np.flatnonzero(~usable_rows(matrix))
    if bad.size:
        raise InvalidInput("A", f"row {bad[0]}: {problem_with(matrix[bad[0]])}")
    return np.asarray(_read_only(matrix))


def _sparse_matrix(A: Any) -> Any:
    if A.ndim != 2:
        raise InvalidInput("A", f"must be a matrix, one row each, got {A.ndim} dimensions")
    if A.dtype.kind not in "biuf":
        raise InvalidInput("A", f"must be numbers, got {A.dtype}")
    # A copy where rows hold an entry twice or out of order: adding them up in place would change the caller's matrix.
    matrix = sparse.csr_array(A, dtype=np.float64, copy=A.format == "csr" and not A.has_canonical_format)
    matrix.sum_duplicates()
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        lengths = np.sqrt(_squared(matrix))
    bad = np.flatnonzero(~usable_rows(lengths[:, None]))
    if bad.size:
        row = matrix.data[matrix.indptr[bad[0]] : matrix.indptr[bad[0] + 1]]
        raise InvalidInput("A", f"row {bad[0]}: {problem_with(row)}")
    return matrix


def _read_only(array: Any) -> Any:
    """A read-only view: the array itself stays as the caller has it."""
    view = array.view()
    view.flags.writeable = False
    return view


def _sparse_rows(csr: Any) -> SparseRows:
    columns, starts = (part.astype(np.int64, copy=False) for part in (csr.indices, csr.indptr))
    return SparseRows(_read_only(csr.data), _read_only(columns), _read_only(starts))


def _squared(matrix: Any) -> Vector:
    if is_sparse(matrix):
        return np.asarray(matrix.multiply(matrix).sum(axis=1), np.float64)
    return np.asarray(np.einsum("ij,ij->i", matrix, matrix), np.float64)
