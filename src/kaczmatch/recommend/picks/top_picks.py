"""Everybody's k best by the mutual probability, under all hard filters, on all cores.

The mutual score is symmetric, so each pair of tiles is met once and serves both sides. People lie in the order of kind and age,
so tiles that cannot meet are skipped. The result depends neither on the number of threads nor on the order of the tiles.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import check_integer
from kaczmatch.recommend.picks.columns import PickColumns
from kaczmatch.recommend.picks.tile_kernel import UNIT, Keys, TileColumns, meet_tiles
from kaczmatch.recommend.picks.tiles import Pairs, live_pairs, number_of_parts, tile_columns

NOBODY = -1

Progress = Callable[[float], None]
Rows = NDArray[np.int32]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Picks:
    """Per person the rows of the best candidates, the best first, and the mutual probabilities. `NOBODY` fills up."""

    candidates: Rows
    scores: NDArray[np.float32]

    @classmethod
    def of_keys(cls, keys: Keys) -> Picks:
        ordered = np.sort(keys, axis=1)[:, ::-1]
        rows = (np.uint64(0xFFFFFFFF) - (ordered & np.uint64(0xFFFFFFFF))).astype(np.int64)
        there = ordered > 0
        scores = (ordered >> np.uint64(32)).astype(np.float64) * UNIT
        return cls(np.where(there, rows, NOBODY).astype(np.int32), np.where(there, scores, 0.0).astype(np.float32))


@final
@dataclass(slots=True, eq=False)
class PicksInProgress:
    """How far the picks have come: what a checkpoint keeps."""

    keys: Keys
    parts_done: int = 0


def top_picks(
    columns: PickColumns,
    k: int = 10,
    *,
    threads: int | None = None,
    progress: Progress = lambda _: None,
    begun: PicksInProgress | None = None,
    checkpoint: Callable[[PicksInProgress], None] = lambda _: None,
) -> Picks:
    """The exact k best of everybody.

    `checkpoint` is called after each part; give what it kept as `begun` to go on from there.
    """
    check_integer("k", k, low=1, high=1_000)
    tiles = tile_columns(columns)
    workers = threads or os.cpu_count() or 1
    state = begun or PicksInProgress(np.zeros((len(tiles.age), k), np.uint64))
    count = number_of_parts(tiles)
    floor = _floor(state.keys)
    with ThreadPoolExecutor(workers) as pool:
        for part in range(state.parts_done, count):
            pairs = live_pairs(tiles, part, count)
            state = PicksInProgress(_meet(tiles, pairs, floor, state.keys, pool, workers), part + 1)
            progress(state.parts_done / count)
            checkpoint(state)
    return Picks.of_keys(state.keys[: len(columns)])


def _meet(
    tiles: TileColumns, pairs: Pairs, floor: NDArray[np.float32], keys: Keys, pool: ThreadPoolExecutor, workers: int
) -> Keys:
    turns, stop = np.zeros(1, np.int64), np.zeros(1, np.bool_)
    own = [keys, *(np.zeros_like(keys) for _ in range(workers - 1))]
    jobs = [pool.submit(meet_tiles, tiles, pairs, turns, floor, some, stop) for some in own]
    try:
        for job in jobs:
            job.result()
    finally:
        stop[0] = True  # on Ctrl-C the other threads end after the tiles that they are at
    return np.ascontiguousarray(np.sort(np.concatenate(own, axis=1), axis=1)[:, -keys.shape[1] :])  # sorted: heaps again


def _floor(keys: Keys) -> NDArray[np.float32]:
    """A lower bound of everybody's k-th best score; below all scores where fewer than k are known."""
    worst = keys.min(axis=1)
    return np.where(worst > 0, (worst >> np.uint64(32)).astype(np.float64) * UNIT, -1.0).astype(np.float32)
