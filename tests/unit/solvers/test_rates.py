"""Each algorithm within its theorem's bound, on systems the theorem is about; means over seeded runs."""

from __future__ import annotations

import numpy as np
import pytest

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.solvers.contract import Solver
from kaczmatch.solvers.registry import solver
from lineage import block_rate, damped_rate, randomised_rate, regularised_rate, singular_values, uniform_rate

RUNS = 200
M, N = 30, 8


def system(seed: int, scaled: bool = True) -> tuple[Matrix, Vector]:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(M, N)) * (rng.uniform(0.3, 3.0, (M, 1)) if scaled else 1.0)
    return A, rng.normal(size=N)


def squared_errors(method: Solver, A: Matrix, b: Vector, truth: Vector, rows: int, every: int) -> Vector:
    """E‖x_k - x*‖²/‖x*‖², the mean over runs, at every look."""
    runs = [
        method.solve(A, b, rng=np.random.default_rng(seed), truth=truth, rows=rows, every=every, tolerance=0.0).trace.error
        for seed in range(RUNS)
    ]
    return np.asarray(np.mean(np.square(runs), axis=0))


@pytest.mark.parametrize("seed", [0, 1])
def test_randomised_is_within_strohmers_and_vershynins_bound(seed: int) -> None:
    A, truth = system(seed)
    errors = squared_errors(solver("randomised"), A, A @ truth, truth, 400, 20)
    assert np.all(errors <= randomised_rate(A) ** (20 * np.arange(21)) * (1 + 1e-12))
    uniform = squared_errors(solver("randomised", order="uniform"), A, A @ truth, truth, 400, 20)
    assert np.all(uniform <= uniform_rate(A) ** (20 * np.arange(21)) * (1 + 1e-12))


def test_where_the_bound_is_an_equation_it_is_met() -> None:
    # Orthogonal rows of one length: every step removes a share 1/n of what is left, in expectation exactly.
    A = 3.0 * np.linalg.qr(np.random.default_rng(2).normal(size=(N, N)))[0]
    truth = A.sum(axis=0)  # equally much along every row
    errors = squared_errors(solver("randomised"), A, A @ truth, truth, 24, 4)
    assert randomised_rate(A) == pytest.approx(1.0 - 1.0 / N)
    assert errors == pytest.approx((1.0 - 1.0 / N) ** (4.0 * np.arange(7)), rel=0.15)


def test_rows_are_drawn_by_their_squared_length() -> None:
    # Two rows at a right angle: the error along each is gone as soon as it was drawn once.
    A, truth = np.diag([1.0, 3.0]), np.array([1.0, 1.0])
    first = [
        solver("randomised").solve(A, A @ truth, rng=np.random.default_rng(seed), rows=1, tolerance=0.0).x for seed in range(2000)
    ]
    assert np.mean(first, axis=0) == pytest.approx([0.1, 0.9], abs=0.02)


def test_a_system_without_a_solution_keeps_needells_floor() -> None:
    A, truth = system(3)
    noise = np.random.default_rng(4).normal(size=M)
    noise -= A @ np.linalg.lstsq(A, noise, rcond=None)[0]  # so that truth is the least-squares solution
    errors = squared_errors(solver("randomised"), A, A @ truth + noise, truth, 600, 20) * (truth @ truth)
    floor = noise @ noise / singular_values(A)[-1] ** 2
    assert np.all(errors <= randomised_rate(A) ** (20 * np.arange(31)) * (truth @ truth) + floor)
    assert errors[-1] > 0.01 * floor  # and it is a floor: the error does not go away


@pytest.mark.parametrize("alpha", [0.5, 5.0, 50.0])
def test_damped_is_within_its_bound_and_slower_with_more_damping(alpha: float) -> None:
    A, truth = system(5)
    errors = squared_errors(solver("damped", alpha=alpha), A, A @ truth, truth, 400, 20)
    assert np.all(errors <= damped_rate(A, alpha) ** (20 * np.arange(21)) * (1 + 1e-12))
    assert errors[-1] > squared_errors(solver("damped", alpha=alpha / 10), A, A @ truth, truth, 400, 20)[-1]


