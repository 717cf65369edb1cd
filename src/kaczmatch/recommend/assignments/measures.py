"""How good an assignment is, and for whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from scipy.sparse import csr_array

from kaczmatch.recommend.assignments.candidate_lists import CandidateLists
from kaczmatch.recommend.assignments.contract import AssignedPicks, PickMarket
from kaczmatch.recommend.assignments.stable import blocking_pairs
from kaczmatch.recommend.decks.exposure import gini

_ASKED: Final = 2_000  # people who are asked whom they envy; more would take long and say the same


@final
@dataclass(frozen=True, slots=True)
class AssignmentMeasures:
    """What an assignment earns, and how it spreads.

    `expected_matches` sums the mutual probability of all pairs of whom at least one was given the other: whoever is liked sees
    the other among their admirers. `envied` is how many others somebody envies on average (Tomita and Yokoyama 2024): A envies
    B, if A would expect more matches in the places where B is shown. `exposure_gini` is that of how many are given each person.
    """

    expected_matches: float
    blocking_pairs: int
    envied: float
    with_a_pick: float
    exposure_gini: float


def measure_picks(market: PickMarket, assigned: AssignedPicks) -> AssignmentMeasures:
    """Over the pairs on the lists of the market, and those that were given."""
    lists = market.lists.with_pairs(market.columns, assigned.given)
    given = lists.which(assigned.given)
    either, mutual = given | given[lists.back], lists.mutual
    shown = np.bincount(lists.other[given], minlength=lists.people)
    return AssignmentMeasures(
        expected_matches=float(mutual[either].sum(dtype=np.float64)) / 2.0,
        blocking_pairs=blocking_pairs(lists, assigned.given),
        envied=_envied(lists, given),
        with_a_pick=float((assigned.given[:, 0] >= 0).mean()) if lists.people else 0.0,
        exposure_gini=gini(shown),
    )


def _envied(lists: CandidateLists, given: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    if not lists.people:
        return 0.0
    shape = (lists.people, lists.people)
    asked = np.unique(np.linspace(0, lists.people - 1, min(_ASKED, lists.people)).astype(np.int64))
    likely = csr_array((lists.mutual.astype(np.float64), lists.other, lists.begin), shape=shape)[asked]
    places = csr_array((np.ones(int(given.sum())), (lists.owner[given], lists.other[given])), shape=shape)
    chances = (likely @ places).tocsr()  # of those who are asked, in the places of everybody
    own = np.asarray(chances[np.arange(len(asked)), asked]).ravel()
    others = np.repeat(own, np.diff(chances.indptr))
    return float((chances.data > others + 1e-9).sum() / len(asked))
