"""Deferred acceptance agrees with the package `matching`, and nobody can do better together behind its back."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from matching.games import HospitalResident, StableMarriage

from kaczmatch.recommend.assignments.deferred_acceptance import ProposalLists, deferred_acceptance

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def lists_of(likes: Matrix, worth: Matrix, acceptable: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> ProposalLists:
    """Of everybody who is acceptable, by the proposer's likes."""
    order = [sorted(np.flatnonzero(row), key=lambda r, p=p: -likes[p, r]) for p, row in enumerate(acceptable)]
    begin = np.cumsum([0, *map(len, order)])
    receiver = np.array([r for row in order for r in row], np.int32)
    return ProposalLists(begin, receiver, np.array([worth[p, r] for p, row in enumerate(order) for r in row], np.float32))


def pairs_of(lists: ProposalLists, together: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> set[tuple[int, int]]:
    proposer = np.repeat(np.arange(len(lists.begin) - 1), np.diff(lists.begin))
    return {(int(p), int(r)) for p, r in zip(proposer[together], lists.receiver[together], strict=True)}


def strict_preferences(rng: np.random.Generator, rows: int, columns: int) -> Matrix:
    return np.array([rng.permutation(columns) for _ in range(rows)], np.float64).reshape(rows, columns)


@given(st.integers(0, 2**32), st.integers(1, 12))
def test_one_to_one_is_the_marriage_that_matching_finds(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    likes, worth = strict_preferences(rng, n, n), strict_preferences(rng, n, n).T
    lists = lists_of(likes, worth, np.ones((n, n), bool))
    ours = pairs_of(lists, deferred_acceptance(lists, np.ones(n, np.int32), np.ones(n, np.int32)))
    game = StableMarriage.create_from_dictionaries(
        {f"p{p}": [f"r{r}" for r in np.argsort(-likes[p])] for p in range(n)},
        {f"r{r}": [f"p{p}" for p in np.argsort(-worth[:, r])] for r in range(n)},
    )
    theirs = {(int(p.name[1:]), int(r.name[1:])) for p, r in game.solve(optimal="suitor").items()}
    assert ours == theirs


@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 5))
def test_many_to_one_with_unacceptable_people_is_what_matching_finds(seed: int, residents: int, hospitals: int) -> None:
    rng = np.random.default_rng(seed)
    likes, worth = strict_preferences(rng, residents, hospitals), strict_preferences(rng, hospitals, residents).T
    acceptable = rng.random((residents, hospitals)) < 0.8
    acceptable[np.arange(residents), rng.integers(0, hospitals, residents)] = True  # matching wants no empty list,
    acceptable[rng.integers(0, residents, hospitals), np.arange(hospitals)] = True  # on either side
    quota = rng.integers(1, 4, hospitals).astype(np.int32)
    lists = lists_of(likes, worth, acceptable)
    ours = pairs_of(lists, deferred_acceptance(lists, np.ones(residents, np.int32), quota))
    game = HospitalResident.create_from_dictionaries(
        {f"p{p}": [f"r{r}" for r in np.argsort(-likes[p]) if acceptable[p, r]] for p in range(residents)},
        {f"r{r}": [f"p{p}" for p in np.argsort(-worth[:, r]) if acceptable[p, r]] for r in range(hospitals)},
        {f"r{r}": int(quota[r]) for r in range(hospitals)},
    )
    theirs = {(int(p.name[1:]), int(r.name[1:])) for r, held in game.solve(optimal="resident").items() for p in held}
    assert ours == theirs


@given(st.integers(0, 2**32), st.integers(1, 10), st.integers(1, 10), st.booleans())
def test_many_to_many_leaves_no_blocking_pair(seed: int, proposers: int, receivers: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    likes, worth = rng.random((proposers, receivers)), rng.random((proposers, receivers))
    if ties:
        worth = np.round(worth, 1)
    acceptable = rng.random((proposers, receivers)) < 0.7
    room_p, room_r = rng.integers(0, 4, proposers).astype(np.int32), rng.integers(0, 4, receivers).astype(np.int32)
    lists = lists_of(likes, worth, acceptable)
    pairs = pairs_of(lists, deferred_acceptance(lists, room_p, room_r))
    of_p = {p: [r for q, r in pairs if q == p] for p in range(proposers)}
    of_r = {r: [p for p, q in pairs if q == r] for r in range(receivers)}
    assert all(len(of_p[p]) <= room_p[p] for p in of_p)
    assert all(len(of_r[r]) <= room_r[r] for r in of_r)
    for p, r in zip(*np.nonzero(acceptable), strict=True):
        wants = len(of_p[p]) < room_p[p] or any(likes[p, other] < likes[p, r] for other in of_p[p])
        wanted = len(of_r[r]) < room_r[r] or any(np.float32(worth[other, r]) < np.float32(worth[p, r]) for other in of_r[r])
        assert (p, r) in pairs or not (wants and wanted and room_p[p] and room_r[r])
