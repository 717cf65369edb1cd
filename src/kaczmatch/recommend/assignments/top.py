"""Everybody's best, unless that would give somebody to too many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kaczmatch.core.errors import check_number
from kaczmatch.recommend.assignments.contract import AssignedPicks, PickAssignment, PickMarket
from kaczmatch.recommend.assignments.proposals import propose
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Top(PickAssignment):
    """The k best by the mutual probability. Nobody is given to more than `exposure_cap` times k people, the average being k.

    Where more would have somebody, those with the likeliest match do. That is deferred acceptance in which both sides order by
    the mutual probability.
    """

    slug: ClassVar[str] = "top"

    exposure_cap: float = 2.0

    def __post_init__(self) -> None:
        check_number("exposure_cap", self.exposure_cap, low=1.0)

    def assign(self, market: PickMarket, k: int, *, runner: Runner = LocalRunner()) -> AssignedPicks:  # noqa: ARG002, B008
        lists = market.lists
        room = np.full(lists.people, k, np.int32)
        most = np.full(lists.people, min(self.exposure_cap * k, lists.people), np.int32)
        return AssignedPicks.of(lists, propose(lists, lists.mutual, lists.mutual, room, most), k)
