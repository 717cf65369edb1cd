"""What holds for every assignment, and what each of them promises, on markets with one side and with two."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from kaczmatch import InvalidInput
from kaczmatch.recommend.assignments.candidate_lists import CandidateLists
from kaczmatch.recommend.assignments.contract import AssignedPicks, PickMarket
from kaczmatch.recommend.assignments.fair import Fair
from kaczmatch.recommend.assignments.measures import measure_picks
from kaczmatch.recommend.assignments.registry import ASSIGNMENTS, assignment
from kaczmatch.recommend.assignments.stable import Stable, blocking_pairs, sides
from kaczmatch.recommend.assignments.top import Top
from kaczmatch.recommend.picks.columns import PickColumns
from kaczmatch.recommend.picks.top_picks import top_picks
from kaczmatch.runner.local import LocalRunner
from worlds.crowd import make_crowd
from worlds.pick_columns import columns_of

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]
FEW = settings(max_examples=10)
SEEDS, PEOPLE, PICKS = st.integers(0, 2**32), st.integers(2, 200), st.integers(1, 5)


def market_of(seed: int, people: int, *, two_sided: bool = False) -> PickMarket:
    """Everybody who may meet is on everybody's list."""
    columns = columns_of(make_crowd(people, seed=seed), [(0, 1), (3, 2)])
    if two_sided:
        columns.i_am[:] = 1 << (np.arange(len(columns)) % 2)
        columns.i_look_for[:] = 3 - columns.i_am
    return PickMarket.of(columns, 300)


def likes_of(columns: PickColumns) -> Matrix:
    """How likely the row is to like the column, everybody."""
    share = columns.random_share[:, None].astype(np.float64)
    return np.asarray(share / 2 + (1 - share) * ndtr(columns.weights.astype(np.float64) @ columns.profiles.T.astype(np.float64)))


def acceptable_of(lists: CandidateLists) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    found = np.zeros((lists.people, lists.people), np.bool_)
    found[lists.owner, lists.other] = True
    return found


def chosen_of(assigned: AssignedPicks) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    n = len(assigned.given)
    found = np.zeros((n, n), np.bool_)
    row, place = np.nonzero(assigned.given >= 0)
    found[row, assigned.given[row, place]] = True
    return found


@pytest.mark.parametrize("slug", ASSIGNMENTS)
@FEW
@given(SEEDS, PEOPLE, PICKS, st.booleans())
def test_everybody_is_given_at_most_k_whom_they_may_meet_by_their_own_liking(
    slug: str, seed: int, people: int, k: int, two_sided: bool
) -> None:
    market = market_of(seed, people, two_sided=two_sided)
    found = assignment(slug).assign(market, k, runner=LocalRunner(1))
    assert found.given.shape == (len(market.columns), k)
    chosen, likes = chosen_of(found), likes_of(market.columns)
    assert not (chosen & ~acceptable_of(market.lists)).any()
    assert chosen.sum() == (found.given >= 0).sum()  # nobody twice
    for row, given_to in enumerate(found.given):
        there = given_to[given_to >= 0]
        assert (given_to[len(there) :] == -1).all()
        assert (np.diff(likes[row, there]) <= 1e-6).all()
    again = assignment(slug).assign(market, k, runner=LocalRunner(3))
    np.testing.assert_array_equal(again.given, found.given)


@FEW
@given(SEEDS, PEOPLE, PICKS, st.sampled_from([1.0, 1.5, 3.0]))
def test_top_gives_nobody_to_more_than_the_cap_and_otherwise_the_best(seed: int, people: int, k: int, cap: float) -> None:
    market = market_of(seed, people)
    chosen = chosen_of(Top(exposure_cap=cap).assign(market, k))
    assert (chosen.sum(axis=0) <= cap * k).all()
    everybody = chosen_of(AssignedPicks(top_picks(market.columns, k).candidates))
    np.testing.assert_array_equal(chosen_of(Top(exposure_cap=1e6).assign(market, k)), everybody)
    full = chosen.sum(axis=0) == int(min(cap * k, len(chosen)))
    assert not (everybody & ~chosen)[:, ~full].any()  # whom they miss of their best is given to as many as may be


@FEW
@given(SEEDS, PEOPLE, PICKS, st.sampled_from(["first", "second"]))
def test_with_two_sides_stable_leaves_no_blocking_pair(seed: int, people: int, k: int, proposing: str) -> None:
    market = market_of(seed, people, two_sided=True)
    found = Stable(proposing=proposing).assign(market, k)
    chosen = chosen_of(found)
    np.testing.assert_array_equal(chosen, chosen.T)
    assert blocking_pairs(market.lists, found.given) == 0
    assert found.limits == ""


def test_the_side_that_proposes_does_at_least_as_well() -> None:
    market = market_of(11, 150, two_sided=True)
    side, likes = sides(market.columns), likes_of(market.columns)
    assert side is not None
    assert side[0] == 0
    first, second = (chosen_of(Stable(proposing=one).assign(market, 1)) for one in ("first", "second"))
    assert (first != second).any()
    for row in range(len(likes)):
        mine, theirs = ((chosen[row] * likes[row]).max() for chosen in ((first, second) if side[row] == 0 else (second, first)))
        assert mine >= theirs


