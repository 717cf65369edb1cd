"""Policies beside each other: what the table says follows from the outcomes."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from kaczmatch import InvalidInput
from kaczmatch.recommend.samplers.registry import SAMPLERS
from kaczmatch.simulation.market.arms import market_policies
from kaczmatch.simulation.market.comparison import MarketComparison, compare_policies, market_part, policies_named
from kaczmatch.simulation.market.engine import Pace
from kaczmatch.simulation.market.outcome import MarketOutcome
from kaczmatch.simulation.market.town import ABOUT, Census, town


def made_up(matches: float, gini: float = 0.3) -> MarketOutcome:
    return MarketOutcome(
        cards=1_000,
        matches=int(10 * matches),
        matches_per_100=matches,
        of_possible=0.5,
        matched_soon=0.5,
        cards_to_match=20.0,
        waiting=0.1,
        gini=gini,
        like_rate=0.3,
    )


def comparison(**matches: list[float]) -> MarketComparison:
    return MarketComparison(
        "archetypes", Census(), Pace(), {name: [made_up(one) for one in each] for name, each in matches.items()}
    )


def test_every_sampler_is_compared_with_and_without_each_safeguard() -> None:
    names = [arm.name for arm in market_policies()]
    assert len(names) == len(set(names))
    for slug in SAMPLERS:
        assert {slug, f"{slug} + quota", f"{slug} + cap", f"{slug} + quota + cap"} <= set(names)
    assert {"default", "paper", "popularity"} <= set(names)
    decisions = {arm.name: arm.policy.deck_plan for arm in market_policies() if arm.name.startswith("mutual")}  # type: ignore[attr-defined]
    assert [(one.admirer_quota > 0.0, one.exposure_capped) for one in decisions.values()] == [
        (False, False),
        (True, False),
        (False, True),
        (True, True),
    ]


def test_an_unknown_policy_is_told_the_nearest() -> None:
    with pytest.raises(InvalidInput, match="greedy"):
        policies_named(["greddy"])
    assert [arm.name for arm in policies_named(["paper", "default"])] == ["paper", "default"]


def test_ratios_are_of_means_and_the_worst_seed_stands_beside_them() -> None:
    part = market_part(comparison(default=[3.0, 5.0], paper=[1.0, 1.0], greedy=[4.0, 4.0]))
    rows = {row["policy"]: row for row in part.tables[0].rows}
    assert rows["default"]["matches"] == 4.0
    assert rows["default"]["error"] == pytest.approx(np.std([3.0, 5.0], ddof=1) / math.sqrt(2))
    assert (rows["default"]["times_paper"], rows["default"]["of_greedy"]) == (4.0, 1.0)
    asked = part.tables[1].rows
    assert [row["measured"] for row in asked] == pytest.approx([4.0, 1.0, 0.3])
    assert [row["worst_seed"] for row in asked] == pytest.approx([3.0, 0.75, 0.3])
    assert {row["verdict"] for row in asked} == {"met"}


def test_what_is_not_reached_is_said() -> None:
    asked = market_part(comparison(default=[2.0], paper=[1.0], greedy=[4.0])).tables[1].rows
    assert [row["verdict"] for row in asked] == ["not met", "not met", "met"]
    words = " ".join(market_part(comparison(default=[2.0], **{"greedy + quota + cap": [2.5]})).words)
    assert "the default has 2.00 matches per 100 cards; greedy + quota + cap has 2.50" in words


def test_a_market_in_which_everybody_meets_everybody_says_that_it_compares_nothing() -> None:
    outcomes = {"default": [made_up(1.0)]}
    small = MarketComparison("archetypes", Census(side=60), Pace(rounds=6, deck=10), outcomes)
    assert "60 cards show everybody to everybody" in " ".join(market_part(small).words)
    larger = MarketComparison("archetypes", Census(side=61), Pace(rounds=6, deck=10), outcomes)
    assert "everybody to everybody" not in " ".join(market_part(larger).words)


def test_a_run_of_few_policies_has_no_verdict_and_nothing_but_numbers() -> None:
    found = compare_policies(
        "popularity", Census(side=8, tags=6), Pace(rounds=2, deck=3), 2, policies_named(["uniform", "popularity"]), lambda _: None
    )
    part = market_part(found)
    assert [table.name for table in part.tables] == ["market-popularity", "market-popularity-seeds"]
    assert [row["seed"] for row in part.tables[1].rows] == [0, 1, 0, 1]
    assert part.tables[1].rows[0] == {"policy": "uniform", "seed": 0, **asdict(found.outcomes["uniform"][0])}
    assert "NaN" not in part.tables[0].json()
    assert part.figures[0].svg.startswith("<svg")


def test_every_population_says_what_it_is_and_real_people_need_a_file(tmp_path: Path) -> None:
    assert all(ABOUT.values())
    with pytest.raises(InvalidInput, match="--people"):
        town("okcupid", 0)
    with pytest.raises(InvalidInput, match="there is no file"):
        town("okcupid", 0, Census(people=tmp_path / "none.csv"))
    with pytest.raises(InvalidInput, match="archetypes"):
        town("archetype", 0)


def test_people_from_a_file_keep_who_they_are(tmp_path: Path) -> None:
    lines = ["person_id,sex,orientation,age,status,a,b,c"]
    lines += [
        f"{i},{'mf'[i % 2]},{('straight', 'gay', 'bisexual')[i % 3]},{17 + i % 30},single,{i % 2},{i // 2 % 2},1"
        for i in range(80)
    ]
    file = tmp_path / "people.csv"
    file.write_text("\n".join(lines))
    here = town("okcupid", 0, Census(side=30, people=file))
    assert len(here) == 60
    assert [name.name for name in here.vocabulary.terms] == ["a", "b", "c"]
    assert {frozenset({"man"}), frozenset({"woman"})} == {profile.i_am for profile in here.profiles}
    assert {len(profile.i_look_for) for profile in here.profiles} == {1, 2}
    with pytest.raises(InvalidInput, match="fewer than 200"):
        town("okcupid", 0, Census(side=100, people=file))
