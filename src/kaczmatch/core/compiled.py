"""Compiled linear algebra, shared by every kernel.

Strict float64 without fastmath: sums are added in the order written here, so all callers get the same bits. Sums run in four
lanes, which lets strict code use vector registers.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.caching import IndexDataCacheFile

from kaczmatch.core.vectors import MAX_SQUARED_NORM, MIN_SQUARED_NORM, Matrix, Vector

try:
    import fcntl
except ImportError:  # Windows: there it stays as numba has it
    take_turns = False
else:
    take_turns = True

F = TypeVar("F", bound=Callable[..., object])


def drop_stale_kernels(package: Path) -> None:
    """Delete cached kernels that are older than the newest source.

    Numba notices a changed file, but not a changed import of it.
    """
    kernels = list(package.rglob("*.nb[ic]"))
    folders = {kernel.parent.parent if kernel.parent.name == "__pycache__" else kernel.parent for kernel in kernels}
    newest = max((path.stat().st_mtime for folder in folders for path in folder.glob("*.py")), default=0.0)
    for kernel in kernels:
        with contextlib.suppress(OSError):  # another process may have deleted it, or the folder is read-only
            if kernel.stat().st_mtime < newest:
                kernel.unlink()


@contextlib.contextmanager
def turn(folder: str) -> Iterator[None]:
    """One process at a time at the cache in this folder; where it cannot be written, there is nothing to take turns at.

    numba reads the list of a kernel's variants, adds one and writes the list back, without a lock. Two processes that compile it
    for different types at the same moment can both choose the same file, and later ones then run the wrong machine code.
    """
    try:
        lock = os.open(f"{folder}/kaczmatch.lock", os.O_CREAT | os.O_RDWR, 0o600)
    except OSError:
        yield
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _in_turns(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def guarded(cache: Any, *given: Any) -> Any:
        with turn(cache._cache_path):
            return method(cache, *given)

    return guarded


drop_stale_kernels(Path(__file__).parent.parent)
for _name in ("save", "load"):
    if take_turns and not hasattr(getattr(IndexDataCacheFile, _name), "__wrapped__"):
        setattr(IndexDataCacheFile, _name, _in_turns(getattr(IndexDataCacheFile, _name)))


def compiled(function: F) -> F:
    """`function` as machine code for whatever it is called with, cached on disk."""
    return cast(F, _jit(function, cache=_CACHE))


def compiled_short(function: F) -> F:
    """The same for what takes microseconds. It keeps the interpreter's lock: where other threads want it, to get it back would
    take far longer."""
    return cast(F, _jit(function, cache=_CACHE, nogil=False))


def compiled_as(signature: Any, *, short: bool = False) -> Callable[[F], F]:
    """`function` as machine code for one signature, compiled when its module is imported and cached on disk."""

    def compile_now(function: F) -> F:
        dispatcher = _jit(function, cache=_CACHE, nogil=not short)
        dispatcher.compile(signature)
        if dispatcher.stats.cache_misses:
            _say_that_it_takes_long()
        dispatcher.disable_compile()
        return cast(F, dispatcher)

    return compile_now


@functools.cache
def _say_that_it_takes_long() -> None:
    """Once, to whoever sits before it and would wonder."""
    if sys.stderr is not None and sys.stderr.isatty():
        print("kaczmatch compiles its kernels, once per installation: half a minute or more …", file=sys.stderr)


def _jit(function: Callable[..., object], *, cache: bool, nogil: bool = True) -> Any:
    return numba.njit(cache=cache, nogil=nogil, error_model="numpy")(function)


def _can_cache() -> bool:
    """Whether numba finds a folder for its cache. Where it does not, everything is compiled at every start."""
    try:
        _jit(_can_cache, cache=True)
    except RuntimeError:
        warnings.warn(
            "kaczmatch cannot cache its kernels and compiles them at every start; set NUMBA_CACHE_DIR to a writable folder",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
    return True


_CACHE = _can_cache()


@compiled
def dot(x: Vector, y: Vector) -> float:
    n = x.shape[0]
    whole = n - n % 4
    s0 = s1 = s2 = s3 = 0.0
    for i in range(0, whole, 4):
        s0 += x[i] * y[i]
        s1 += x[i + 1] * y[i + 1]
        s2 += x[i + 2] * y[i + 2]
        s3 += x[i + 3] * y[i + 3]
    for i in range(whole, n):
        s0 += x[i] * y[i]
    return (s0 + s1) + (s2 + s3)


@compiled
def products(v: Vector, a: Vector) -> tuple[float, float, float]:
    """v·a, v·v and a·a in one pass."""
    n = v.shape[0]
    whole = n - n % 4
    va0 = va1 = va2 = va3 = 0.0
    vv0 = vv1 = vv2 = vv3 = 0.0
    aa0 = aa1 = aa2 = aa3 = 0.0
    for i in range(0, whole, 4):
        x0, x1, x2, x3 = v[i], v[i + 1], v[i + 2], v[i + 3]
        y0, y1, y2, y3 = a[i], a[i + 1], a[i + 2], a[i + 3]
        va0 += x0 * y0
        va1 += x1 * y1
        va2 += x2 * y2
        va3 += x3 * y3
        vv0 += x0 * x0
        vv1 += x1 * x1
        vv2 += x2 * x2
        vv3 += x3 * x3
        aa0 += y0 * y0
        aa1 += y1 * y1
        aa2 += y2 * y2
        aa3 += y3 * y3
    for i in range(whole, n):
        va0 += v[i] * a[i]
        vv0 += v[i] * v[i]
        aa0 += a[i] * a[i]
    return (va0 + va1) + (va2 + va3), (vv0 + vv1) + (vv2 + vv3), (aa0 + aa1) + (aa2 + aa3)


@compiled
def usable_norm(squared: float) -> bool:
    """Whether a squared length is zero or safely inside float64; false for NaN."""
    return squared == 0.0 or MIN_SQUARED_NORM <= squared <= MAX_SQUARED_NORM


@compiled
def cosine_from_products(va: float, vv: float, aa: float) -> float:
    """The cosine from the three products; 0 where either vector is 0."""
    return va / (math.sqrt(vv) * math.sqrt(aa)) if vv > 0.0 and aa > 0.0 else 0.0


@compiled
def add_scaled(v: Vector, c: float, a: Vector) -> None:
    """v += c·a."""
    for i in range(v.shape[0]):
        v[i] += c * a[i]


@compiled
def normalise(v: Vector) -> None:
    """v /= ‖v‖; 0 stays 0."""
    length = math.sqrt(dot(v, v))
    if length > 0.0:
        for i in range(v.shape[0]):
            v[i] /= length


# Below this share of the largest diagonal entry a pivot has lost half its digits, and the solve goes by least squares.
_SMALLEST_PIVOT = 1e-6


@compiled
def ridge_step(rows: Matrix, r: Vector, alpha: float) -> Vector:
    """Aᵀ(AAᵀ + αI)⁻¹ r, in whichever of the k x k and d x d forms is smaller; least squares where that is singular."""
    k, d = rows.shape
    g = np.dot(rows, rows.T) if k <= d else np.dot(rows.T, rows)
    for i in range(g.shape[0]):
        g[i, i] += alpha
    if not _factor(g):
        return _least_squares(rows, r, alpha)
    if k <= d:
        c = r.copy()
        _substitute(g, c)
        return _transpose_times(rows, c)
    step = _transpose_times(rows, r)
    _substitute(g, step)
    return step


@compiled
def adapted_damping(rows: Matrix, alpha: float, condition: float) -> float:
    """The smallest α, but at least `alpha`, with κ(AAᵀ + αI) at most `condition`."""
    if condition == math.inf:
        return alpha
    k, d = rows.shape
    spectrum = np.linalg.eigvalsh(np.dot(rows, rows.T) if k <= d else np.dot(rows.T, rows))
    smallest = max(0.0, float(spectrum[0])) if k <= d else 0.0
    return max(alpha, (float(spectrum[-1]) - condition * smallest) / (condition - 1.0))


@compiled
def _transpose_times(rows: Matrix, c: Vector) -> Vector:
    """Aᵀc."""
    total = np.zeros(rows.shape[1])
    for i in range(rows.shape[0]):
        add_scaled(total, c[i], rows[i])
    return total


@compiled
def _factor(g: Matrix) -> bool:
    """The Cholesky factor U, UᵀU = G, in the upper triangle of G; False when G is too close to singular."""
    n = g.shape[0]
    largest = 0.0
    for i in range(n):
        largest = max(largest, g[i, i])
    for k in range(n):
        if not g[k, k] > _SMALLEST_PIVOT * largest:
            return False
        scale = 1.0 / math.sqrt(g[k, k])
        row = g[k, k:]
        for j in range(row.shape[0]):
            row[j] *= scale
        for i in range(1, row.shape[0]):
            add_scaled(g[k + i, k + i :], -row[i], row[i:])
    return True


@compiled
def _substitute(g: Matrix, x: Vector) -> None:
    """x ← (UᵀU)⁻¹ x."""
    n = g.shape[0]
    for i in range(n):
        x[i] /= g[i, i]
        add_scaled(x[i + 1 :], -x[i], g[i, i + 1 :])
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - dot(g[i, i + 1 :], x[i + 1 :])) / g[i, i]


@compiled
def _least_squares(rows: Matrix, r: Vector, alpha: float) -> Vector:
    """`ridge_step` from the singular values, for dependent rows. Singular values that are zero but for rounding are left out."""
    u, sigma, vt = np.linalg.svd(rows, full_matrices=False)
    step = np.zeros(rows.shape[1])
    for i in range(sigma.shape[0]):
        if sigma[i] > max(rows.shape) * 2.220446049250313e-16 * sigma[0]:
            c = 0.0
            for j in range(r.shape[0]):
                c += u[j, i] * r[j]
            add_scaled(step, c * sigma[i] / (sigma[i] * sigma[i] + alpha), vt[i])
    return step
