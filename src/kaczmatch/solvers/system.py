"""A linear system Ax = b, checked once at the door and read-only from then on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Matrix, Vector, as_matrix, as_vector, check_vector, problem_with, usable_rows
from kaczmatch.solvers.rows import Places, Rows, SparseRows


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

    def transposed_rows(self) -> tuple[Rows, Vector]:
        """The rows of Aᵀ as the kernels take them, a copy, and their squared lengths."""
        return _rows_of(self.matrix.T), _squared(self.matrix.T)

    @property
    def frobenius(self) -> float:
        """‖A‖_F."""
        return float(np.sqrt(self.squared.sum()))

    def residual(self, x: Vector) -> Vector:
        """b - Ax."""
        return np.asarray(self.b - self.matrix @ x)

    def gradient(self, r: Vector) -> Vector:
        """Aᵀr."""
        return np.asarray(self.matrix.T @ r)

    def gram(self, picked: Places) -> Matrix:
        """A_τ A_τᵀ for the picked rows τ."""
        block = self.matrix[picked]
        product = block @ block.T
        return np.asarray(product.toarray() if is_sparse(product) else product)

    def dense(self, picked: Places) -> Matrix:
        """The picked rows as a dense matrix of their own."""
        block = self.matrix[picked]
        return np.asarray(block.toarray() if is_sparse(block) else block)


def is_sparse(matrix: Any) -> bool:
    """Whether this is one of scipy's sparse matrices or arrays."""
    return bool(sparse.issparse(matrix))


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
    return LinearSystem(matrix, _rows_of(matrix), _read_only(b), _read_only(_squared(matrix)))


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


def _rows_of(matrix: Any) -> Rows:
    if not is_sparse(matrix):
        return np.asarray(_read_only(np.ascontiguousarray(matrix)))
    csr = sparse.csr_array(matrix)
    columns, starts = (part.astype(np.int64, copy=False) for part in (csr.indices, csr.indptr))
    return SparseRows(_read_only(csr.data), _read_only(columns), _read_only(starts))


def _squared(matrix: Any) -> Vector:
    if is_sparse(matrix):
        return np.asarray(matrix.multiply(matrix).sum(axis=1), np.float64)
    return np.asarray(np.einsum("ij,ij->i", matrix, matrix), np.float64)
