"""The study of stability counts what the assignments count, and the truth leaves nothing to count."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from kaczmatch.cli.research.reproduce import parts_of
from kaczmatch.laboratory.stability import LIKELIEST, NAMES, PERFECT, MatchingMarket, most_likely_stable
from kaczmatch.laboratory.study import Laboratory, Plan


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


def test_a_quick_run_ends_where_its_swipes_end() -> None:
    ((_, make),) = parts_of("stability", None)
    stable, *_ = make(Laboratory(Plan(seeds=1, users=20, quick=True), lambda _: None)).tables
    assert list(stable.rows[0]) == ["learner", *(f"after_{t}" for t in (0, 10, 20, 50, 100))]


def test_the_truth_leaves_no_blocking_pairs_and_swipes_make_them_fewer() -> None:
    ((_, make),) = parts_of("stability", None)
    stable, blocking, lost = make(Laboratory(Plan(seeds=2, users=60), lambda _: None)).tables
    assert [row["learner"] for row in stable.rows] == list(NAMES)
    found = {row["learner"]: list(row.values())[1:] for row in blocking.rows}
    assert found[PERFECT] == [0.0] * 7
    assert {tuple(list(row.values())[1:]) for row in stable.rows if row["learner"] == PERFECT} == {(1.0,) * 7}
    assert {tuple(list(row.values())[1:]) for row in lost.rows if row["learner"] == PERFECT} == {(0.0,) * 7}
    for name in NAMES[1:]:
        assert found[name][-1] < 0.8 * found[name][0]
    assert found[LIKELIEST][-1] < found["block-nk"][-1]
