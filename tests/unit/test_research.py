"""What scripts of `research` compute, against the same computed another way."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from accelerated_blocks import RULE, Acceleration, ends
from kaczmatch.simulation.trace import trace
from kaczmatch.simulation.world import HONEST, world
from stability import MatchingMarket, most_likely_stable


def drawn(seed: int, n: int = 4, draws: tuple[int, ...] = ()) -> MatchingMarket:
    rng = np.random.default_rng(seed)
    return MatchingMarket(rng.normal(size=(*draws, n, n)), rng.normal(size=(*draws, n, n)))


def counted(market: MatchingMarket, partner: tuple[int, ...]) -> int:
    """Blocking pairs, one by one."""
    of = {partner[i]: i for i in range(len(partner))}
    return sum(
        bool(market.first[i, j] > market.first[i, partner[i]] and market.second[j, i] > market.second[j, of[j]])
        for i in range(len(partner))
        for j in range(len(partner))
    )


@pytest.mark.parametrize("seed", range(8))
def test_the_matching_is_the_stable_one_that_is_best_for_the_first_side(seed: int) -> None:
    market = drawn(seed)
    every = list(permutations(range(4)))
    assert [int(market.blocking(np.array(partner))) for partner in every] == [counted(market, partner) for partner in every]
    stable = np.array([partner for partner in every if counted(market, partner) == 0])
    best = np.take_along_axis(market.first, stable.T, axis=1).max(axis=1)
    assert market.first[np.arange(4), market.matching()] == pytest.approx(best)


def test_the_most_likely_matching_is_stable_for_as_many_draws_as_any_other() -> None:
    market = drawn(1, n=3, draws=(60,))
    stable = {partner: np.mean(market.blocking(np.array(partner)) == 0) for partner in permutations(range(3))}
    assert stable[tuple(most_likely_stable(market).tolist())] == max(stable.values())


def test_welfare_is_the_place_of_a_partner_in_the_own_order() -> None:
    rank = np.arange(4.0)
    market = MatchingMarket(np.tile(rank, (4, 1)), np.tile(rank, (4, 1)))
    assert market.welfare(np.array([0, 1, 2, 3])) == pytest.approx(np.mean([0.0, 0.25, 0.5, 0.75]))


def test_without_anything_added_it_is_block_adaptive() -> None:
    here = world(replace(HONEST, users=3, sessions=12), 0)
    found = trace(RULE, here)
    for user in range(3):
        plain, pushed, again = (
            ends(found, here, user, added, np.random.default_rng(0))
            for added in (Acceleration(), Acceleration(momentum=0.5), Acceleration(memory=True))
        )
        assert plain == pytest.approx(found.ends[user], abs=1e-12)
        assert np.abs(pushed - plain).max() > 1e-3
        assert again[0] == pytest.approx(plain[0])  # nothing to remember yet
        assert np.abs(again[1:] - plain[1:]).max() > 1e-3
