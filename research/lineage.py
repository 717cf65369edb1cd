"""How fast each member of the Kaczmarz family converges, beside its theorem and beside lsqr, lsmr and lstsq.

    OPENBLAS_NUM_THREADS=1 python research/lineage.py [--seeds 5] [--rows 600] [--out FOLDER]

Three systems: one with a solution, the same with noise on the right, and one with a few large singular values.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from scipy.sparse.linalg import lsmr, lsqr

import kaczmatch
from _script import options, tell, tick
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.report.results import Figure, Row, Table
from kaczmatch.solvers.alias import alias_table
from kaczmatch.solvers.contract import Solver, SolverTrace

GOAL = 1e-6  # relative error at which a system counts as solved
BLOCK = 16
OUTLYING = 6  # large singular values of the ill-conditioned system
KRYLOV_STEPS = 120
MOST_PASSES = 200
COLOURS = {
    "cyclic": "#999933",
    "randomised": "#0072B2",
    "damped": "#56B4E9",
    "regularised": "#CC79A7",
    "block": "#009E73",
    "extended": "#E69F00",
    "kaczmarz++": "#D55E00",
    "lsqr": "#000000",
    "lsmr": "#7F7F7F",
    "lstsq": "#000000",
    "kaczmarz-algorithms": "#882255",
}
DASHED = ("lsqr", "lsmr", "kaczmarz-algorithms")
KINDS = ["consistent", "noisy", "ill-conditioned"]


# What the theorems promise: the share of the squared error that is left, in expectation, after one step. Each is for a system
# with a solution, from a start in the span of the rows; σ_min is the smallest singular value that is not 0.


def singular_values(A: Matrix) -> Vector:
    """Those that are not 0, the largest first."""
    sigma = np.linalg.svd(A, compute_uv=False)
    kept: Vector = sigma[sigma > max(A.shape) * np.finfo(np.float64).eps * sigma[0]]
    return kept


def randomised_rate(A: Matrix) -> float:
    """1 - σ_min²/‖A‖_F² per row drawn by squared length (Strohmer and Vershynin 2009)."""
    sigma = singular_values(A)
    return float(1.0 - sigma[-1] ** 2 / np.sum(A * A))


def uniform_rate(A: Matrix) -> float:
    """The same for uniform draws: that of the matrix with its rows made unit vectors."""
    return randomised_rate(A / np.linalg.norm(A, axis=1, keepdims=True))


def damped_rate(A: Matrix, alpha: float) -> float:
    """1 - min ω(2 - ω) σ_min²/‖A‖_F² with ω = ‖a‖²/(‖a‖² + α) of each row, drawn by squared length."""
    squared = np.sum(A * A, axis=1)
    omega = squared / (squared + alpha)
    return float(1.0 - np.min(omega * (2.0 - omega)) * (1.0 - randomised_rate(A)))


def regularised_rate(A: Matrix, alpha: float) -> float:
    """The randomised rate of the extended matrix (A  √α I)."""
    return randomised_rate(np.hstack([A, np.sqrt(alpha) * np.eye(len(A))]))


def block_rate(A: Matrix, blocks: Sequence[Any]) -> float:
    """1 - σ_min²/(βM) per block of a partition into M with ‖A_τ‖² at most β (Needell and Tropp 2014)."""
    largest = max(np.linalg.norm(A[block], 2) ** 2 for block in blocks)
    return float(1.0 - singular_values(A)[-1] ** 2 / (largest * len(blocks)))


def passes_allowed(name: str, method: Solver, system: System, seed: int) -> float | None:
    """Passes after which the theorem's bound on the squared error is at the goal, where there is a theorem for it.

    The bound is `most` times the squared length of the solution, times `rate` per step, each of which reads `rows`.
    """
    A, m = system.A, len(system.A)
    most, rows = 1.0, 1.0
    if name == "randomised":
        rate = randomised_rate(A)
    elif name == "damped":
        rate = damped_rate(A, system.alpha)
    elif name == "regularised":
        x = system.best(method.penalty)
        most += float(np.sum((system.b - A @ x) ** 2) / method.penalty / (x @ x))  # the other half of the extended solution
        rate = regularised_rate(A, method.penalty)
    elif name == "block":
        paving = np.array_split(np.random.default_rng([seed, 21]).permutation(m), -(-m // BLOCK))
        rate, rows = block_rate(A, paving), m / len(paving)
    elif name == "extended":  # Zouzias and Freris 2013
        sigma = singular_values(A)
        most += 2.0 * float(sigma[0] / sigma[-1]) ** 2
        rate, rows = math.sqrt(randomised_rate(A)), 1.0 + m / A.shape[1]
    else:
        return None
    return math.log(GOAL**2 / most) / math.log(rate) * rows / m


@dataclass(frozen=True)
class System:
    """A system and the x that a solver is to find: of least squares, whether it solves the system or not."""

    A: Matrix
    b: Vector

    @property
    def truth(self) -> Vector:
        return self.best(0.0)

    @property
    def alpha(self) -> float:
        """The mean squared length of a row."""
        return float(np.mean(np.sum(self.A**2, axis=1)))

    def best(self, penalty: float) -> Vector:
        """The x of least ‖Ax - b‖² + α‖x‖²."""
        if penalty == 0.0:
            return np.asarray(np.linalg.lstsq(self.A, self.b, rcond=None)[0])
        n = self.A.shape[1]
        return np.asarray(np.linalg.solve(self.A.T @ self.A + penalty * np.eye(n), self.A.T @ self.b))


@dataclass(frozen=True)
class Run:
    """Relative error after so many passes over the rows and so many seconds."""

    passes: Vector
    seconds: Vector
    error: Vector

    def reached(self, values: Vector) -> float:
        """The first of `values` at which the error is at the goal; infinite where it never is."""
        at = np.flatnonzero(self.error <= GOAL)
        return float(values[at[0]]) if at.size else float("inf")


def systems(seed: int, m: int, n: int) -> dict[str, System]:
    rng = np.random.default_rng([seed, 20])
    A = rng.normal(size=(m, n)) * rng.uniform(0.5, 2.0, (m, 1))
    b = A @ rng.normal(size=n)
    left, right = (np.linalg.qr(rng.normal(size=(size, n)))[0] for size in (m, n))
    sigma = np.linspace(1.0, 0.1, n)
    sigma[:OUTLYING] = 100.0
    stretched = np.ascontiguousarray(left * sigma @ right.T)
    noise = 0.05 * np.linalg.norm(b) / np.sqrt(m) * rng.normal(size=m)
    return {
        "consistent": System(A, b),
        "noisy": System(A, b + noise),
        "ill-conditioned": System(stretched, stretched @ rng.normal(size=n)),
    }


def solvers(system: System) -> dict[str, Solver]:
    """Every algorithm; α where there is one is the mean squared length of a row."""
    settings = {"damped": {"alpha": system.alpha}, "regularised": {"alpha": system.alpha}}
    settings |= {"block": {"size": BLOCK}, "kaczmarz++": {"size": BLOCK}}
    return {slug: kaczmatch.solver(slug, **settings.get(slug, {})) for slug in kaczmatch.SOLVERS}


def run(method: Solver, system: System, seed: int) -> Run:
    """Its error to the x it is for, which is Tikhonov's for the regularised one. The quicker of two runs: others compute too."""
    m, truth = len(system.A), system.best(method.penalty)
    method.solve(system.A, system.b, rng=np.random.default_rng(0), rows=1)  # so that compiling is not timed

    def once() -> SolverTrace:
        rng = np.random.default_rng([seed, 21])
        limits = {"rows": MOST_PASSES * m, "every": max(1, m // 4), "tolerance": 1e-12}
        return method.solve(system.A, system.b, rng=rng, truth=truth, **limits).trace

    found = once()
    return Run(found.rows / m, np.minimum(found.seconds, once().seconds), found.error)


def other_solvers() -> dict[str, Callable[[System, int], Run]]:
    """scipy's and numpy's, and kaczmarz-algorithms where it is installed."""
    found: dict[str, Callable[[System, int], Run]] = {
        "lsqr": lambda system, _: _krylov(lsqr, "iter_lim", system),
        "lsmr": lambda system, _: _krylov(lsmr, "maxiter", system),
        "lstsq": lambda system, _: _direct(system),
    }
    if importlib.util.find_spec("kaczmarz") is not None:
        found["kaczmarz-algorithms"] = _kaczmarz_algorithms
    return found


def _krylov(solve: Callable[..., Any], limit: str, system: System) -> Run:
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
    return Run(*np.array(points).T)


def _direct(system: System) -> Run:
    begun = time.perf_counter()
    truth = system.truth
    return Run(np.array([np.nan]), np.array([time.perf_counter() - begun]), np.array([_error(truth, truth)]))


def _kaczmarz_algorithms(system: System, seed: int) -> Run:
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

    return Run(*np.array(list(looks())).T)


def _error(x: Vector, truth: Vector) -> float:
    return float(np.linalg.norm(x - truth) / np.linalg.norm(truth))


def converged(seeds: int, m: int, n: int) -> tuple[list[Row], list[Row], list[Row]]:
    """The points of seed 0, and for every system and solver the passes and the seconds to the goal."""
    runs: dict[tuple[str, str], list[Run]] = {}
    bounds: dict[tuple[str, str], list[float]] = {}
    for seed in range(seeds):
        for kind, system in systems(seed, m, n).items():
            for name, method in solvers(system).items():
                tick(f"{name}, {kind}, seed {seed}")
                runs.setdefault((kind, name), []).append(run(method, system, seed))
                bound = passes_allowed(name, method, system, seed)
                if bound is not None and (kind != "noisy" or name in ("extended", "regularised")):
                    bounds.setdefault((kind, name), []).append(bound)
            for name, other in other_solvers().items():
                runs.setdefault((kind, name), []).append(other(system, seed))
    points: list[Row] = []
    counted: list[Row] = []
    timed: list[Row] = []
    for (kind, name), each in runs.items():
        one, head = each[0], {"system": kind, "solver": name}
        shown = np.unique(np.geomspace(1, len(one.error), 90).astype(int)) - 1  # as dense as a logarithmic axis shows
        points += [
            head | {"passes": float(p), "seconds": float(s), "error": max(float(e), 1e-13)}
            for p, s, e in zip(one.passes[shown], one.seconds[shown], one.error[shown], strict=True)
            if e > 1e-13 or name == "lstsq"
        ]
        passes, seconds = (float(np.median([r.reached(getattr(r, what)) for r in each])) for what in ("passes", "seconds"))
        if name != "lstsq":
            within = float(np.median(bounds[kind, name])) if (kind, name) in bounds else None
            last = float(np.median([r.error[-1] for r in each]))
            counted.append(head | {"passes": passes, "theory_at_most": within, "last_error": last})
        timed.append(head | {"seconds": seconds})
    return points, counted, timed


def figures(points: Sequence[Row], m: int, n: int) -> list[Figure]:
    """Error over passes and over seconds; dotted: the squared error that the theorem allows randomised Kaczmarz, as a root."""
    allowed: list[Row] = []
    for kind, system in systems(0, m, n).items():
        bound = passes_allowed("randomised", kaczmatch.solver("randomised"), system, 0)
        if kind != "noisy" and bound is not None:
            at = np.geomspace(0.2, MOST_PASSES, 60)
            allowed += [{"system": kind, "passes": float(p), "error": float(GOAL ** (p / bound))} for p in at]
    over_passes = _chart(points, "passes", "passes over the rows", (0.2, MOST_PASSES), [p for p in allowed if p["error"] > 1e-13])
    over_time = _chart(points, "seconds", "seconds", (1e-5, 3.0), [])
    caption = f"{m} rows, {n} unknowns, seed 0"
    return [Figure("lineage-rows", over_passes, caption), Figure("lineage-time", over_time, caption)]


def _chart(points: Sequence[Row], x: str, title: str, limits: tuple[float, float], allowed: Sequence[Row]) -> alt.FacetChart:
    names = [name for name in COLOURS if any(point["solver"] == name for point in points)]
    if x == "passes":
        names.remove("lstsq")  # a direct solve has no passes
    low, high = limits
    values = [
        {key: point[key] for key in ("system", "solver", x, "error")} | {"of": "solver"}
        for point in points
        if point["solver"] in names and low <= point[x] <= high
    ]
    values += [{**point, "of": "bound"} for point in allowed]
    base = alt.Chart(width=250, height=230).encode(
        x=alt.X(f"{x}:Q", title=title, scale=alt.Scale(type="log", domain=[low, high]), axis=alt.Axis(tickCount=4)),
        y=alt.Y(
            "error:Q",
            title="relative error",
            scale=alt.Scale(type="log", domain=[1e-13, 10.0]),
            axis=alt.Axis(tickCount=7, format="e"),
        ),
    )
    colours = alt.Scale(domain=names, range=[COLOURS[name] for name in names])
    dashes = alt.Scale(domain=names, range=[[5, 3] if name in DASHED else [1, 0] for name in names])
    legend = alt.Legend(symbolType="stroke", symbolStrokeWidth=3.0, symbolOpacity=1.0)
    coloured = base.encode(color=alt.Color("solver:N", title=None, sort=names, scale=colours, legend=legend))
    lines = coloured.mark_line(strokeWidth=1.8, clip=True).transform_filter("datum.of == 'solver'")
    lines = lines.encode(strokeDash=alt.StrokeDash("solver:N", title=None, sort=names, scale=dashes))
    ends = coloured.mark_point(filled=True, size=45).transform_filter("datum.solver == 'lstsq'")
    bound = base.mark_line(strokeDash=[1, 3], color="#0072B2").transform_filter("datum.of == 'bound'")
    layers = alt.layer(lines, ends, bound, data={"values": values})
    return layers.facet(column=alt.Column("system:N", title=None, sort=KINDS))


def main(words: Sequence[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--rows", type=int, default=600, help="ten times as many as unknowns")
    asked = parser.parse_args(words)
    m, n = asked.rows, asked.rows // 10
    points, counted, timed = converged(asked.seeds, m, n)
    title = f"until the error is {GOAL:g}, median of seeds"
    tables = [
        Table("lineage", f"Passes over the rows {title}; the regularised one's is to Tikhonov's solution", counted),
        Table("lineage-seconds", f"Seconds {title}", timed),
    ]
    tell(asked.out, tables, figures(points, m, n))


if __name__ == "__main__":
    main()
