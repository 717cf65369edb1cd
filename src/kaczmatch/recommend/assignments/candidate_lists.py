"""Pairs of people that may be given to each other, from both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from kaczmatch.core.vectors import Integers
from kaczmatch.recommend.assignments.deferred_acceptance import Rows
from kaczmatch.recommend.picks.columns import PickColumns

_AT_ONCE = 100_000


@final
@dataclass(frozen=True, slots=True, eq=False)
class CandidateLists:
    """Every pair twice, once on the list of each: from `begin[i]` to `begin[i + 1]` those of row i, by row."""

    begin: Integers
    other: Rows
    forward: NDArray[np.float32]  # how likely the owner of the list is to like the other
    back: Integers  # where the pair lies on the other's list

    @property
    def people(self) -> int:
        return len(self.begin) - 1

    @property
    def owner(self) -> Rows:
        return np.repeat(np.arange(self.people, dtype=np.int32), np.diff(self.begin))

    @property
    def mutual(self) -> NDArray[np.float32]:
        """How likely both are to like each other."""
        return np.asarray(self.forward * self.forward[self.back])

    def which(self, given: Rows) -> NDArray[np.bool_]:
        """Which entries are of people who were given to the owner of the list."""
        row, place = np.nonzero(given >= 0)
        return np.isin(self.owner.astype(np.int64) * self.people + self.other, row * self.people + given[row, place])

    def with_pairs(self, columns: PickColumns, given: Rows) -> CandidateLists:
        """These lists, and the pairs that were given."""
        row, place = np.nonzero(given >= 0)
        return self.of_pairs(columns, np.append(self.owner, row), np.append(self.other, given[row, place]))

    @classmethod
    def of(cls, columns: PickColumns, candidates: Rows) -> CandidateLists:
        """The pairs of which one is among the other's candidates, as `top_picks` gives them."""
        row, place = np.nonzero(candidates >= 0)
        return cls.of_pairs(columns, row, candidates[row, place])

    @classmethod
    def of_pairs(cls, columns: PickColumns, one: NDArray[np.integer], other: NDArray[np.integer]) -> CandidateLists:
        """These pairs, in whichever order their people are."""
        n = len(columns)
        codes = np.concatenate([one.astype(np.int64) * n + other, other.astype(np.int64) * n + one])
        codes = np.unique(codes)
        owner, candidate = codes // n, codes % n
        back = np.searchsorted(codes, candidate * n + owner)
        begin = np.searchsorted(owner, np.arange(n + 1))
        return cls(begin, candidate.astype(np.int32), _forward(columns, owner, candidate), back)


def _forward(columns: PickColumns, owner: Integers, candidate: Integers) -> NDArray[np.float32]:
    found = np.empty(len(owner), np.float32)
    for first in range(0, len(owner), _AT_ONCE):
        some = slice(first, first + _AT_ONCE)
        score = np.einsum(
            "ij,ij->i", columns.weights[owner[some]].astype(np.float64), columns.profiles[candidate[some]].astype(np.float64)
        )
        share = columns.random_share[owner[some]]
        found[some] = share / 2 + (1 - share) * ndtr(score)
    return found
