"""Experiments in a market: regions are apart, every design uses the service's assignment, and arms by user are biased."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from interference import Regions, compare_designs
from kaczmatch.recommend.decks.policy import MutualPolicy
from kaczmatch.service.domain.experiment import Arm, Assigned
from kaczmatch.simulation.market.engine import MarketLog, MarketSettings, Pace, play
from kaczmatch.simulation.market.town import Census, compatible, town

pytestmark = pytest.mark.slow  # a market per design

CHANCE = MutualPolicy(uniform_floor=1.0, admirer_quota=0.0)


def test_only_travellers_meet_people_of_other_regions() -> None:
    here = town("archetypes", 0, Census(side=30))
    regions = Regions(number=3, travellers=0.3)
    spread = regions.of(here)
    travels = np.array([profile.within_km == np.inf for profile in spread.profiles])
    region = np.array([regions.region(place) for place in range(60)])
    meet, before = compatible(spread.profiles), compatible(here.profiles)
    apart = region[:, None] != region[None, :]
    assert (meet == before & (~apart | (travels[:, None] & travels[None, :]))).all()
    assert (meet & apart).any()
    assert 0.1 < travels.mean() < 0.5


def test_a_region_that_is_apart_lives_as_if_everybody_had_its_arm_and_a_user_does_not() -> None:
    """Why arms by region are unbiased there, and arms by user are not: the very same cards, answers and matches, or others."""
    regions, pace, shared = Regions(number=2, travellers=0.0), Pace(rounds=3, deck=3), MarketSettings(exposure_cap=1e9)
    here = regions.of(town("archetypes", 1, Census(side=24)))
    mutual = MutualPolicy()
    everybody = play(here, lambda _viewer, _round: mutual, pace, shared)
    by_region = play(here, lambda viewer, _round: mutual if regions.region(viewer) else CHANCE, pace, shared)
    by_user = play(here, lambda viewer, _round: mutual if viewer % 5 < 2 else CHANCE, pace, shared)
    people = np.arange(len(here))
    assert lives(by_region, people[people // 2 % 2 == 1]) == lives(everybody, people[people // 2 % 2 == 1])
    assert lives(by_user, people[people % 5 < 2]) != lives(everybody, people[people % 5 < 2])


def lives(log: MarketLog, people: Any) -> list[tuple[Any, ...]]:
    """What some people saw, said and made of it."""
    rows = np.isin(log.viewer, people)
    return list(zip(*(column[rows].tolist() for column in (log.viewer, log.candidate, log.liked, log.matched)), strict=True))


def test_every_design_is_measured_beside_the_truth_and_the_same_seed_finds_the_same() -> None:
    arms, here = (Arm("a", CHANCE), Arm("b", MutualPolicy())), town("archetypes", 1, Census(side=12))
    once, again = (compare_designs(here, arms, Regions(number=2), Pace(rounds=4, deck=2), block=1) for _ in range(2))
    assert set(once.by) == set(Assigned)
    assert repr(once) == repr(again)
    same = compare_designs(here, (arms[0], Arm("c", CHANCE)), Regions(number=2), Pace(rounds=2, deck=2), block=1)
    assert same.truth == 0.0
