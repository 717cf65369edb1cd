"""Everybody's picks: the pairs that are likeliest to match, and an assignment that chooses among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from kaczmatch.core.errors import InvalidInput, check_integer
from kaczmatch.recommend.assignments.candidate_lists import CandidateLists
from kaczmatch.recommend.assignments.contract import AssignedPicks, PickAssignment, PickMarket
from kaczmatch.recommend.assignments.top import Top
from kaczmatch.recommend.picks.columns import PickColumns
from kaczmatch.recommend.picks.top_picks import Picks, PicksInProgress, Progress, top_picks
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner

DEVICES: Final = ("cpu", "cuda")


def picks(
    columns: PickColumns,
    k: int = 10,
    assignment: PickAssignment = Top(),  # noqa: B008
    *,
    longest: int = 100,
    device: str = "cpu",
    runner: Runner = LocalRunner(),  # noqa: B008
    progress: Progress = lambda _: None,
    begun: PicksInProgress | None = None,
    checkpoint: Callable[[PicksInProgress], None] = lambda _: None,
) -> tuple[PickMarket, AssignedPicks]:
    """At most k people for everybody, and the market that they were chosen from, which `measure` takes.

    Assignments choose among the pairs of which one is among the other's `longest` best. Those are exact, and the same on both
    devices. `begun` and `checkpoint` are as for `top_picks`; a GPU needs neither.
    """
    check_integer("k", k, low=1, high=longest)
    check_device(device)
    if device == "cuda":
        candidates = _on_card(columns, longest, progress)
    else:
        candidates = top_picks(columns, longest, runner=runner, progress=progress, begun=begun, checkpoint=checkpoint)
    market = PickMarket(columns, CandidateLists.of(columns, candidates.candidates))
    return market, assignment.assign(market, k, runner=runner)


def check_device(device: str) -> None:
    if device not in DEVICES:
        raise InvalidInput("device", f"must be {' or '.join(DEVICES)}, got {device!r}")
    if device == "cuda":
        try:
            from kaczmatch.cuda import top_picks as card
        except ImportError:
            raise InvalidInput("device", "'cuda' needs torch: pip install 'kaczmatch[gpu]'") from None
        if not card.has_card():
            raise InvalidInput("device", "there is no CUDA card here; leave the device away, or use 'cpu'")


def _on_card(columns: PickColumns, longest: int, progress: Progress) -> Picks:
    from kaczmatch.cuda import top_picks as card

    if not len(columns):
        return Picks.of_keys(np.zeros((0, longest), np.uint64))
    arrays = {name: getattr(columns, name) for name in columns.__slots__[1:]}
    return Picks.of_keys(card.top_picks(arrays, longest, progress=progress))
