"""Vectors as all modules use them: float64 and contiguous. Input is checked once, where it enters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kaczmatch.core.errors import InvalidInput

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Column = NDArray[Any]
Integers = NDArray[np.int64]

FLOAT64 = np.dtype(np.float64)

# A squared norm is zero or within these limits, so that no product of two norms, and no step divided by one, leaves float64.
MIN_SQUARED_NORM, MAX_SQUARED_NORM = 1e-100, 1e100


def as_vector(value: ArrayLike, field: str) -> Vector:
    """`value` as a contiguous float64 vector, without a copy where it already is one."""
    return _as_array(value, field, 1)


def as_matrix(value: ArrayLike, field: str) -> Matrix:
    """`value` as a contiguous float64 matrix, without a copy where it already is one."""
    return _as_array(value, field, 2)


def as_rows(value: ArrayLike, field: str) -> Matrix:
    """A matrix as it is, or one vector as a matrix of one row."""
    try:
        single = np.ndim(value) == 1
    except ValueError:
        single = False
    return as_vector(value, field)[None] if single else as_matrix(value, field)


def as_column(values: ArrayLike, field: str) -> Column:
    """`values` as a one-dimensional array that keeps each value: numpy would truncate or convert some lists of identifiers."""
    if isinstance(values, list | tuple):
        kinds = set(map(type, values))
        numbers = kinds == {int} or kinds == {float} or kinds == {bool}
        if numbers and kinds == {int}:
            numbers = all(-(2**63) <= value < 2**63 for value in values)
        if not numbers and not any(issubclass(kind, list | tuple | np.ndarray | np.generic) for kind in kinds):
            column: Column = np.empty(len(values), object)
            column[:] = values
            return column if column.size else column.astype(np.int64)
    try:
        column = np.asarray(values)
    except ValueError:
        raise InvalidInput(field, "must be one column, got rows of different lengths") from None
    if column.ndim != 1:
        raise InvalidInput(field, f"must be one column, got {column.ndim} dimensions")
    return column if column.size else column.astype(np.int64)


def _as_array(value: ArrayLike, field: str, dimensions: int) -> NDArray[np.float64]:
    if (
        type(value) is np.ndarray
        and value.dtype is FLOAT64
        and value.ndim == dimensions
        and value.flags.c_contiguous
        and value.flags.aligned
    ):
        return value
    try:
        array: NDArray[Any] = np.asarray(value)
    except ValueError:
        raise InvalidInput(field, "must be numbers, all rows of one length") from None
    if array.dtype.kind not in "biuf":
        raise InvalidInput(field, f"must be numbers, got {array.dtype}")
    if array.ndim != dimensions:
        shape = "a vector" if dimensions == 1 else "a matrix, one row each"
        raise InvalidInput(field, f"must be {shape}, got {array.ndim} dimensions")
    return np.require(array, np.float64, ["C", "A"])


def check_vector(vector: Vector, field: str) -> Vector:
    """`vector`, if its squared length is zero or well within float64."""
    squared = float(np.vdot(vector, vector))
    if squared != 0.0 and not MIN_SQUARED_NORM <= squared <= MAX_SQUARED_NORM:
        raise InvalidInput(field, problem_with(vector))
    return vector


def usable_rows(rows: Matrix) -> NDArray[np.bool_]:
    """Which rows have a squared length of zero or well within float64."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squared: Vector = np.einsum("ij,ij->i", rows, rows)
    return np.equal(squared, 0.0) | (np.greater_equal(squared, MIN_SQUARED_NORM) & np.less_equal(squared, MAX_SQUARED_NORM))


def problem_with(vector: Vector) -> str:
    """Why the kernels refuse a vector, in words."""
    bad = np.flatnonzero(~np.isfinite(vector))
    if bad.size:
        return f"entry {bad[0]} is {vector[bad[0]]}; every entry must be finite"
    with np.errstate(over="ignore", under="ignore"):
        squared = float(vector @ vector)
    return f"squared length {squared:g} is outside [{MIN_SQUARED_NORM:g}, {MAX_SQUARED_NORM:g}]; rescale the real-valued features"


def read_only(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same array, made read-only."""
    array.flags.writeable = False
    return array


def matvec(rows: Matrix, v: Vector) -> Vector:
    """Each row times v, on this thread alone: for a few hundred rows, waking the threads of BLAS costs more than it saves."""
    return np.asarray(np.einsum("ij,j->i", rows, v))


def unit(v: Vector) -> Vector:
    """v / ‖v‖, and 0 for 0."""
    length = math.sqrt(v @ v)
    return v / length if length > 0.0 else np.zeros_like(v)


def unit_rows(rows: Matrix) -> Matrix:
    """Each row divided by its length, zero rows kept."""
    lengths: Matrix = np.sqrt(np.add.reduce(rows * rows, axis=-1, keepdims=True))
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0.0)


def cosine(v: Vector, a: Vector) -> float:
    """v·a / (‖v‖‖a‖), and 0 where either is 0 (paper, eq. 2)."""
    return float(unit(v) @ unit(a))
