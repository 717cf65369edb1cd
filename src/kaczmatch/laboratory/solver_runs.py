"""Linear systems of three kinds, and every solver's error on them over rows touched and over time, beside other people's solvers."""

from __future__ import annotations

import importlib
import importlib.util
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.sparse.linalg import lsmr, lsqr

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.solvers.alias import alias_table
from kaczmatch.solvers.block import BlockKaczmarz
from kaczmatch.solvers.contract import Solver
from kaczmatch.solvers.cyclic import CyclicKaczmarz
from kaczmatch.solvers.damped import DampedKaczmarz
from kaczmatch.solvers.extended import ExtendedKaczmarz
from kaczmatch.solvers.kaczmarz_plus_plus import KaczmarzPlusPlus
from kaczmatch.solvers.randomised import RandomisedKaczmarz
from kaczmatch.solvers.rates import block_rate, damped_rate, randomised_rate, regularised_rate, singular_values
from kaczmatch.solvers.regularised import RegularisedKaczmarz
from kaczmatch.solvers.trace import SolverTrace

GOAL = 1e-6  # relative error at which a system counts as solved
BLOCK = 16
OUTLYING = 6  # large singular values of the ill-conditioned system
KRYLOV_STEPS = 120
MOST_PASSES = 200


@final
@dataclass(frozen=True, slots=True, eq=False)
class ExampleSystem:
    """A system and the x that a solver is to find: of least squares, whether it solves the system or not."""

    A: Matrix
    b: Vector

    @property
    def truth(self) -> Vector:
        return self.best(0.0)

    def best(self, penalty: float) -> Vector:
        """The x of least ‖Ax - b‖² + α‖x‖²."""
        if penalty == 0.0:
            return np.asarray(np.linalg.lstsq(self.A, self.b, rcond=None)[0])
        n = self.A.shape[1]
        return np.asarray(np.linalg.solve(self.A.T @ self.A + penalty * np.eye(n), self.A.T @ self.b))


@final
@dataclass(frozen=True, slots=True, eq=False)
class SolverRun:
    """Relative error after so many passes over the rows and so many seconds."""

    passes: Vector
    seconds: Vector
    error: Vector

    def reached(self, values: Vector) -> float:
        """The first of `values` at which the error is at the goal; infinite where it never is."""
        at = np.flatnonzero(self.error <= GOAL)
        return float(values[at[0]]) if at.size else float("inf")


def example_systems(seed: int, m: int, n: int) -> dict[str, ExampleSystem]:
    """A system with a solution, the same with noise on the right, and one with a few large singular values."""
    rng = np.random.default_rng([seed, 20])
    A = rng.normal(size=(m, n)) * rng.uniform(0.5, 2.0, (m, 1))
    b = A @ rng.normal(size=n)
    left, right = (np.linalg.qr(rng.normal(size=(size, n)))[0] for size in (m, n))
    sigma = np.linspace(1.0, 0.1, n)
    sigma[:OUTLYING] = 100.0
    stretched = np.ascontiguousarray(left * sigma @ right.T)
    noise = 0.05 * np.linalg.norm(b) / np.sqrt(m) * rng.normal(size=m)
    return {
        "consistent": ExampleSystem(A, b),
        "noisy": ExampleSystem(A, b + noise),
        "ill-conditioned": ExampleSystem(stretched, stretched @ rng.normal(size=n)),
    }


def solvers(system: ExampleSystem) -> dict[str, Solver]:
    """Each algorithm once; α where there is one is the mean squared length of a row."""
    alpha = float(np.mean(np.sum(system.A**2, axis=1)))
    return {
        "cyclic": CyclicKaczmarz(),
        "randomised": RandomisedKaczmarz(),
        "damped": DampedKaczmarz(alpha=alpha),
        "regularised": RegularisedKaczmarz(alpha=alpha),
        "block": BlockKaczmarz(size=BLOCK),
        "extended": ExtendedKaczmarz(),
        "kaczmarz++": KaczmarzPlusPlus(size=BLOCK),
    }


