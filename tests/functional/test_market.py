"""A market, as a user meets it: the same bytes for the same seeds, and learning from both sides pays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from kaczmatch.cli.app import app
from kaczmatch.simulation.market.arms import market_policies
from kaczmatch.simulation.market.comparison import MarketComparison, compare_policies, market_answer, policies_named
from kaczmatch.simulation.market.engine import Pace
from kaczmatch.simulation.market.outcome import MarketOutcome
from kaczmatch.simulation.market.town import Census, town
from worlds.reports import size_before_charts


def kaczmatch(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_the_same_seeds_give_the_same_bytes(tmp_path: Path) -> None:
    options = [
        "--side",
        "12",
        "--rounds",
        "2",
        "--deck",
        "3",
        "--seeds",
        "2",
        "--policy",
        "default",
        "--policy",
        "paper",
        "--policy",
        "greedy",
    ]
    for folder, workers in (("one", "1"), ("two", "2")):
        done = kaczmatch("market", *options, "--workers", workers, "--out", str(tmp_path / folder))
        assert done.exit_code == 0, done.output
        assert "effective mutual matches" in (tmp_path / folder / "report.html").read_text()
        assert size_before_charts(tmp_path / folder) < 150_000
    for name in ("market-archetypes.csv", "market-asked.csv", "market-archetypes-seeds.csv", "market-archetypes.svg"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_columns_that_say_nothing_leave_room_for_those_that_do() -> None:
    options = ["--side", "12", "--rounds", "2", "--deck", "3", "--seeds", "1", "--policy", "default"]
    done = CliRunner().invoke(app, ["market", *options], env={"COLUMNS": "80"})
    assert "gini" in done.stdout
    assert "error" not in done.stdout  # of one seed there is none
    assert "paper" not in done.stdout


def test_what_makes_no_sense_is_refused_in_one_line() -> None:
    for options, words in (
        (["--population", "okcupid"], "--people"),
        (["--policy", "graedy"], "greedy"),
        (["--label-noise", "2"], "label_noise"),
        (["--side", "4", "--rounds", "1", "--group", "wommen"], "woman"),
    ):
        done = kaczmatch("market", *options)
        assert done.exit_code != 0
        assert words in done.stderr
        assert "Traceback" not in done.output


@pytest.mark.parametrize("population", ["archetypes", "popularity"])
def test_the_default_makes_more_matches_than_the_papers_pipeline_and_than_chance(population: str) -> None:
    policies = policies_named(["default", "paper", "uniform"])
    found = compare_policies(population, Census(side=60, tags=24), Pace(rounds=4, deck=6), 2, policies, lambda _: None)
    for other in ("paper", "uniform"):
        assert found.ratio("default", other) > 2.0
    assert found.mean("default", "gini") < 0.5
    assert found.mean("default", "waiting") < found.mean("paper", "waiting")


def test_picks_are_dealt_beside_cards_that_are_drawn() -> None:
    here, pace = town("archetypes", 0, Census(side=20, tags=12)), Pace(rounds=3, deck=4)
    for slug in ("top", "stable", "fair"):
        [arm] = [arm for arm in market_policies() if arm.name == f"default + {slug} picks"]
        log = arm.play(here, pace)
        picked = np.isnan(log.propensity)
        assert 0.3 < picked.mean() <= 0.5
        pairs = set(zip(log.viewer.tolist(), log.candidate.tolist(), strict=True))
        assert len(pairs) == len(log)  # nobody twice


def test_the_report_says_who_wins_and_by_how_much() -> None:
    def outcome(matches: float, soon: float) -> MarketOutcome:
        return MarketOutcome(
            cards=100,
            matches=3,
            matches_per_100=matches,
            of_possible=0.5,
            matched_soon=soon,
            cards_to_match=9.0,
            waiting=0.1,
            gini=0.3,
            like_rate=0.2,
        )

    def told(picks: float, line: int = -1) -> str:
        outcomes = {"default": [outcome(3.0, 0.8), outcome(4.0, 0.8)], "default + fair picks": [outcome(picks, 0.9)] * 2}
        return market_answer(MarketComparison("archetypes", Census(), Pace(), outcomes))[line]

    assert "default + fair picks makes 1.50 ± 0.50 matches more per 100 cards than default" in told(5.0)
    assert "90.0% of people have a match within 50 cards, beside 80.0%" in told(5.0)
    assert "default makes 1.50 ± 0.50 matches more per 100 cards than default + fair picks" in told(2.0)
    assert told(2.0, 0).endswith("place 1 of 2 by matches.")
    assert told(3.5, 0).endswith("place 1 of 2 by matches, level with 1.")  # who is level has not won
