"""The Kaczmarz solvers beside a bare loop, kaczmarz-algorithms, scipy's lsqr and lsmr and numpy's lstsq, in one run.

One thread each, timed by what that thread computed, so that others on the machine count less. Prints ratios and says where
one is below its floor.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import kaczmarz
import numba
import numpy as np
from scipy.sparse.linalg import lsmr, lsqr
from threadpoolctl import threadpool_limits

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.report.results import Table
from kaczmatch.solvers.alias import alias_table
from kaczmatch.solvers.contract import Solver
from kaczmatch.solvers.registry import solver
from tables import add_out, tell

GOAL = 1e-6  # relative error at which a system counts as solved
PATIENCE = 5.0  # seconds after which a solver is given up
MOST_PASSES = 1000
MOST_STEPS = 3000  # of lsqr and lsmr
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
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
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
    count = max(10 * m, 50_000)
    order = alias_table(squared).draw(np.random.default_rng(1), count)
    few = 2000
    x = np.zeros(n)
    return {
        "kaczmatch": count
        / best(9, lambda: solver("randomised").solve(A, b, rng=np.random.default_rng(1), rows=count, every=count, tolerance=0.0)),
        "bare loop": count / best(9, lambda: bare(A, b, order, squared, x)),
        "bare loop, fastmath": count / best(9, lambda: bare_fastmath(A, b, order, squared, x)),
        "kaczmarz-algorithms": few / best(2, lambda: kaczmarz.SVRandom.solve(A, b, tol=None, maxiter=few)),
    }


def passes(method: Solver, case: Problem) -> float:
    """Rows touched by the number of rows until the error is at the goal, the median of three seeds."""
    m = len(case.A)
    found = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        trace = method.solve(case.A, case.b, rng=rng, truth=case.truth, rows=MOST_PASSES * m, tolerance=1e-11).trace
        reached = np.flatnonzero(trace.error <= GOAL)
        found.append(trace.rows[reached[0]] / m if reached.size else np.inf)
    return float(np.median(found))


def seconds_until(goal: Callable[[float], tuple[float, float]], patience: float = np.inf) -> float:
    """Of the run at the loosest tolerance that reaches the error; the quicker of two where that is not long."""
    for tolerance in (1e-6, 1e-8, 1e-10, 1e-12, 1e-14):
        error, taken = goal(tolerance)
        if error <= GOAL:
            return min(taken, goal(tolerance)[1]) if taken < 1.0 else taken
        if taken >= patience:
            break
    return np.inf


def seconds_of_solver(method: Solver, case: Problem) -> float:
    method.solve(case.A, case.b, rng=np.random.default_rng(0), rows=1)  # compiles what is not compiled yet

    def run(tolerance: float) -> tuple[float, float]:
        start = time.thread_time()
        found = method.solve(
            case.A, case.b, rng=np.random.default_rng(0), truth=case.truth, tolerance=tolerance, seconds=3 * PATIENCE
        )
        taken = time.thread_time() - start
        return float(found.trace.error[-1]), max(taken, PATIENCE) if found.reason == "seconds" else taken

    return seconds_until(run, PATIENCE)


def seconds_of_krylov(solve: Callable[..., Any], limit: str, case: Problem) -> float:
    def run(tolerance: float) -> tuple[float, float]:
        start = time.thread_time()
        x = solve(case.A, case.b, atol=tolerance, btol=tolerance, conlim=0.0, **{limit: MOST_STEPS})[0]
        taken = time.thread_time() - start
        return float(np.linalg.norm(x - case.truth) / np.linalg.norm(case.truth)), taken

    return seconds_until(run)


SIZES = (60, 250, 1000)
SPECTRA = {
    "all 1": {},
    "20 large, the rest 1": {"large": 1e3},
    "20 large, the rest from 1 to 1/10": {"large": 1e3, "smallest": 0.1},
    "from 1 to 1/100": {"smallest": 0.01},
}
OURS = ("randomised", "block", "kaczmarz++")
Floor = tuple[str, float, float]


def contenders(case: Problem) -> Iterator[tuple[str, float]]:
    size = min(4 * OUTLIERS, case.A.shape[1] // 2)
    yield "randomised", seconds_of_solver(solver("randomised"), case)
    yield "block", seconds_of_solver(solver("block", size=size), case)
    yield "kaczmarz++", seconds_of_solver(solver("kaczmarz++", size=size), case)
    yield "lsqr", seconds_of_krylov(lsqr, "iter_lim", case)
    yield "lsmr", seconds_of_krylov(lsmr, "maxiter", case)
    yield "lstsq", best(2, lambda: np.linalg.lstsq(case.A, case.b, rcond=None))


def rows_table() -> tuple[Table, list[Floor]]:
    rows, floors = [], []
    for m, n in ((1_000, 60), (100_000, 60), (5_000, 1_000)):
        rate, size = rows_per_second(m, n), f"{m:,} x {n:,}"
        rows.append({"A": size} | {name: value / 1e6 for name, value in rate.items()})
        floors.append((f"randomised against a bare loop, {size}", rate["kaczmatch"] / rate["bare loop"], 0.5))
        floors.append((f"randomised against kaczmarz-algorithms, {size}", rate["kaczmatch"] / rate["kaczmarz-algorithms"], 20.0))
    return Table("rows", "Million rows per second of one thread, draws included", rows, timed=True), floors


def passes_table() -> tuple[Table, list[Floor]]:
    rows, floors = [], []
    for name, spectrum in SPECTRA.items():
        case = problem(1000, 250, **spectrum)
        methods = solver("block", size=40), solver("kaczmarz++", size=40, momentum=False), solver("kaczmarz++", size=40)
        found = [passes(method, case) for method in methods]
        rows.append(
            {"singular values": name} | dict(zip(("block", "kaczmarz++ without momentum", "kaczmarz++"), found, strict=True))
        )
        if name == "20 large, the rest from 1 to 1/10":
            floors.append(("passes of block Kaczmarz by those of Kaczmarz++", found[0] / found[2], 1.5))
    return Table(
        "passes", f"Passes until the error is {GOAL:g}, 1,000 x 250, blocks of 40; nothing where {MOST_PASSES:,} do not do", rows
    ), floors


def seconds_tables() -> tuple[Table, Table]:
    rows, crossings = [], []
    for name, spectrum in SPECTRA.items():
        ahead: dict[str, int] = {}  # from how many columns on, without a size at which it was behind again
        for n in SIZES:
            taken = dict(contenders(problem(4 * n, n, **spectrum)))
            rows.append({"singular values": name, "A": f"{4 * n:,} x {n:,}"} | taken)
            for who in OURS:
                if taken[who] >= taken["lsqr"]:
                    ahead.pop(who, None)
                else:
                    ahead.setdefault(who, n)
        words = ", ".join(f"{who} from {n:,} columns on" for who, n in ahead.items())
        crossings.append({"singular values": name, "faster than lsqr": words or "none of ours at any size"})
    title = f"Seconds of one thread until the error is {GOAL:g}, nothing where one of ours has taken more than {PATIENCE:g}"
    return Table("seconds", title, rows, timed=True), Table("crossings", "Who beats lsqr, from which size on", crossings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_out(parser)
    options = parser.parse_args()
    with threadpool_limits(1):
        rows, floors = rows_table()
        tell(options.out, rows)
        count, more = passes_table()
        tell(options.out, count)
        tell(options.out, *seconds_tables())
    for name, ratio, floor in floors + more:
        print(f"{ratio:10.2f} times, floor {floor:g}: {name}{'' if ratio >= floor else '   BELOW ITS FLOOR'}")


if __name__ == "__main__":
    main()