def run_solver(method: Solver, system: ExampleSystem, seed: int) -> SolverRun:
    """Its error to the x it is for, which is Tikhonov's for the regularised one."""
    m, truth = len(system.A), system.best(method.penalty)
    method.solve(system.A, system.b, rng=np.random.default_rng(0), rows=1)  # so that compiling counts for nobody
    rows, every = MOST_PASSES * m, max(1, m // 4)

    def run() -> SolverTrace:
        rng = np.random.default_rng([seed, 21])
        return method.solve(system.A, system.b, rng=rng, truth=truth, rows=rows, every=every, tolerance=1e-12).trace

    found = run()
    return SolverRun(
        found.rows / m, np.minimum(found.seconds, run().seconds), found.error
    )  # the quicker of two: others compute too


def theory(method: Solver, system: ExampleSystem, seed: int) -> float | None:
    """Passes after which the theorem's bound on the squared error is at the goal, where there is a theorem for it.

    The bound is `most` times the squared length of the solution, times `rate` per step, each of which reads `rows`.
    """
    A, m = system.A, len(system.A)
    most, rows = 1.0, 1.0
    if isinstance(method, RandomisedKaczmarz):
        rate = randomised_rate(A)
    elif isinstance(method, DampedKaczmarz):
        rate = damped_rate(A, method.alpha)
    elif isinstance(method, RegularisedKaczmarz):
        x = system.best(method.alpha)
        most += float(np.sum((system.b - A @ x) ** 2) / method.alpha / (x @ x))  # the other half of the extended solution
        rate = regularised_rate(A, method.alpha)
    elif isinstance(method, BlockKaczmarz):
        paving = np.array_split(np.random.default_rng([seed, 21]).permutation(m), -(-m // method.size))
        rate, rows = block_rate(A, paving), m / len(paving)
    elif isinstance(method, ExtendedKaczmarz):
        sigma = singular_values(A)
        most += 2.0 * float(sigma[0] / sigma[-1]) ** 2
        rate, rows = math.sqrt(randomised_rate(A)), 1.0 + m / A.shape[1]
    else:
        return None
    return math.log(GOAL**2 / most) / math.log(rate) * rows / m


def other_solvers() -> dict[str, Callable[[ExampleSystem, int], SolverRun]]:
    """scipy's and numpy's, and kaczmarz-algorithms where it is installed."""
    found: dict[str, Callable[[ExampleSystem, int], SolverRun]] = {
        "lsqr": lambda system, _: _krylov(lsqr, "iter_lim", system),
        "lsmr": lambda system, _: _krylov(lsmr, "maxiter", system),
        "lstsq": lambda system, _: _direct(system),
    }
    if importlib.util.find_spec("kaczmarz") is not None:
        found["kaczmarz-algorithms"] = _kaczmarz_algorithms
    return found


def _krylov(solve: Callable[..., Any], limit: str, system: ExampleSystem) -> SolverRun:
    """Stopped after each number of steps in turn. A step reads A twice, as it is and transposed."""
    truth, points = system.truth, [(0.0, 0.0, 1.0)]
    for steps in range(1, KRYLOV_STEPS + 1):
        taken = []
        for _ in range(3):
            begun = time.perf_counter()
            x = solve(system.A, system.b, atol=0.0, btol=0.0, conlim=0.0, **{limit: steps})[0]
            taken.append(time.perf_counter() - begun)
        points.append((2.0 * steps, min(taken), _error(x, truth)))
        if points[-1][2] <= 1e-3 * GOAL:
            break
    return SolverRun(*np.array(points).T)


def _direct(system: ExampleSystem) -> SolverRun:
    begun = time.perf_counter()
    truth = system.truth
    return SolverRun(np.array([np.nan]), np.array([time.perf_counter() - begun]), np.array([_error(truth, truth)]))


def _kaczmarz_algorithms(system: ExampleSystem, seed: int) -> SolverRun:
    """Its rows by squared length, drawn from our generator, since its own draws are from numpy's global one."""
    library, m = importlib.import_module("kaczmarz"), len(system.A)
    passes = 20
    order = alias_table(np.sum(system.A**2, axis=1)).draw(np.random.default_rng([seed, 21]), passes * m)

    class OnTheseRows(library.Base):  # type: ignore[misc,name-defined]
        def _select_row_index(self, xk: Vector) -> int:  # noqa: ARG002 (its signature)
            return int(order[self._k - 1])

    def looks() -> Iterator[tuple[float, float, float]]:
        truth, begun = system.truth, time.perf_counter()
        for k, x in enumerate(OnTheseRows.iterates(system.A, system.b, tol=None, maxiter=len(order))):
            if k % (m // 4) == 0:
                yield k / m, time.perf_counter() - begun, _error(x, truth)

    return SolverRun(*np.array(list(looks())).T)


def _error(x: Vector, truth: Vector) -> float:
    return float(np.linalg.norm(x - truth) / np.linalg.norm(truth))
