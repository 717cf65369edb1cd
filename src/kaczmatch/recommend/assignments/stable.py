"""Nobody has reason to ask for somebody else: a stable matching where there are two sides, and nearly one where there are not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled
from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Integers
from kaczmatch.recommend.assignments.candidate_lists import CandidateLists
from kaczmatch.recommend.assignments.contract import AssignedPicks, PickAssignment, PickMarket
from kaczmatch.recommend.assignments.deferred_acceptance import Rows
from kaczmatch.recommend.assignments.proposals import propose
from kaczmatch.recommend.picks.columns import PickColumns
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner

PROPOSING: Final = ("first", "second")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Stable(PickAssignment):
    """Deferred acceptance: two people get each other or neither does, and everybody gets at most k.

    Everybody orders by how likely they are to like the others. Of all stable matchings, the proposing side gets its best, and
    the other side its worst. The first side is that of the kind which comes first in the schema.

    Where kinds do not split people into two sides, a stable matching need not exist. There, everybody proposes and receives,
    which is stable with half pairs (Tan 1991). Whole pairs are kept, and the room that is left is filled from the likeliest
    match on.
    """

    slug: ClassVar[str] = "stable"

    proposing: str = "first"

    def __post_init__(self) -> None:
        if self.proposing not in PROPOSING:
            raise InvalidInput("proposing", f"must be {' or '.join(PROPOSING)}, got {self.proposing!r}")

    def assign(self, market: PickMarket, k: int, *, runner: Runner = LocalRunner()) -> AssignedPicks:  # noqa: ARG002, B008
        lists, none = market.lists, np.zeros(len(market.columns), np.int32)
        room, worth = np.full(lists.people, k, np.int32), lists.forward[lists.back]
        side = sides(market.columns)
        if side is None:
            directed = propose(lists, lists.forward, worth, room, room)
            pairs = directed & directed[lists.back]
            _fill(lists.begin, lists.other, lists.back, np.argsort(-lists.mutual, kind="stable"), k, pairs)
            limits = "kinds do not split people into two sides: a stable matching need not exist, and blocking pairs may be left"
            return AssignedPicks.of(lists, pairs, k, limits)
        proposes = side == PROPOSING.index(self.proposing)
        pairs = propose(lists, lists.forward, worth, np.where(proposes, room, none), np.where(proposes, none, room))
        return AssignedPicks.of(lists, pairs | pairs[lists.back], k)


def sides(columns: PickColumns) -> NDArray[np.int8] | None:
    """Per person 0 or 1, such that people of one side never meet; None where kinds do not split people so."""
    groups, of_person = np.unique(np.column_stack([columns.i_am, columns.i_look_for]), axis=0, return_inverse=True)
    am, look = groups[:, 0], groups[:, 1]
    meet = ((look[:, None] & am) != 0) & ((look & am[:, None]) != 0)
    side = np.full(len(groups), -1, np.int8)
    for first in range(len(groups)):
        if side[first] >= 0:
            continue
        side[first], waiting = 0, [first]
        while waiting:
            group = waiting.pop()
            others = np.flatnonzero(meet[group])
            if (side[others] == side[group]).any():
                return None
            waiting += others[side[others] < 0].tolist()
            side[others] = 1 - side[group]
    return np.asarray(side[of_person.ravel()])


def blocking_pairs(lists: CandidateLists, given: Rows) -> int:
    """Pairs on the lists of whom neither was given the other, and who would both rather have been.

    Somebody would rather, if they were given fewer than they have room for, or somebody whom they are less likely to like.
    """
    together = lists.which(given)
    has = np.bincount(lists.owner[together], minlength=lists.people)
    worst = np.full(lists.people, np.inf, np.float32)
    np.minimum.at(worst, lists.owner[together], lists.forward[together])
    rather = (has < given.shape[1])[lists.owner] | (lists.forward > worst[lists.owner])
    apart = ~together & ~together[lists.back]
    return int((apart & rather & rather[lists.back]).sum()) // 2


@compiled
def _fill(begin: Integers, other: Rows, back: Integers, order: Integers, k: int, pairs: NDArray[np.bool_]) -> None:
    """Add pairs in this order where both have room."""
    has = np.zeros(len(begin) - 1, np.int64)
    owner = np.empty(len(other), np.int32)
    for i in range(len(begin) - 1):
        for entry in range(begin[i], begin[i + 1]):
            owner[entry] = i
            has[i] += pairs[entry]
    for entry in order:
        i, j = owner[entry], other[entry]
        if not pairs[entry] and has[i] < k and has[j] < k:
            pairs[entry] = pairs[back[entry]] = True
            has[i] += 1
            has[j] += 1
