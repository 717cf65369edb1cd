"""Experiments in a market: regions are apart, every design uses the service's assignment, and arms by user are biased."""

from __future__ import annotations

import numpy as np

from kaczmatch.recommend.policy import MutualPolicy
from kaczmatch.service.arms import Arm, Assigned
from kaczmatch.simulation.market.designs import Regions, found
from kaczmatch.simulation.market.engine import Pace
from kaczmatch.simulation.market.populations import Census, town
from kaczmatch.simulation.market.town import compatible

CHANCE = MutualPolicy(floor=1.0, admirers=0.0)


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


def test_arms_that_do_not_differ_find_next_to_nothing_and_regions_that_are_apart_find_the_truth() -> None:
    """Where no one meets people of another region, a region in an arm lives as if everybody had that arm."""
    pace = Pace(rounds=3, deck=3)
    regions = Regions(number=2, travellers=0.0)
    here = town("archetypes", 1, Census(side=24))
    same = found(here, (Arm("a", CHANCE), Arm("b", CHANCE)), regions, pace, block=1)
    assert same.truth == 0.0
    unlike = found(here, (Arm("a", CHANCE), Arm("b", MutualPolicy())), regions, pace, block=1)
    assert set(unlike.by) == set(Assigned)
    assert unlike == found(here, (Arm("a", CHANCE), Arm("b", MutualPolicy())), regions, pace, block=1)
