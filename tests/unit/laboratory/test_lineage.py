"""The part about the Kaczmarz family says what its numbers say, and the numbers are what the theory allows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from kaczmatch.cli.research.reproduce import parts_of
from kaczmatch.laboratory.accelerated_blocks import RULE, VARIANTS, Acceleration, accelerated_ends
from kaczmatch.laboratory.lineage import lineage_part
from kaczmatch.laboratory.row_norms import matrices
from kaczmatch.laboratory.solver_runs import ExampleSystem, SolverRun, other_solvers
from kaczmatch.laboratory.study import Laboratory, Plan
from kaczmatch.report.results import ReportPart, Row
from kaczmatch.simulation.trace import trace
from kaczmatch.simulation.world import HONEST, world


@pytest.fixture(scope="module")
def part() -> ReportPart:
    return lineage_part(Laboratory(Plan(seeds=1, users=4, quick=True), lambda _: None))


def rows(part: ReportPart, name: str) -> list[Row]:
    return list(next(table for table in part.tables if table.name == name).rows)


def test_every_solver_is_on_every_system_and_within_its_theorem(part: ReportPart) -> None:
    found = {(row["system"], row["solver"]): row for row in rows(part, "lineage")}
    assert {kind for kind, _ in found} == {"consistent", "noisy", "ill-conditioned"}
    for row in found.values():
        if row["theory_at_most"] is not None and math.isfinite(row["passes"]):
            assert row["passes"] <= row["theory_at_most"]
    for solver in ("cyclic", "randomised", "damped", "regularised", "block", "extended", "kaczmarz++", "lsqr", "lsmr"):
        assert math.isfinite(found["consistent", solver]["passes"])
    for solver in ("cyclic", "randomised", "damped", "block", "kaczmarz++"):
        assert found["noisy", solver]["passes"] == math.inf
    for solver in ("extended", "regularised", "lsqr", "lsmr"):
        assert found["noisy", solver]["last_error"] < 1e-6
    assert found["ill-conditioned", "kaczmarz++"]["passes"] < found["ill-conditioned", "block"]["passes"]
    assert found["ill-conditioned", "randomised"]["passes"] == math.inf


def test_row_norms_matter_there_and_hardly_here(part: ReportPart) -> None:
    found = {row["rows"]: row for row in rows(part, "lineage-row-norms")}
    long, units = found["a third says it all, and is long"], found["all alike, in units of their own"]
    tags = found["tags, each with probability 1/2"]
    assert long["passes_by_norms"] < 0.9 * long["passes_uniform"]
    assert units["passes_by_norms"] > 1.5 * units["passes_uniform"]
    assert tags["passes_by_norms"] == pytest.approx(tags["passes_uniform"], rel=0.25)
    assert tags["spread_of_lengths"] < 0.15


def test_alpha_slows_a_single_step_and_lowers_its_floor(part: ReportPart) -> None:
    found = rows(part, "lineage-alpha")
    assert found[-1]["damped_passes_with_a_solution"] > 3.0 * found[0]["damped_passes_with_a_solution"]
    assert found[-1]["damped_error_with_noise"] < 0.7 * found[0]["damped_error_with_noise"]
    assert found[0]["regularised_error_with_noise"] is None
    assert found[-1]["regularised_error_with_noise"] > 3.0 * found[2]["regularised_error_with_noise"]


def test_figures_can_be_drawn_and_tables_written(part: ReportPart) -> None:
    assert {figure.name for figure in part.figures} == {"lineage-rows", "lineage-time"}
    for figure in part.figures:
        assert "kaczmarz++" in figure.svg
    assert len(rows(part, "lineage-learner")) == 2 * len(VARIANTS)
    assert [table.name for table in part.tables if table.timed] == ["lineage-seconds"]
    assert "nan" not in " ".join(part.words)


def test_without_anything_added_it_is_block_adaptive() -> None:
    here = world(replace(HONEST, users=3, sessions=12), 0)
    found = trace(RULE, here)
    for user in range(3):
        ends = accelerated_ends(found, here, user, Acceleration(), np.random.default_rng(0))
        assert ends == pytest.approx(found.ends[user], abs=1e-12)
        pushed = accelerated_ends(found, here, user, Acceleration(momentum=0.5), np.random.default_rng(0))
        assert np.abs(pushed - ends).max() > 1e-3
        again = accelerated_ends(found, here, user, Acceleration(memory=True), np.random.default_rng(0))
        assert again[0] == pytest.approx(ends[0])  # nothing to remember yet
        assert np.abs(again[1:] - ends[1:]).max() > 1e-3


def test_others_solve_the_same_system() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 8))
    system = ExampleSystem(A, A @ rng.normal(size=8))
    for name, run in other_solvers().items():
        found = run(system, 0)
        assert found.error[-1] < 1e-5, name
        assert found.reached(found.seconds) < math.inf
    assert SolverRun(np.arange(3.0), np.arange(3.0), np.ones(3)).reached(np.arange(3.0)) == math.inf


def test_matrices_have_no_row_of_zeros() -> None:
    for A in matrices(np.random.default_rng(1), 90, 12).values():
        assert A.shape == (90, 12)
        assert np.all(A.any(axis=1))


def test_the_part_has_a_command() -> None:
    assert [name for name, _ in parts_of("lineage", None)] == ["lineage"]
