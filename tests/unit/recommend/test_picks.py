"""Picks are exactly what scoring every pair gives, whatever the tiles, the threads and the interruptions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from kaczmatch import InvalidInput
from kaczmatch.recommend.people.filters import FilterColumns, passes_all_filters
from kaczmatch.recommend.people.schema import Schema
from kaczmatch.recommend.picks.columns import PickColumns
from kaczmatch.recommend.picks.tile_kernel import UNIT
from kaczmatch.recommend.picks.top_picks import NOBODY, Picks, PicksInProgress, top_picks
from kaczmatch.runner.local import LocalRunner
from worlds.crowd import Crowd, make_crowd
from worlds.pick_columns import DAY, columns_of

ANY_AGE = Schema(("woman", "man", "non-binary"), age_required=False)


def by_hand(
    crowd: Crowd, columns: PickColumns, k: int, excluded: list[tuple[int, int]]
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Every pair, one person at a time, with the filters as `people/filters.py` has them."""
    everybody = FilterColumns.from_profiles([crowd.profiles[i] for i in columns.ids], crowd.index.schema)
    weights, profiles, share = (np.float64(part) for part in (columns.weights, columns.profiles, columns.random_share))
    found = np.full((len(columns), k), NOBODY)
    for row, me in enumerate(columns.ids):
        apart = {a for a, b in excluded if b == me} | {b for a, b in excluded if a == me}
        passing = passes_all_filters(crowd.profiles[me], everybody, DAY, apart)
        forward = share[row] / 2 + (1 - share[row]) * ndtr(profiles @ weights[row])
        backward = share / 2 + (1 - share) * ndtr(weights @ profiles[row])
        mutual = np.where(passing, np.rint(forward * backward / UNIT), -1.0)
        best = np.lexsort((np.arange(len(mutual)), -mutual))[:k]
        best = best[mutual[best] >= 0.0]
        found[row, : len(best)] = best
    return found


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.integers(2, 300), st.integers(1, 12), st.integers(1, 3), st.booleans(), st.booleans())
def test_picks_are_the_best_of_all_pairs(seed: int, people: int, k: int, threads: int, appeal: bool, ageless: bool) -> None:
    crowd = make_crowd(people, seed=seed, appeal=appeal, **({"schema": ANY_AGE, "ageless": 0.3} if ageless else {}))
    rng = np.random.default_rng(seed)
    excluded = [(int(a), int(b)) for a, b in rng.integers(0, people, (people, 2)) if a != b]
    columns = columns_of(crowd, excluded)
    picks = top_picks(columns, k, runner=LocalRunner(threads))
    np.testing.assert_array_equal(picks.candidates, by_hand(crowd, columns, k, excluded))
    assert (np.diff(picks.scores) <= 0).all()
    assert ((picks.scores > 0.0) == (picks.candidates != NOBODY)).all()


def test_of_equal_people_the_first_are_picked() -> None:
    crowd = make_crowd(400, seed=3)
    columns = columns_of(crowd, [])
    columns.weights[:], columns.profiles[:], columns.random_share[:] = columns.weights[0], columns.profiles[0], 0.1
    columns.i_am[:], columns.i_look_for[:], columns.max_squared_chord[:] = 1, 1, 9.0
    columns.age[:], columns.youngest[:], columns.oldest[:] = 30, 20, 40
    columns.x[:], columns.y[:], columns.z[:] = 1.0, 0.0, 0.0
    picks = top_picks(columns, 3, runner=LocalRunner(2))
    assert picks.candidates[5:].tolist() == [[0, 1, 2]] * (len(columns) - 5)
    assert picks.candidates[1].tolist() == [0, 2, 3]


def test_an_interrupted_run_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kaczmatch.recommend.picks.tiles._PAIRS_PER_PART", 2)
    columns = columns_of(make_crowd(700, seed=1), [])
    kept: list[PicksInProgress] = []
    told: list[float] = []

    def checkpoint(state: PicksInProgress) -> None:
        kept.append(PicksInProgress(state.keys.copy(), state.parts_done))
        if len(kept) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        top_picks(columns, 4, runner=LocalRunner(2), checkpoint=checkpoint)
    resumed = top_picks(columns, 4, runner=LocalRunner(2), begun=kept[-1], progress=told.append)
    whole = top_picks(columns, 4, runner=LocalRunner(1))
    np.testing.assert_array_equal(resumed.candidates, whole.candidates)
    assert told[-1] == 1.0
    assert 0.0 < told[0] < 1.0
    assert told == sorted(told)


def test_nobody_below_the_minimum_age_takes_part() -> None:
    crowd = make_crowd(300, seed=2)
    columns = columns_of(crowd, [])
    young = {i for i, profile in crowd.profiles.items() if not profile.old_enough(DAY)}
    assert young
    assert young.isdisjoint(columns.ids)


def test_learners_without_probabilities_are_refused() -> None:
    with pytest.raises(InvalidInput, match="has no probabilities"):
        columns_of(make_crowd(10, "tk"), [])


def test_a_card_picks_the_same_people() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra gpu")
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA card")
    from kaczmatch.cuda.top_picks import top_picks as picks_on_a_card

    columns = columns_of(make_crowd(3_000, seed=5), [(1, 2), (7, 400)])
    keys = picks_on_a_card({name: getattr(columns, name) for name in columns.__slots__[1:]}, 10)
    np.testing.assert_array_equal(Picks.of_keys(keys).candidates, top_picks(columns, 10).candidates)
