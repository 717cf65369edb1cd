"""What every solver promises, whatever its algorithm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from kaczmatch import InvalidInput
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.solvers.contract import Solver
from kaczmatch.solvers.registry import SOLVERS, solver
from kaczmatch.solvers.row_methods import ExtendedKaczmarz, RegularisedKaczmarz

VARIANTS: dict[str, Solver] = {slug: solver(slug) for slug in SOLVERS} | {
    "cyclic, relaxed": solver("cyclic", relaxation=0.7),
    "cyclic, overrelaxed": solver("cyclic", relaxation=1.3),
    "randomised, uniform": solver("randomised", order="uniform"),
    "damped a lot": solver("damped", alpha=20.0),
    "regularised more": solver("regularised", alpha=30.0),
    "block of 1": solver("block", size=1),
    "block, sampled": solver("block", size=5, paved=False),
    "block, damped": solver("block", size=5, alpha=2.0),
    "kaczmarz++ of 4": solver("kaczmarz++", size=4),
    "kaczmarz++ of 4 without momentum": solver("kaczmarz++", size=4, momentum=False),
    "kaczmarz++ of 4 without memory": solver("kaczmarz++", size=4, memory=False),
    "kaczmarz++ of 4 without mixing": solver("kaczmarz++", size=4, mixing=False),
}
LEAST_SQUARES = ExtendedKaczmarz | RegularisedKaczmarz  # the others are for systems that have a solution


@pytest.fixture(params=VARIANTS, ids=[name.replace(" ", "-").replace(",", "") for name in VARIANTS])
def method(request: pytest.FixtureRequest) -> Solver:
    return VARIANTS[request.param]


def system(seed: int, m: int = 40, n: int = 12, noise: float = 0.0) -> tuple[Matrix, Vector]:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, n))
    return A, A @ rng.normal(size=n) + noise * rng.normal(size=m)


def best(method: Solver, A: Matrix, b: Vector) -> Vector:
    """The x the solver is for: of least squares and, among those, of least length, or Tikhonov's."""
    if method.penalty == 0.0:
        return np.asarray(np.linalg.lstsq(A, b, rcond=None)[0])
    return np.asarray(np.linalg.solve(A.T @ A + method.penalty * np.eye(A.shape[1]), A.T @ b))


