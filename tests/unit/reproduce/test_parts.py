"""Every part of the report runs at any size, and says no more than its numbers do."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import kaczmatch
from kaczmatch import InvalidInput
from kaczmatch.cli.research.reproduce import parts_of
from kaczmatch.report.results import ReportPart, Table
from kaczmatch.reproduce.published import ALL_HIGH, CANNOT_TELL, NOT_REPRODUCED, REPRODUCED, Beside, Column
from kaczmatch.reproduce.study import Plan, Reproduction, curve, learners_by_name, numbers
from kaczmatch.reproduce.tables import simulated_part
from kaczmatch.simulation.world import HONEST, PAPER, Condition, world

pytestmark = pytest.mark.slow  # a run of everything


@pytest.fixture(scope="module")
def tiny() -> dict[str, ReportPart]:
    run = Reproduction(Plan(seeds=1, users=3, quick=True), lambda _: None)
    return {name: make(run) for name, make in parts_of("all", None)}


def test_a_tiny_run_has_every_part_and_decides_nothing_about_the_paper(tiny: dict[str, ReportPart]) -> None:
    assert tiny
    for part in tiny.values():
        assert part.words
        for table in part.tables:
            assert table.rows
            assert "nan" not in table.json().lower().replace("nano", "")
    against_paper = [table for part in tiny.values() for table in part.tables if "against" in table.name]
    assert len(against_paper) == 3
    assert {row["verdict"] for table in against_paper for row in table.rows} == {"cannot tell"}
    claims = next(table for table in tiny["claims"].tables if table.name == "claims")
    experiments = [row for row in claims.rows if row["command"] not in ("pytest tests/paper", "kaczmatch reproduce table-alpha")]
    assert {row["verdict"] for row in experiments} == {"cannot tell"}
    assert "cannot tell, whatever the numbers" in " ".join(tiny["claims"].words)
    assert "out of reach" not in " ".join(tiny["noise, paper"].words)


def beside(paper: float, *seeds: float, decides: bool = True) -> Beside:
    return Beside({"learner": "tk"}, paper, np.array(seeds), 0.02, decides)


def test_a_number_beside_the_papers() -> None:
    row = beside(0.70, 0.70, 0.73).row()
    assert row["verdict"] == REPRODUCED
    assert row["difference"] == pytest.approx(0.015)
    assert row["difference_in_seed_deviations"] == pytest.approx(0.015 / np.std([0.70, 0.73], ddof=1))
    assert row["difference_in_standard_errors"] == pytest.approx(row["difference_in_seed_deviations"] * math.sqrt(2.0))
    assert beside(0.7, 0.8).verdict == NOT_REPRODUCED
    assert beside(0.7, 0.7, decides=False).verdict == CANNOT_TELL
    assert math.isnan(beside(0.7, 0.7).row()["difference_in_seed_deviations"])


@pytest.mark.parametrize(
    ("differences", "verdicts"),
    [
        (((0.010, 0.012, 0.011), (0.009, 0.013, 0.012)), {ALL_HIGH}),
        (((0.010, 0.012, 0.011), (-0.001, 0.001, -0.002)), {REPRODUCED}),  # one row is below
        (((0.001, 0.012, -0.008), (0.003, 0.013, -0.004)), {REPRODUCED}),  # chance may explain it
        (((0.0003, 0.0004, 0.0003), (0.0002, 0.0004, 0.0003)), {REPRODUCED}),  # so may the paper's rounding
        (((0.030, 0.032, 0.031), (0.010, 0.012, 0.013)), {NOT_REPRODUCED, ALL_HIGH}),
    ],
)
def test_cells_that_are_near_are_not_reproduced_where_all_are_off_to_one_side(
    differences: tuple[tuple[float, ...], ...], verdicts: set[str]
) -> None:
    column = Column([beside(0.7, *(0.7 + each for each in row)) for row in differences])
    assert {column.verdict(cell) for cell in column.cells} == verdicts
    low = Column([beside(0.7, *(0.7 - each for each in row)) for row in differences])
    assert {low.verdict(cell) for cell in low.cells} == {verdict.replace("high", "low") for verdict in verdicts}


@pytest.mark.parametrize(
    "settings",
    [
        {"sessions": 1, "deck": 4, "users": 1},
        {"sessions": 3, "deck": 5, "users": 2, "tags": 2, "people": 12},
        {"sessions": 2, "deck": 39, "users": 3, "people": 40},
        {"sessions": 4, "deck": 8, "users": 3, "labels": "raw-dot", "label_noise": 0.0},
        {"sessions": 4, "deck": 8, "users": 3, "sampling": "cosine", "population": "archetypes"},
    ],
)
def test_simulations_of_any_size(settings: dict[str, object]) -> None:
    condition = replace(HONEST, **settings)  # type: ignore[arg-type]
    run = Reproduction(Plan(1, condition.users), lambda _: None)
    part = simulated_part(condition, learners_by_name(("tk", "block-nk", "probit")), run)
    assert {row["learner"] for row in part.tables[0].rows} == {"tk", "block-nk", "probit", "random"}


def test_too_few_people_with_tags_is_an_error_not_a_wait() -> None:
    lonely = Condition(population="sparse", tags=5, people=40, deck=30, users=3, sessions=2)
    with pytest.raises(InvalidInput, match="people have tags, too few for 30 a session"):
        world(lonely, 0)


def test_under_drift_each_phase_is_judged_by_its_own_taste() -> None:
    condition = replace(HONEST, people=300, users=20, sessions=40, tags=20, drift_at=640)
    study = Reproduction(Plan(1, 20), lambda _: None).metrics_of(condition, {"probit": kaczmatch.learner("probit")}, numbers)
    assert study.mean("probit", "auc_at_200") > 0.75
    assert study.mean("probit", "align_at_200") > 0.75


def test_parts_share_what_they_have_in_common() -> None:
    ticks: list[str] = []
    run = Reproduction(Plan(seeds=2, users=3, quick=True), ticks.append)
    sized = run.plan.sized(PAPER)
    first = run.study(sized, learners_by_name(("tk",)), curve)
    both = run.study(sized, learners_by_name(("tk", "ogd")), curve)
    assert ticks == ["tk, seed 0", "tk, seed 1", "ogd, seed 0", "ogd, seed 1"]
    assert both["tk"] is first["tk"]


def test_tables_in_every_form() -> None:
    table = Table("t", "T", [{"learner": "a|b", "value": 1 / 3, "none": math.nan, "count": 2}])
    assert table.csv() == "learner,value,none,count\na|b,0.333333,nan,2\n"
    assert table.markdown().splitlines()[2] == "| a\\|b | 0.333 | nan | 2 |"
    assert '"none": null' in table.json()