def test_regularised_is_within_the_bound_of_the_extended_system() -> None:
    A, truth = system(6)
    alpha, b = 4.0, A @ truth + np.random.default_rng(7).normal(size=M)
    best = np.linalg.solve(A.T @ A + alpha * np.eye(N), A.T @ b)
    whole = best @ best + np.sum((b - A @ best) ** 2) / alpha  # the solution's other half is v = (b - Ax)/√α
    errors = squared_errors(solver("regularised", alpha=alpha), A, b, best, 1500, 50) * (best @ best)
    assert np.all(errors <= regularised_rate(A, alpha) ** (50 * np.arange(31)) * whole)
    assert errors[-1] < 1e-3 * errors[0]


def test_block_is_within_needells_and_tropps_bound() -> None:
    A, truth = system(8)
    method = solver("block", size=5)
    runs, bounds = [], []
    for seed in range(RUNS):
        run = method.solve(A, A @ truth, rng=np.random.default_rng(seed), truth=truth, rows=300, every=5, tolerance=0.0)
        runs.append(run.trace.error**2)
        blocks = np.array_split(np.random.default_rng(seed).permutation(M), 6)  # the paving the solver draws first
        bounds.append(block_rate(A, blocks) ** np.arange(61))
    assert np.all(np.mean(runs, axis=0) <= np.mean(bounds, axis=0) * (1 + 1e-12))


def test_extended_is_within_zouzias_and_freris_bound_though_there_is_no_solution() -> None:
    A, truth = system(9)
    b = A @ truth + np.random.default_rng(10).normal(size=M)
    best = np.linalg.lstsq(A, b, rcond=None)[0]
    per_step = 1.0 + M / N
    runs = [
        solver("extended").solve(A, b, rng=np.random.default_rng(seed), truth=best, rows=4000, every=200, tolerance=0.0).trace
        for seed in range(RUNS)
    ]
    steps = np.round(runs[0].rows / per_step)
    sigma = singular_values(A)
    bound = randomised_rate(A) ** (steps // 2) * (1.0 + 2.0 * (sigma[0] / sigma[-1]) ** 2)
    errors = np.mean([run.error**2 for run in runs], axis=0)
    assert np.all(errors <= bound)
    assert errors[-1] < 1e-6


def outlying(large: float, m: int = 256, n: int = 64, count: int = 6) -> Matrix:
    """Singular values from 1 down to 1/10, but for a few large ones."""
    rng = np.random.default_rng(11)
    left, right = (np.linalg.qr(rng.normal(size=(size, n)))[0] for size in (m, n))
    sigma = np.linspace(1.0, 0.1, n)
    sigma[:count] = large
    return np.asarray(left * sigma @ right.T)


def passes(method: Solver, A: Matrix) -> float:
    """Rows touched by the number of rows until the error is below one in a million, the median of seeds."""
    truth = np.random.default_rng(12).normal(size=A.shape[1])
    counts = []
    for seed in range(5):
        found = method.solve(
            A, A @ truth, rng=np.random.default_rng(seed), truth=truth, rows=1000 * len(A), every=32, tolerance=1e-11
        )
        assert found.converged
        counts.append(found.trace.rows[np.argmax(found.trace.error < 1e-6)] / len(A))
    return float(np.median(counts))


def test_large_singular_values_cost_kaczmarz_plus_plus_nothing() -> None:
    method = solver("kaczmarz++", size=24)
    near, far = passes(method, outlying(10.0)), passes(method, outlying(1000.0))
    assert far == pytest.approx(near, rel=0.25)
    A = outlying(1000.0)
    assert 1.0 - randomised_rate(A) < 1e-8  # where one row at a time would need more than a hundred million


def test_kaczmarz_plus_plus_needs_fewer_passes_than_blocks_and_than_itself_without_momentum() -> None:
    A = outlying(100.0)
    accelerated = passes(solver("kaczmarz++", size=24), A)
    assert accelerated < 0.6 * passes(solver("kaczmarz++", size=24, momentum=False), A)
    assert accelerated < 0.6 * passes(solver("block", size=24), A)
    # The memory saves factors, not passes.
    assert accelerated == pytest.approx(passes(solver("kaczmarz++", size=24, memory=False), A), rel=0.3)
