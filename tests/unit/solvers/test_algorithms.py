"""What is true of single algorithms: equations, invariances, and the library that does the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.linalg import hadamard

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.solvers.alias import alias_table
from kaczmatch.solvers.block_methods import MomentumSchedule, mixed
from kaczmatch.solvers.contract import Advance, Solver
from kaczmatch.solvers.registry import solver
from kaczmatch.solvers.row_methods import augmented_system
from kaczmatch.solvers.system import LinearSystem, linear_system, row_add, row_dot

SHAPE = (6, 4)
whole_numbers = arrays(np.float64, SHAPE, elements=st.integers(-9, 9).map(float))
vectors = arrays(np.float64, SHAPE[1], elements=st.integers(-9, 9).map(float))


def iterates(method: Solver, A: Any, b: Vector, count: int, seed: int = 1) -> list[Vector]:
    return [method.solve(A, b, rng=np.random.default_rng(seed), rows=rows, every=1, tolerance=0.0).x for rows in range(count + 1)]


@pytest.mark.parametrize(
    "method",
    [
        solver("cyclic"),
        solver("cyclic", relaxation=1.7),
        solver("randomised"),
        solver("randomised", relaxation=0.4),
        solver("damped", alpha=3.0),
        solver("block", size=2),
        solver("block", size=3, alpha=1.0),
    ],
    ids=repr,
)
@given(A=whole_numbers.filter(np.any), truth=vectors, seed=st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_a_projection_never_leads_away_from_a_solution(method: Solver, A: Matrix, truth: Vector, seed: int) -> None:
    found = method.solve(A, A @ truth, rng=np.random.default_rng(seed), truth=truth, rows=60, every=1, tolerance=0.0)
    assert np.all(np.diff(found.trace.error) <= 1e-9)


@given(A=whole_numbers.filter(np.any), b=arrays(np.float64, SHAPE[0], elements=st.integers(-9, 9).map(float)))
@settings(max_examples=30, deadline=None)
def test_scaling_an_equation_changes_no_cyclic_step(A: Matrix, b: Vector) -> None:
    scales = 2.0 ** np.arange(-3, 3)  # powers of two, so that not even rounding differs
    plain, scaled = solver("cyclic").solve(A, b, rows=20), solver("cyclic").solve(A * scales[:, None], b * scales, rows=20)
    assert np.array_equal(plain.x, scaled.x)


@given(A=whole_numbers.filter(np.any), truth=vectors, alpha=st.floats(0.1, 100.0))
@settings(max_examples=20, deadline=None)
def test_regularised_and_the_augmented_system_agree_with_tikhonov(A: Matrix, truth: Vector, alpha: float) -> None:
    b = A @ truth + np.arange(SHAPE[0])
    expected = np.linalg.solve(A.T @ A + alpha * np.eye(SHAPE[1]), A.T @ b)
    augmented, right = augmented_system(A, b, alpha)
    assert np.linalg.solve(augmented.toarray(), right)[SHAPE[0] :] == pytest.approx(expected, abs=1e-8)
    found = solver("regularised", alpha=alpha).solve(A, b, rng=np.random.default_rng(1), rows=200_000, every=2000, tolerance=1e-7)
    if found.converged:  # a very small α beside large rows takes more rows than a test has time for
        assert found.x == pytest.approx(expected, abs=1e-3)
    else:
        assert found.trace.gradient[-1] < found.trace.gradient[0]


def test_kaczmarz_on_the_augmented_system_finds_tikhonovs_solution_from_any_start() -> None:
    rng = np.random.default_rng(0)
    A, b, alpha = rng.normal(size=(12, 5)), rng.normal(size=12), 2.0
    matrix, right = augmented_system(sparse.csr_array(A), b, alpha)
    found = solver("cyclic").solve(matrix, right, start=rng.normal(size=17), tolerance=1e-11)
    assert found.x[12:] == pytest.approx(np.linalg.solve(A.T @ A + alpha * np.eye(5), A.T @ b))
    assert found.x[:12] == pytest.approx((b - A @ found.x[12:]) / np.sqrt(alpha))


def test_regularised_pulls_towards_the_start() -> None:
    rng = np.random.default_rng(1)
    A, b, start = rng.normal(size=(12, 5)), rng.normal(size=12), rng.normal(size=5)
    found = solver("regularised", alpha=3.0).solve(A, b, rng=rng, start=start, tolerance=1e-10, rows=10**6)
    assert found.reason == "least squares"
    assert found.x == pytest.approx(start + np.linalg.solve(A.T @ A + 3.0 * np.eye(5), A.T @ (b - A @ start)))


def test_a_block_of_everything_is_least_squares_in_one_step() -> None:
    rng = np.random.default_rng(4)
    A, b = rng.normal(size=(9, 9)), rng.normal(size=9)
    assert solver("block", size=9).solve(A, b, rng=rng, rows=9).x == pytest.approx(np.linalg.solve(A, b))


def test_mixing_is_hadamards_matrix_and_keeps_the_solutions() -> None:
    rng = np.random.default_rng(5)
    A, truth = rng.normal(size=(7, 3)), rng.normal(size=3)
    system = mixed(linear_system(A, A @ truth), np.random.default_rng(6))
    signs = np.random.default_rng(6).choice([-1.0, 1.0], 7)
    expected = hadamard(8) @ np.vstack([signs[:, None] * A, np.zeros((1, 3))]) / np.sqrt(8)
    assert system.matrix == pytest.approx(expected)
    assert system.matrix.T @ system.matrix == pytest.approx(A.T @ A)
    assert system.matrix @ truth == pytest.approx(system.b)


def test_mixing_makes_one_row_that_matters_matter_everywhere() -> None:
    A = np.full((64, 4), 1e-3)
    A[17] = [1.0, 2.0, 3.0, 4.0]
    squared = mixed(linear_system(A, A @ np.ones(4)), np.random.default_rng(0)).squared
    assert squared.max() < 2.0 * squared.min()
    assert squared.sum() == pytest.approx(np.sum(A * A))


def test_the_momentum_schedule_finds_the_rate_of_a_run() -> None:
    steady = MomentumSchedule(columns=100, size=10)
    for step in range(220):
        steady.saw(0.9**step)
    assert steady.eta == 10 / 200
    rho = 1.0 - 0.9
    assert steady.momentum == pytest.approx((1.0 - rho) / (1.0 + rho), rel=0.02)
    stuck = MomentumSchedule(columns=100, size=10)
    for _ in range(2000):
        stuck.saw(1.0)
    assert stuck.momentum == pytest.approx(1.0, abs=0.01)
    for _ in range(50):
        MomentumSchedule(columns=2, size=1).saw(0.0)  # a residual of nothing at all divides by nothing


def test_momentum_waits_for_the_first_estimate() -> None:
    rng = np.random.default_rng(7)
    A = rng.normal(size=(64, 32))
    b = A @ rng.normal(size=32)
    plain, pushed = (
        solver("kaczmarz++", size=4, momentum=momentum).solve(
            A, b, rng=np.random.default_rng(8), every=4, rows=4 * 30, tolerance=0.0
        )
        for momentum in (False, True)
    )
    same = plain.trace.residual == pushed.trace.residual
    assert same[:19].all()  # two windows of 1 + 32/4 steps
    assert not same[19:].any()


def test_rows_of_sparse_and_dense_matrices_are_walked_alike() -> None:
    rng = np.random.default_rng(9)
    A = rng.normal(size=(20, 6)) * (rng.random((20, 6)) < 0.5)
    b = rng.normal(size=20)
    for method in (
        solver("cyclic"),
        solver("randomised"),
        solver("damped"),
        solver("regularised"),
        solver("block", size=3),
        solver("kaczmarz++", size=2, mixing=False),
    ):
        dense, thin = (method.solve(form, b, rng=np.random.default_rng(1), rows=60) for form in (A, sparse.csr_array(A)))
        assert dense.x == pytest.approx(thin.x, rel=1e-9, abs=1e-12)


def test_row_access_is_for_kernels() -> None:
    with pytest.raises(TypeError, match="compiled"):
        row_dot(np.ones((1, 1)), 0, np.ones(1))
    with pytest.raises(TypeError, match="compiled"):
        row_add(np.ones(1), 1.0, np.ones((1, 1)), 0)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Exploding(Solver):
    def begin(self, system: LinearSystem, x: Vector, rng: np.random.Generator) -> Advance:
        def advance(rows: int) -> float:
            x[:] = 1e100 * (x + len(system.b) + rng.random())
            return rows

        return advance


def test_what_diverges_says_so_and_stops() -> None:
    found = Exploding().solve(np.eye(3), np.ones(3), rng=np.random.default_rng(0))
    assert found.reason == "diverged"
    assert not found.converged
    assert len(found.trace.rows) < 6


def test_cyclic_takes_the_steps_of_kaczmarz_algorithms() -> None:
    kaczmarz = pytest.importorskip("kaczmarz")
    rng = np.random.default_rng(12)
    A = rng.normal(size=(15, 6)) * rng.uniform(0.1, 10.0, (15, 1))
    b = rng.normal(size=15)
    theirs = list(kaczmarz.Cyclic.iterates(A, b, tol=None, maxiter=40))
    assert np.array(iterates(solver("cyclic"), A, b, 40)) == pytest.approx(np.array(theirs), abs=1e-10)


def test_randomised_takes_the_steps_of_kaczmarz_algorithms_on_the_same_rows() -> None:
    kaczmarz = pytest.importorskip("kaczmarz")
    rng = np.random.default_rng(13)
    A = rng.normal(size=(15, 6)) * rng.uniform(0.1, 10.0, (15, 1))
    b = rng.normal(size=15)
    order = alias_table(np.sum(A * A, axis=1)).draw(np.random.default_rng(1), 60)

    class OnTheseRows(kaczmarz.Base):  # type: ignore[misc,name-defined]
        def _select_row_index(self, xk: Vector) -> int:  # noqa: ARG002 (their signature)
            return int(order[self._k - 1])

    theirs = list(OnTheseRows.iterates(A, b, tol=None, maxiter=60))[-1]
    ours = solver("randomised").solve(A, b, rng=np.random.default_rng(1), rows=60, every=60, tolerance=0.0)
    assert ours.x == pytest.approx(theirs, abs=1e-10)