def generator(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("shape", [(40, 12), (8, 12), (5, 1)], ids=lambda shape: f"{shape[0]}x{shape[1]}")
def test_a_system_with_a_solution_is_solved_as_least_squares_does(method: Solver, shape: tuple[int, int]) -> None:
    A, b = system(3, *shape)
    found = method.solve(A, b, rng=generator(), tolerance=1e-9, rows=4_000_000, every=4000)
    assert found.converged
    assert found.x == pytest.approx(best(method, A, b), rel=1e-4, abs=1e-6)


def test_rows_that_depend_on_each_other_and_rows_of_zeros_are_no_trouble(method: Solver) -> None:
    A, _ = system(4, 9, 6)
    A = np.vstack([A, A[:4], np.zeros((3, 6)), A[:4] + A[2:6]])
    A[:, 5] = A[:, 4]
    b = A @ np.arange(6.0)
    found = method.solve(A, b, rng=generator(), tolerance=1e-9, rows=4_000_000, every=2000)
    assert found.converged
    assert found.x == pytest.approx(best(method, A, b), rel=1e-4, abs=1e-6)


def test_a_system_without_a_solution_is_solved_or_not_claimed_to_be(method: Solver) -> None:
    A, b = system(5, noise=1.0)
    found = method.solve(A, b, rng=generator(), rows=40_000)
    if isinstance(method, LEAST_SQUARES):
        assert found.reason == "least squares"
        assert found.x == pytest.approx(best(method, A, b), rel=1e-5, abs=1e-7)
    else:
        assert not found.converged


def test_a_sparse_matrix_leads_to_the_same_x(method: Solver) -> None:
    A, _ = system(6)
    A[np.abs(A) < 0.8] = 0.0
    b = A @ np.ones(12)
    found = method.solve(sparse.csr_array(A), b, rng=generator(), tolerance=1e-9, rows=4_000_000, every=2000)
    assert found.converged
    assert found.x == pytest.approx(best(method, A, b), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("form", [sparse.csc_array, sparse.coo_matrix, sparse.csr_matrix])
def test_sparse_matrices_of_all_forms_are_the_same_rows(form: Any) -> None:
    A, b = system(6)
    A[np.abs(A) < 0.8] = 0.0
    found, same = (solver("cyclic").solve(matrix, b, rows=400) for matrix in (form(A), sparse.csr_array(A)))
    assert np.array_equal(found.x, same.x)


def test_inputs_are_left_as_they_were_and_may_be_read_only(method: Solver) -> None:
    A, b = system(7)
    start = np.ones(12)
    kept = A.copy(), b.copy()
    for array in (A, b, start):
        array.flags.writeable = False
    found = method.solve(A, b, rng=generator(), start=start, truth=start, rows=200)
    assert np.array_equal(A, kept[0])
    assert np.array_equal(b, kept[1])
    assert np.array_equal(start, np.ones(12))
    assert found.x is not start
    assert found.x.flags.writeable


def test_a_sparse_matrix_with_repeated_entries_is_left_as_it_was(method: Solver) -> None:
    A = sparse.csr_array((np.array([1.0, 2.0, 3.0]), np.array([1, 0, 0]), np.array([0, 2, 3])), shape=(2, 2))
    doubled = sparse.csr_array((np.array([1.0, 1.0, 3.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    for matrix in (A, doubled):
        kept = matrix.data.copy(), matrix.indices.copy()
        assert method.solve(matrix, matrix @ np.array([1.0, 2.0]), rng=generator()).converged
        assert np.array_equal(matrix.data, kept[0])
        assert np.array_equal(matrix.indices, kept[1])


def test_the_same_seed_gives_the_same_bits_and_float64(method: Solver) -> None:
    A, b = system(8)
    once, again = (method.solve(A, b, rng=generator(9), rows=400) for _ in range(2))
    assert np.array_equal(once.x, again.x)
    assert np.array_equal(once.trace.residual, again.trace.residual)
    assert once.x.dtype == np.float64
    single = method.solve(A.astype(np.float32), b.tolist(), rng=generator(9), rows=400)
    assert single.x.dtype == np.float64
    assert np.array_equal(single.x, method.solve(A.astype(np.float32).astype(float), b, rng=generator(9), rows=400).x)


def test_the_trace_says_what_happened(method: Solver) -> None:
    A, b = system(10)
    truth = np.linspace(1.0, 2.0, 12)
    found = method.solve(A, b, rng=generator(), truth=truth, rows=300, every=50, tolerance=0.0)
    trace = found.trace
    assert trace.rows[0] == 0.0
    assert trace.residual[0] == 1.0
    assert trace.error[0] == 1.0
    assert np.all(np.diff(trace.rows) > 0.0)
    assert np.all(np.diff(trace.seconds) >= 0.0)
    assert trace.residual[-1] == pytest.approx(np.linalg.norm(b - A @ found.x) / np.linalg.norm(b))
    assert trace.error[-1] == pytest.approx(np.linalg.norm(found.x - truth) / np.linalg.norm(truth))
    assert np.all(np.isnan(method.solve(A, b, rng=generator(), rows=50).trace.error))


def test_limits_are_kept_and_named(method: Solver) -> None:
    A, b = system(11, noise=1.0)
    found = method.solve(A, b, rng=generator(), rows=100, every=30, tolerance=0.0)
    assert found.reason == "rows"
    assert 100 <= found.trace.rows[-1] <= 100 + 40  # a block may go over it, by less than itself
    nothing = method.solve(A, b, rng=generator(), rows=0, start=np.ones(12))
    assert nothing.reason == "rows"
    assert np.array_equal(nothing.x, np.ones(12))
    late = method.solve(A, b, rng=generator(), seconds=0.0, tolerance=0.0)
    assert late.reason == "seconds"
    assert late.trace.rows.tolist() == [0.0]
    assert method.solve(A, b, rng=generator(), seconds=0.01, rows=10**12, tolerance=0.0).reason == "seconds"


def test_the_answer_as_a_start_is_answered_at_once(method: Solver) -> None:
    A, _ = system(12)
    truth = np.linspace(-1.0, 1.0, 12)
    found = method.solve(A, A @ truth, rng=generator(), start=truth)
    assert found.converged
    assert found.trace.rows.tolist() == [0.0]
    assert np.array_equal(found.x, truth)


def test_zero_on_the_right_is_solved_by_zero(method: Solver) -> None:
    A, _ = system(13)
    assert method.solve(A, np.zeros(40), rng=generator()).x.tolist() == [0.0] * 12
    if method.penalty == 0.0:
        found = method.solve(A, np.zeros(40), rng=generator(), start=np.ones(12), rows=400_000)
        assert found.converged
        assert np.abs(found.x).max() < 1e-5


A, B = system(14)
BAD = np.where(np.arange(40) == 3, np.nan, B)
HOLE = A.copy()
HOLE[2, 1] = np.inf


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("A", {"A": A[0]}),
        ("A", {"A": A[:, :0]}),
        ("A", {"A": A * 0.0}),
        ("A", {"A": HOLE}),
        ("A", {"A": sparse.csr_array(HOLE)}),
        ("A", {"A": A * 1e60}),
        ("A", {"A": sparse.csr_array(A * 1e60)}),
        ("A", {"A": A.astype(complex)}),
        ("A", {"A": sparse.csr_array(A.astype(complex))}),
        ("A", {"A": sparse.coo_array(A[0])}),
        ("A", {"A": [[1.0, 2.0], [3.0]]}),
        ("A", {"A": [["one", "two"]]}),
        ("b", {"b": B[:-1]}),
        ("b", {"b": B[:, None]}),
        ("b", {"b": BAD}),
        ("start", {"start": np.ones(11)}),
        ("start", {"start": np.full(12, np.nan)}),
        ("truth", {"truth": np.ones(13)}),
        ("tolerance", {"tolerance": -1.0}),
        ("tolerance", {"tolerance": math.nan}),
        ("rows", {"rows": 1.5}),
        ("rows", {"rows": -1}),
        ("every", {"every": 0}),
        ("seconds", {"seconds": "soon"}),
        ("seconds", {"seconds": math.nan}),
        ("rng", {"rng": 3}),
    ],
)
def test_bad_input_is_named(field: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        solver("randomised").solve(**({"A": A, "b": B, "rng": generator()} | arguments))
    assert caught.value.field == field


def test_who_draws_asks_for_a_generator(method: Solver) -> None:
    if method.draws:
        with pytest.raises(InvalidInput, match="default_rng"):
            method.solve(A, B)
    else:
        assert method.solve(A, B).converged


@pytest.mark.parametrize(
    ("slug", "settings", "field"),
    [
        ("cyclick", {}, "slug"),
        (None, {}, "slug"),
        ("cyclic", {"size": 2}, "size"),
        ("extended", {"alpha": 1.0}, "alpha"),
        ("cyclic", {"relaxation": 2.0}, "relaxation"),
        ("randomised", {"relaxation": 0.0}, "relaxation"),
        ("randomised", {"order": "luck"}, "order"),
        ("damped", {"alpha": -1.0}, "alpha"),
        ("regularised", {"alpha": 0.0}, "alpha"),
        ("block", {"size": 0}, "size"),
        ("block", {"alpha": math.nan}, "alpha"),
        ("kaczmarz++", {"size": 2.5}, "size"),
        ("kaczmarz++", {"damping": -1.0}, "damping"),
    ],
)
def test_settings_that_cannot_be_are_named(slug: Any, settings: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        solver(slug, **settings)
    assert caught.value.field == field
