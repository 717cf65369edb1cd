"""When it pays to draw rows by their length, which candidates with tags hardly do, and what α does in a step.

OPENBLAS_NUM_THREADS=1 python research/row_norms.py [--seeds 5] [--rows 600] [--out FOLDER]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import kaczmatch
from _script import options, tell, tick
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.report.results import Row, Table
from kaczmatch.simulation.world import population
from kaczmatch.solvers.contract import Solver
from lineage import GOAL, MOST_PASSES, System, randomised_rate, systems, uniform_rate

ALPHAS = (0.01, 0.1, 1.0, 10.0)  # by the mean squared length of a row


def draws(seeds: int, m: int, n: int) -> list[Row]:
    """Draws by squared length beside uniform ones: how many passes the theory allows, and how many were counted."""
    rows: list[Row] = []
    for name in matrices(np.random.default_rng(0), m, n):
        tick(f"row norms, {name}")
        found: dict[str, list[float]] = {"norms": [], "uniform": []}
        for seed in range(seeds):
            A = matrices(np.random.default_rng([seed, 23]), m, n)[name]
            truth = np.asarray(np.random.default_rng([seed, 24]).normal(size=A.shape[1]))
            for order, passes in found.items():
                passes.append(_passes(kaczmatch.solver("randomised", order=order), A, truth, seed))
        A = matrices(np.random.default_rng([0, 23]), m, n)[name]
        lengths = np.linalg.norm(A, axis=1)
        rows.append(
            {
                "rows": name,
                "spread_of_lengths": float(lengths.std() / lengths.mean()),
                "bound_by_norms": float(np.log(GOAL**2) / np.log(randomised_rate(A)) / m),
                "bound_uniform": float(np.log(GOAL**2) / np.log(uniform_rate(A)) / m),
                "passes_by_norms": float(np.median(found["norms"])),
                "passes_uniform": float(np.median(found["uniform"])),
            }
        )
    return rows


def matrices(rng: np.random.Generator, m: int, n: int) -> dict[str, Matrix]:
    """Rows whose length means much, nothing, and something in between."""
    normal = rng.normal(size=(m, n))
    informed, few = normal.copy(), m // 3
    informed[few:] = 0.03 * (rng.normal(size=n) + 0.3 * rng.normal(size=(m - few, n)))
    return {
        "a third says it all, and is long": informed,
        "all alike, in units of their own": normal * rng.lognormal(0.0, 1.0, (m, 1)),
        "all alike": normal,
        "tags, each with probability 1/2": _tagged(population("uniform", 2 * m, n, rng).tags, m),
        "tags, each with a popularity": _tagged(population("sparse", 2 * m, n, rng).tags, m),
    }


def alphas(seeds: int, m: int, n: int) -> list[Row]:
    """α in a single step, on a system with a solution and with noise, and on the extended system."""
    rows: list[Row] = []
    for share in (0.0, *ALPHAS):
        tick(f"alpha {share}")
        passes, floors, biases = [], [], []
        for seed in range(seeds):
            clean, noisy = (systems(seed, m, n)[kind] for kind in ("consistent", "noisy"))
            damped = kaczmatch.solver("damped", alpha=share * clean.alpha)
            passes.append(_passes(damped, clean.A, clean.truth, seed))
            floors.append(_floor(damped, noisy, seed))
            if share > 0.0:
                biases.append(_floor(kaczmatch.solver("regularised", alpha=share * clean.alpha), noisy, seed))
        rows.append(
            {
                "alpha_by_mean_squared_length": share,
                "damped_passes_with_a_solution": float(np.median(passes)),
                "damped_error_with_noise": float(np.mean(floors)),
                "regularised_error_with_noise": float(np.mean(biases)) if biases else None,
            }
        )
    return rows


def _tagged(tags: Matrix, m: int) -> Matrix:
    """The first m candidates that have a tag at all."""
    kept: Matrix = tags[tags.any(axis=1)][:m]
    return kept


def _passes(method: Solver, A: Matrix, truth: Vector, seed: int) -> float:
    m = len(A)
    b, rng = A @ truth, np.random.default_rng([seed, 25])
    least = System(A, b).truth  # tags without a candidate leave x open
    found = method.solve(A, b, rng=rng, truth=least, rows=MOST_PASSES * m, every=max(1, m // 10), tolerance=1e-12).trace
    at = np.flatnonzero(found.error <= GOAL)
    return float(found.rows[at[0]] / m) if at.size else float("inf")


def _floor(method: Solver, system: System, seed: int) -> float:
    """The mean error to the least-squares solution over the second half of a run."""
    rng, rows = np.random.default_rng([seed, 26]), 200 * len(system.A)
    error = method.solve(system.A, system.b, rng=rng, truth=system.truth, rows=rows, tolerance=0.0).trace.error
    return float(error[len(error) // 2 :].mean())


def main(words: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--rows", type=int, default=600, help="ten times as many as unknowns")
    asked = parser.parse_args(words)
    m, n = asked.rows, asked.rows // 10
    drawn = f"Passes until the error is {GOAL:g}, rows drawn by squared length or uniformly; the bounds are the theorem's"
    damped = "What α does in a step (damped) and in the extended system (regularised), error to the least-squares solution"
    tables = [Table("row-norms", drawn, draws(asked.seeds, m, n)), Table("alpha", damped, alphas(asked.seeds, m, n))]
    tell(asked.out, tables)


if __name__ == "__main__":
    main()
