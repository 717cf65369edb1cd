"""The Kaczmarz solvers beside a bare loop, kaczmarz-algorithms, scipy's lsqr and lsmr and numpy's lstsq, in one run.

One thread each. Prints ratios and says where one is below its floor.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import kaczmarz
import numba
import numpy as np
from scipy.sparse.linalg import lsmr, lsqr
from threadpoolctl import threadpool_limits

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.solvers.alias import alias_table
from kaczmatch.solvers.block import BlockKaczmarz
from kaczmatch.solvers.contract import Solver
from kaczmatch.solvers.kaczmarz_plus_plus import KaczmarzPlusPlus
from kaczmatch.solvers.randomised import RandomisedKaczmarz

GOAL = 1e-6  # relative error at which a system counts as solved
PATIENCE = 5.0  # seconds after which a solver is given up
OUTLIERS = 20


@dataclass(frozen=True)
class Problem:
    """A system with a solution, and the singular values it was made with."""

    A: Matrix
    truth: Vector

    @property
    def b(self) -> Vector:
        return np.asarray(self.A @ self.truth)


def problem(m: int, n: int, *, large: float = 1.0, smallest: float = 1.0) -> Problem:
    """Singular values from 1 down to `smallest`, but for OUTLIERS from `large` down to a tenth of it where that is above 1."""
    rng = np.random.default_rng(n)
    left, right = (np.linalg.qr(rng.normal(size=(size, n)))[0] for size in (m, n))
    sigma = np.linspace(1.0, smallest, n)
    if large > 1.0:
        sigma[:OUTLIERS] = np.geomspace(large, large / 10.0, OUTLIERS)
    return Problem(np.ascontiguousarray(left * sigma @ right.T), rng.normal(size=n))


def best(rounds: int, work: Callable[[], Any]) -> float:
    """Seconds that `work` takes, the best of some rounds after one to warm up."""
    work()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


@numba.njit(nogil=True)
def bare(A: Matrix, b: Vector, order: np.ndarray, squared: Vector, x: Vector) -> None:
    """Nothing but the dot product and the step."""
    for k in range(order.shape[0]):
        i = order[k]
        total = 0.0
        for j in range(A.shape[1]):
            total += A[i, j] * x[j]
        c = (b[i] - total) / squared[i]
        for j in range(A.shape[1]):
            x[j] += c * A[i, j]


@numba.njit(nogil=True, fastmath=True)
def bare_fastmath(A: Matrix, b: Vector, order: np.ndarray, squared: Vector, x: Vector) -> None:
    """The same, free to add up in any order, which is what lets a plain loop use vector registers."""
    for k in range(order.shape[0]):
        i = order[k]
        total = 0.0
        for j in range(A.shape[1]):
            total += A[i, j] * x[j]
        c = (b[i] - total) / squared[i]
        for j in range(A.shape[1]):
            x[j] += c * A[i, j]


def rows_per_second(m: int, n: int) -> dict[str, float]:
    """Randomised Kaczmarz from the call to the answer, draws, table and both looks at the residual included."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(m, n)) * rng.uniform(0.5, 2.0, (m, 1))
    b, squared = A @ rng.normal(size=n), np.sum(A * A, axis=1)
    count = max(20 * m, 200_000)
    order = alias_table(squared).draw(np.random.default_rng(1), count)
    few = 2000
    x = np.zeros(n)
    return {
        "kaczmatch": count
        / best(5, lambda: RandomisedKaczmarz().solve(A, b, rng=np.random.default_rng(1), rows=count, every=count, tolerance=0.0)),
        "bare loop": count / best(5, lambda: bare(A, b, order, squared, x)),
        "bare loop, fastmath": count / best(5, lambda: bare_fastmath(A, b, order, squared, x)),
        "kaczmarz-algorithms": few / best(2, lambda: kaczmarz.SVRandom.solve(A, b, tol=None, maxiter=few)),
    }


def passes(method: Solver, case: Problem) -> float:
    """Rows touched by the number of rows until the error is at the goal, the median of three seeds."""
    m = len(case.A)
    found = []
    for seed in range(3):
        run = method.solve(
            case.A, case.b, rng=np.random.default_rng(seed), truth=case.truth, rows=2000 * m, tolerance=1e-11, seconds=PATIENCE
        )
        reached = np.flatnonzero(run.trace.error <= GOAL)
        found.append(run.trace.rows[reached[0]] / m if reached.size else np.inf)
    return float(np.median(found))


def seconds_of_solver(method: Solver, case: Problem) -> float:
    """Until the error is at the goal: the run that stops at the loosest tolerance that reaches it."""
    solve = partial(method.solve, case.A, case.b)
    for tolerance in 10.0 ** -np.arange(5.0, 15.0):
        run = solve(rng=np.random.default_rng(0), truth=case.truth, tolerance=tolerance, seconds=PATIENCE)
        if run.reason == "seconds":
            break
        if run.trace.error[-1] <= GOAL:
            again = [solve(rng=np.random.default_rng(0), tolerance=tolerance).trace.seconds[-1] for _ in range(2)]
            return float(min(run.trace.seconds[-1], *again))
    return np.inf