@FEW
@given(SEEDS, PEOPLE, PICKS)
def test_with_one_side_stable_says_so_and_blocking_pairs_are_counted(seed: int, people: int, k: int) -> None:
    market = market_of(seed, people)
    found = Stable().assign(market, k)
    likes, chosen, acceptable = likes_of(market.columns).astype(np.float32), chosen_of(found), acceptable_of(market.lists)
    np.testing.assert_array_equal(chosen, chosen.T)
    assert ("need not exist" in found.limits) == (sides(market.columns) is None)
    worst = np.where(chosen, likes, np.inf).min(axis=1, initial=np.inf)
    rather = (chosen.sum(axis=1) < k)[:, None] | (likes > worst[:, None])
    assert blocking_pairs(market.lists, found.given) == (acceptable & ~chosen & ~chosen.T & rather & rather.T).sum() // 2
    full = chosen.sum(axis=1) == k
    assert not (acceptable & ~chosen)[~full][:, ~full].any()  # who has room has nobody left with room


@FEW
@given(SEEDS, st.integers(2, 150), st.sampled_from([0.02, 0.1, 1.0]), st.booleans())
def test_the_equilibrium_is_that_of_the_whole_matrix(seed: int, people: int, temperature: float, two_sided: bool) -> None:
    market = market_of(seed, people, two_sided=two_sided)
    found = Fair(temperature=temperature, tolerance=1e-5, most_rounds=20_000).equilibrium(market.columns)
    likes = likes_of(market.columns)
    surplus = np.where(acceptable_of(market.lists), np.exp(likes * likes.T / (2 * temperature)), 0.0)
    a = np.ones(len(likes))
    for _ in range(20_000):
        sums = surplus @ a
        a = np.sqrt(a * 2.0 / (sums + np.sqrt(sums**2 + 4.0)))
    ours = np.exp(found.log_a)
    attention = surplus * ours[:, None] * ours
    assert found.error <= 1e-5
    np.testing.assert_allclose(attention.sum(axis=1) + ours**2, 1.0, atol=1e-3)  # the margins
    np.testing.assert_allclose(attention, surplus * a[:, None] * a, atol=1e-3)


def test_fair_gives_the_largest_shares_of_attention() -> None:
    market = market_of(5, 120)
    rule = Fair()
    found, likes = rule.equilibrium(market.columns), likes_of(market.columns)
    worth = np.where(acceptable_of(market.lists), likes * likes.T / (2 * rule.temperature) + found.log_a, -np.inf)
    best = np.sort(worth, axis=1)[:, -4]
    chosen = chosen_of(rule.assign(market, 4))
    for row in range(len(likes)):
        assert (worth[row, chosen[row]] >= best[row] - 1e-3).all()


def test_fair_says_when_it_had_too_few_rounds() -> None:
    assert "3 rounds were too few" in Fair(most_rounds=3).assign(market_of(5, 120), 4).limits


@FEW
@given(SEEDS, st.integers(2, 60), PICKS, st.sampled_from(list(ASSIGNMENTS)))
def test_measures_are_what_they_say(seed: int, people: int, k: int, slug: str) -> None:
    market = market_of(seed, people)
    found = assignment(slug).assign(market, k)
    measures, chosen, likes = measure_picks(market, found), chosen_of(found), likes_of(market.columns)
    mutual = np.where(acceptable_of(market.lists), likes * likes.T, 0.0)
    assert measures.expected_matches == pytest.approx((mutual * (chosen | chosen.T)).sum() / 2, rel=1e-5, abs=1e-9)
    chances = mutual @ chosen  # of the row, where the column is shown
    envy = chances > np.diag(chances)[:, None] + 1e-6
    assert measures.envied == pytest.approx(envy.sum() / max(len(envy), 1), abs=0.1)
    assert measures.with_a_pick == pytest.approx(chosen.any(axis=1).mean() if len(chosen) else 0.0)
    assert 0.0 <= measures.exposure_gini < 1.0


def test_fair_spreads_exposure_more_evenly_than_the_best_without_a_cap() -> None:
    columns = columns_of(make_crowd(300, seed=1), [])
    columns.i_am[:], columns.i_look_for[:], columns.max_squared_chord[:] = 1, 1, 9.0
    columns.youngest[:], columns.oldest[:] = 0, 150
    market = PickMarket.of(columns, 300)
    fair, top = (measure_picks(market, rule.assign(market, 5)) for rule in (Fair(), Top(exposure_cap=1e6)))
    assert fair.exposure_gini < 0.7 * top.exposure_gini


@pytest.mark.parametrize(
    ("slug", "wrong"),
    [("top", {"exposure_cap": 0.5}), ("stable", {"proposing": "both"}), ("fair", {"temperature": 0.0}), ("fair", {"heat": 1})],
)
def test_wrong_settings_are_refused(slug: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        assignment(slug, **wrong)


def test_an_unknown_assignment_is_refused() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'fair'"):
        assignment("fare")
