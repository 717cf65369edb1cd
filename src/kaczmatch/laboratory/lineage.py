"""The Kaczmarz family that the paper stands on: how fast each member converges, and what of it reaches a preference learner."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import numpy as np

from kaczmatch.laboratory.accelerated_blocks import FLIPS, accelerated_table
from kaczmatch.laboratory.row_norms import alpha_table, row_norms_table
from kaczmatch.laboratory.solver_runs import (
    GOAL,
    MOST_PASSES,
    SolverRun,
    example_systems,
    other_solvers,
    run_solver,
    solvers,
    theory,
)
from kaczmatch.laboratory.study import Laboratory
from kaczmatch.report.results import Figure, ReportPart, Row, Table
from kaczmatch.solvers.randomised import RandomisedKaczmarz

_COLOURS = {
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
_DASHED = ("lsqr", "lsmr", "kaczmarz-algorithms")


def lineage_part(laboratory: Laboratory) -> ReportPart:
    """Convergence on three kinds of systems, row norms, α, and Kaczmarz++ steps in a learner."""
    m, n = (240, 24) if laboratory.plan.quick else (600, 60)
    first, counted, timed = _convergence(laboratory, m, n)
    norms, alpha, learner = row_norms_table(laboratory, m, n), alpha_table(laboratory, m, n), accelerated_table(laboratory)
    caption = f"{m} rows, {n} unknowns, seed 0; dotted: the squared error that the theorem allows randomised Kaczmarz, as a root"
    return ReportPart(
        "lineage",
        "The Kaczmarz family",
        _words(counted, norms.rows, alpha.rows, learner.rows),
        [
            Table(
                "lineage",
                f"Passes over the rows until the error is {GOAL:g}, median of seeds; the regularised one's is to Tikhonov's solution",
                counted,
            ),
            Table("lineage-seconds", f"Seconds until the error is {GOAL:g}, median of seeds", timed, timed=True),
            norms,
            alpha,
            learner,
        ],
        [
            Figure("lineage-rows", _chart(first, "passes", "passes over the rows", (0.2, MOST_PASSES), _bounds(m, n)), caption),
            Figure(
                "lineage-time",
                _chart(first, "seconds", "seconds", (1e-5, 3.0), []),
                "the same over time, looks at the residual included",
            ),
        ],
    )


def _convergence(laboratory: Laboratory, m: int, n: int) -> tuple[list[dict[str, Any]], list[Row], list[Row]]:
    """The points of seed 0, and for every system and solver the passes and the seconds to the goal."""
    runs: dict[tuple[str, str], list[SolverRun]] = {}
    bounds: dict[tuple[str, str], list[float]] = {}
    for seed in range(laboratory.plan.seeds):
        for kind, system in example_systems(seed, m, n).items():
            for name, method in solvers(system).items():
                laboratory.tick(f"{name}, {kind}, seed {seed}")
                runs.setdefault((kind, name), []).append(run_solver(method, system, seed))
                bound = theory(method, system, seed)
                if bound is not None and (kind != "noisy" or name in ("extended", "regularised")):
                    bounds.setdefault((kind, name), []).append(bound)
            for name, run in other_solvers().items():
                runs.setdefault((kind, name), []).append(run(system, seed))
    points: list[dict[str, Any]] = []
    counted: list[Row] = []
    timed: list[Row] = []
    for (kind, name), each in runs.items():
        one = each[0]
        shown = np.unique(np.geomspace(1, len(one.error), 90).astype(int)) - 1  # as dense as a logarithmic axis shows
        points += [
            {"system": kind, "solver": name, "passes": float(p), "seconds": float(s), "error": max(float(e), 1e-13)}
            for p, s, e in zip(one.passes[shown], one.seconds[shown], one.error[shown], strict=True)
            if e > 1e-13 or name == "lstsq"
        ]
        passes, seconds = ([run.reached(getattr(run, what)) for run in each] for what in ("passes", "seconds"))
        last = float(np.median([run.error[-1] for run in each]))
        bound_of = bounds.get((kind, name))
        head = {"system": kind, "solver": name}
        if name != "lstsq":
            within = float(np.median(bound_of)) if bound_of else None
            counted.append(head | {"passes": float(np.median(passes)), "theory_at_most": within, "last_error": last})
        timed.append(head | {"seconds": float(np.median(seconds))})
    return points, counted, timed


def _bounds(m: int, n: int) -> list[dict[str, Any]]:
    """The root of Strohmer's and Vershynin's bound, for the two systems it is about."""
    points = []
    for kind, system in example_systems(0, m, n).items():
        bound = theory(RandomisedKaczmarz(), system, 0)
        if kind == "noisy" or bound is None:
            continue
        points += [
            {"system": kind, "passes": float(at), "error": float(GOAL ** (at / bound))}
            for at in np.geomspace(0.2, MOST_PASSES, 60)
            if GOAL ** (at / bound) > 1e-13
        ]
    return points


def _chart(
    points: list[dict[str, Any]], x: str, title: str, limits: tuple[float, float], bounds: list[dict[str, Any]]
) -> alt.FacetChart:
    names = [name for name in _COLOURS if any(point["solver"] == name for point in points)]
    if x == "passes":
        names.remove("lstsq")  # a direct solve has no passes
    low, high = limits
    kept = [
        {key: point[key] for key in ("system", "solver", x, "error")}
        for point in points
        if point["solver"] in names and low <= point[x] <= high
    ]
    base = alt.Chart(width=250, height=230).encode(
        x=alt.X(f"{x}:Q", title=title, scale=alt.Scale(type="log", domain=[low, high]), axis=alt.Axis(tickCount=4)),
        y=alt.Y(
            "error:Q",
            title="relative error",
            scale=alt.Scale(type="log", domain=[1e-13, 10.0]),
            axis=alt.Axis(tickCount=7, format="e"),
        ),
    )
    colours = alt.Scale(domain=names, range=[_COLOURS[name] for name in names])
    dashes = alt.Scale(domain=names, range=[[5, 3] if name in _DASHED else [1, 0] for name in names])
    legend = alt.Legend(symbolType="stroke", symbolStrokeWidth=3.0, symbolOpacity=1.0)
    coloured = base.encode(color=alt.Color("solver:N", title=None, sort=names, scale=colours, legend=legend))
    lines = coloured.mark_line(strokeWidth=1.8, clip=True).encode(
        strokeDash=alt.StrokeDash("solver:N", title=None, sort=names, scale=dashes)
    )
    ends = coloured.mark_point(filled=True, size=45).transform_filter("datum.solver == 'lstsq'")
    layers: list[alt.Chart] = [lines, ends]
    values = [point | {"of": "solver"} for point in kept]
    if bounds:
        values += [point | {"of": "bound"} for point in bounds]
        layers = [layer.transform_filter("datum.of == 'solver'") for layer in layers]
        layers.append(base.mark_line(strokeDash=[1, 3], color="#0072B2").transform_filter("datum.of == 'bound'"))
    kinds = ["consistent", "noisy", "ill-conditioned"]
    return alt.layer(*layers, data={"values": values}).facet(column=alt.Column("system:N", title=None, sort=kinds))


def _words(counted: list[Row], norms: Any, alpha: Any, learner: Any) -> list[str]:
    passes = {(row["system"], row["solver"]): row["passes"] for row in counted}
    last = {(row["system"], row["solver"]): row["last_error"] for row in counted}
    within = all(
        row["passes"] <= row["theory_at_most"]
        for row in counted
        if row["theory_at_most"] is not None and math.isfinite(row["passes"])
    )
    spread = {row["rows"]: row for row in norms}
    long, tags = spread["a third says it all, and is long"], spread["tags, each with probability 1/2"]
    units = spread["all alike, in units of their own"]
    plain, damped = alpha[0], alpha[-1]
    ends = {(row["flipped_swipes"], row["learner"]): list(row.values())[-1] for row in learner}
    early = {(row["flipped_swipes"], row["learner"]): list(row.values())[min(3, len(row) - 1)] for row in learner}
    flip, clean = FLIPS[-1], FLIPS[0]
    return [
        f"A consistent system: {_passes_of(passes, 'consistent', 'randomised', 'block', 'kaczmarz++', 'lsqr')}. A noisy one has no solution: randomised rows stay at an error of "
        f"{last['noisy', 'randomised']:.3f} to the least-squares solution, the extended method reaches it ({_passes_of(passes, 'noisy', 'extended')}). With a few large singular "
        f"values: {_passes_of(passes, 'ill-conditioned', 'randomised', 'block', 'kaczmarz++', 'lsqr')}. "
        + (
            "No solver took more passes than its theorem allows."
            if within
            else "Some solver took more passes than its theorem allows in expectation."
        ),
        f"Row norms. Where long rows say what short ones do not, draws by length need {_count(long['passes_by_norms'])} and uniform ones {_count(long['passes_uniform'])}. Where rows differ by their units alone it "
        f"is the other way round: {_count(units['passes_by_norms'])} and {_count(units['passes_uniform'])}. Candidates with tags have nearly equal lengths (spread {tags['spread_of_lengths']:.2f}), and the two draws are nearly one: "
        f"{_count(tags['passes_by_norms'])} and {_count(tags['passes_uniform'])}.",
        f"α in a single step shortens it and regularises nothing: a system with a solution is solved all the same, at ten times the mean squared row length in {_count(damped['damped_passes_with_a_solution'])} instead of "
        f"{_count(plain['damped_passes_with_a_solution'])}. With noise it lowers the floor, from {plain['damped_error_with_noise']:.3f} to {damped['damped_error_with_noise']:.3f}: a learning rate. Only the extended system has Tikhonov's "
        "solution, whose distance to the least-squares one grows with α.",
        f"Kaczmarz++ steps in Block-Adaptive, honest labels: at the end, with every fifth swipe flipped, {ends[flip, 'block-adaptive']:.3f} without, {ends[flip, 'with adaptive momentum']:.3f} with adaptive momentum, "
        f"{ends[flip, 'with a memory']:.3f} with a memory of sessions, {ends[flip, 'with Kaczmarz++ steps (both)']:.3f} with both; without flips {ends[clean, 'block-adaptive']:.3f}, {ends[clean, 'with adaptive momentum']:.3f}, {ends[clean, 'with a memory']:.3f} and "
        f"{ends[clean, 'with Kaczmarz++ steps (both)']:.3f}. Early on a fixed momentum of 1/2 is at {early[flip, 'with a momentum of 1/2']:.3f} beside {early[flip, 'block-adaptive']:.3f} with flips, at {early[clean, 'with a momentum of 1/2']:.3f} beside "
        f"{early[clean, 'block-adaptive']:.3f} without. The theory is about systems that have a solution; flipped labels and a hinge that moves with v leave none. Momentum adds up old steps with their noise, and a memory fits old noise again.",
    ]


def _passes_of(passes: dict[tuple[str, str], float], kind: str, *names: str) -> str:
    return ", ".join(f"{name} {_count(passes[kind, name])}" for name in names)


def _count(passes: float) -> str:
    return f"{passes:.0f} passes" if math.isfinite(passes) else f"more than {MOST_PASSES} passes"