def seconds_of_krylov(solve: Callable[..., Any], limit: str, case: Problem) -> float:
    """The same for scipy's."""

    def found(tolerance: float) -> Any:
        return solve(case.A, case.b, atol=tolerance, btol=tolerance, conlim=0.0, **{limit: 20_000})[0]

    for tolerance in 10.0 ** -np.arange(5.0, 15.0):
        if np.linalg.norm(found(tolerance) - case.truth) <= GOAL * np.linalg.norm(case.truth):
            return best(2, partial(found, tolerance))
    return np.inf


SIZES = (60, 250, 500, 1000, 2000)
SPECTRA = {
    "flat": {},
    "20 large": {"large": 1e3},
    "20 large, the rest to 1/10": {"large": 1e3, "smallest": 0.1},
    "to 1/100": {"smallest": 0.01},
}


def contenders(case: Problem) -> Iterator[tuple[str, float]]:
    size = min(4 * OUTLIERS, case.A.shape[1] // 2)
    yield "randomised", seconds_of_solver(RandomisedKaczmarz(), case)
    yield "block", seconds_of_solver(BlockKaczmarz(size=size), case)
    yield "kaczmarz++", seconds_of_solver(KaczmarzPlusPlus(size=size), case)
    yield "lsqr", seconds_of_krylov(lsqr, "iter_lim", case)
    yield "lsmr", seconds_of_krylov(lsmr, "maxiter", case)
    yield "lstsq", best(2, lambda: np.linalg.lstsq(case.A, case.b, rcond=None))


def report_rows() -> list[tuple[str, float, float]]:
    print(f"{'million rows per second':>40}{'kaczmatch':>12}{'bare loop':>12}{'fastmath':>12}{'kaczmarz-algorithms':>22}")
    floors = []
    for m, n in ((1_000, 60), (100_000, 60), (5_000, 1_000)):
        rate = rows_per_second(m, n)
        print(
            f"{f'{m:,} x {n:,}':>40}"
            + "".join(f"{rate[name] / 1e6:>{w}.3f}" for name, w in zip(rate, (12, 12, 12, 22), strict=True))
        )
        floors.append((f"randomised against a bare loop, {m:,} x {n:,}", rate["kaczmatch"] / rate["bare loop"], 0.5))
        floors.append(
            (f"randomised against kaczmarz-algorithms, {m:,} x {n:,}", rate["kaczmatch"] / rate["kaczmarz-algorithms"], 50.0)
        )
    return floors


def report_passes() -> list[tuple[str, float, float]]:
    print(f"\n{f'passes until the error is {GOAL:g}, 2,000 x 500':>40}{'block':>12}{'++ plain':>12}{'kaczmarz++':>12}")
    floors = []
    for name, spectrum in SPECTRA.items():
        case = problem(2000, 500, **spectrum)
        methods = BlockKaczmarz(size=80), KaczmarzPlusPlus(size=80, momentum=False), KaczmarzPlusPlus(size=80)
        found = [passes(method, case) for method in methods]
        print(f"{name:>40}" + "".join(f"{value:>12.1f}" for value in found))
        if name == "20 large, the rest to 1/10":
            floors.append(("passes of block Kaczmarz by those of Kaczmarz++", found[0] / found[2], 1.5))
    return floors


def report_seconds() -> None:
    for name, spectrum in SPECTRA.items():
        wins: dict[str, int] = {}
        print(f"\nseconds until the error is {GOAL:g}, singular values {name}")
        for n in SIZES:
            taken = dict(contenders(problem(4 * n, n, **spectrum)))
            if n == SIZES[0]:
                print(f"{'':>16}" + "".join(f"{who:>12}" for who in taken))
            print(f"{f'{4 * n:,} x {n:,}':>16}" + "".join(f"{value:>12.4f}" for value in taken.values()))
            for who in ("randomised", "block", "kaczmarz++"):
                if taken[who] < taken["lsqr"]:
                    wins.setdefault(who, n)
                else:
                    wins.pop(who, None)
        said = ", ".join(f"{who} from {n:,} columns on" for who, n in wins.items())
        print(f"{'':>4}faster than lsqr: {said or 'none of ours at any of these sizes'}")


def main() -> None:
    with threadpool_limits(1):
        floors = report_rows() + report_passes()
        report_seconds()
    print(f"\n{'times as good':>56}{'ratio':>9}{'floor':>8}")
    for name, ratio, floor in floors:
        print(f"{name:>56}{ratio:>9.2f}{floor:>8g}{'' if ratio >= floor else '   BELOW ITS FLOOR'}")


if __name__ == "__main__":
    main()
