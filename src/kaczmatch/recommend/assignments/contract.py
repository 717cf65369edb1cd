"""What every assignment is given and gives: a market, and for everybody the people they are given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.recommend.assignments.candidate_lists import CandidateLists
from kaczmatch.recommend.assignments.deferred_acceptance import Rows
from kaczmatch.recommend.picks.columns import PickColumns
from kaczmatch.recommend.picks.top_picks import NOBODY, top_picks
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner


@final
@dataclass(frozen=True, slots=True, eq=False)
class PickMarket:
    """Everybody, and the pairs among which an assignment chooses."""

    columns: PickColumns
    lists: CandidateLists

    @classmethod
    def of(cls, columns: PickColumns, longest: int = 100, *, runner: Runner = LocalRunner()) -> PickMarket:  # noqa: B008
        """With the pairs of which one is among the other's `longest` best by the mutual probability."""
        return cls(columns, CandidateLists.of(columns, top_picks(columns, longest, runner=runner).candidates))


@final
@dataclass(frozen=True, slots=True, eq=False)
class AssignedPicks:
    """Per person the rows of the people they are given, by how much that person is likely to like them; `NOBODY` fills up.

    `limits` says in words what the assignment does not promise on this market; empty where it keeps all that it can promise.
    """

    given: Rows
    limits: str = ""

    @classmethod
    def of(cls, lists: CandidateLists, chosen: NDArray[np.bool_], k: int, limits: str = "") -> AssignedPicks:
        """From the entries of the lists that were chosen, at most k per person."""
        entries = np.flatnonzero(chosen)
        person = lists.owner[entries]
        order = np.lexsort((lists.other[entries], -lists.forward[entries], person))
        person, entries = person[order], entries[order]
        place = np.arange(len(person)) - np.searchsorted(person, person)
        given = np.full((lists.people, k), NOBODY, np.int32)
        given[person, place] = lists.other[entries]
        return cls(given, limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class PickAssignment(ABC):
    """Who is given to whom when everybody is looked at at once."""

    slug: ClassVar[str]

    @abstractmethod
    def assign(self, market: PickMarket, k: int, *, runner: Runner = LocalRunner()) -> AssignedPicks:  # noqa: B008
        """At most k people for everybody. The same on any number of workers."""
