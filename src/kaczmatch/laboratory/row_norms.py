"""Why rows are drawn by their length, and why that hardly matters for candidates with tags; and what α does."""

from __future__ import annotations

from typing import Any

import numpy as np

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.laboratory.solver_runs import GOAL, MOST_PASSES, ExampleSystem, example_systems
from kaczmatch.laboratory.study import Laboratory
from kaczmatch.report.results import Table
from kaczmatch.simulation.world import population
from kaczmatch.solvers.contract import Solver
from kaczmatch.solvers.damped import DampedKaczmarz
from kaczmatch.solvers.randomised import RandomisedKaczmarz
from kaczmatch.solvers.rates import randomised_rate, uniform_rate
from kaczmatch.solvers.regularised import RegularisedKaczmarz

ALPHAS = (0.01, 0.1, 1.0, 10.0)  # by the mean squared length of a row


def row_norms_table(laboratory: Laboratory, m: int, n: int) -> Table:
    """Draws by squared length beside uniform ones: how much of the squared error the theory leaves per pass, and passes counted."""
    rows: list[dict[str, Any]] = []
    for name in matrices(np.random.default_rng(0), m, n):
        laboratory.tick(f"row norms, {name}")
        found: dict[str, list[float]] = {"by": [], "uniform": []}
        for seed in range(laboratory.plan.seeds):
            A = matrices(np.random.default_rng([seed, 23]), m, n)[name]
            truth = np.asarray(np.random.default_rng([seed, 24]).normal(size=A.shape[1]))
            found["by"].append(_passes(RandomisedKaczmarz(), A, truth, seed))
            found["uniform"].append(_passes(RandomisedKaczmarz(by="uniform"), A, truth, seed))
        A = matrices(np.random.default_rng([0, 23]), m, n)[name]
        lengths = np.linalg.norm(A, axis=1)
        rows.append(
            {
                "rows": name,
                "spread_of_lengths": float(lengths.std() / lengths.mean()),
                "bound_by_norms": float(np.log(GOAL**2) / np.log(randomised_rate(A)) / m),
                "bound_uniform": float(np.log(GOAL**2) / np.log(uniform_rate(A)) / m),
                "passes_by_norms": float(np.median(found["by"])),
                "passes_uniform": float(np.median(found["uniform"])),
            }
        )
    return Table(
        "lineage-row-norms",
        f"Passes until the error is {GOAL:g}, rows drawn by squared length or uniformly; the bounds are the theorem's",
        rows,
    )


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


def alpha_table(laboratory: Laboratory, m: int, n: int) -> Table:
    """α in a single step, on a system with a solution and with noise, and on the extended system."""
    rows: list[dict[str, Any]] = []
    for share in (0.0, *ALPHAS):
        laboratory.tick(f"alpha {share}")
        passes, floors, biases = [], [], []
        for seed in range(laboratory.plan.seeds):
            systems = example_systems(seed, m, n)
            clean, noisy = systems["consistent"], systems["noisy"]
            alpha = share * float(np.mean(np.sum(clean.A**2, axis=1)))
            passes.append(_passes(DampedKaczmarz(alpha=alpha), clean.A, clean.truth, seed))
            floors.append(_floor(DampedKaczmarz(alpha=alpha), noisy.A, noisy.b, noisy.truth, seed))
            if alpha > 0.0:
                biases.append(_floor(RegularisedKaczmarz(alpha=alpha), noisy.A, noisy.b, noisy.truth, seed))
        rows.append(
            {
                "alpha_by_mean_squared_length": share,
                "damped_passes_with_a_solution": float(np.median(passes)),
                "damped_error_with_noise": float(np.mean(floors)),
                "regularised_error_with_noise": float(np.mean(biases)) if biases else None,
            }
        )
    title = "What α does in a step (damped) and in the extended system (regularised), error to the least-squares solution"
    return Table("lineage-alpha", title, rows)


def _tagged(tags: Matrix, m: int) -> Matrix:
    """The first m candidates that have a tag at all."""
    kept: Matrix = tags[tags.any(axis=1)][:m]
    return kept


def _passes(method: Solver, A: Matrix, truth: Vector, seed: int) -> float:
    m = len(A)
    b, rng = A @ truth, np.random.default_rng([seed, 25])
    least = ExampleSystem(A, b).truth  # tags that nobody has leave x open
    found = method.solve(A, b, rng=rng, truth=least, rows=MOST_PASSES * m, every=max(1, m // 10), tolerance=1e-12).trace
    at = np.flatnonzero(found.error <= GOAL)
    return float(found.rows[at[0]] / m) if at.size else float("inf")


def _floor(method: Solver, A: Matrix, b: Vector, truth: Vector, seed: int) -> float:
    """The mean error over the second half of a run."""
    rng, m = np.random.default_rng([seed, 26]), len(A)
    error = method.solve(A, b, rng=rng, truth=truth, rows=200 * m, tolerance=0.0).trace.error
    return float(error[len(error) // 2 :].mean())
