"""Everybody's k best by the mutual probability, under all hard filters, on all cores.

The mutual score is symmetric, so each pair of tiles is met once and serves both sides. People lie in the order of kind and age,
so tiles that cannot meet are skipped. The result depends neither on the number of threads nor on the order of the tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import check_integer
from kaczmatch.recommend.picks.columns import PickColumns
from kaczmatch.recommend.picks.tile_kernel import UNIT, Keys, TileColumns, meet_tiles
from kaczmatch.recommend.picks.tiles import Pairs, live_pairs, number_of_parts, tile_columns
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner

NOBODY = -1
_ROUNDS = 8  # of workers that share no memory: after each, everybody's best go to one place

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
    runner: Runner = LocalRunner(),  # noqa: B008
    progress: Progress = lambda _: None,
    begun: PicksInProgress | None = None,
    checkpoint: Callable[[PicksInProgress], None] = lambda _: None,
) -> Picks:
    """The exact k best of everybody.

    `checkpoint` is called after each part; give what it kept as `begun` to go on from there.
    """
    check_integer("k", k, low=1, high=1_000)
    tiles = tile_columns(columns)
    state = begun or PicksInProgress(np.zeros((len(tiles.age), k), np.uint64))
    count = number_of_parts(tiles)
    floor = _floor(state.keys)
    local = isinstance(runner, LocalRunner)
    at_once = 1 if local else -(-count // _ROUNDS)
    while state.parts_done < count:
        parts = range(state.parts_done, min(state.parts_done + at_once, count))
        pairs = np.concatenate([live_pairs(tiles, part, count) for part in parts])
        keys = _meet(tiles, pairs, floor, state.keys, runner) if local else _meet_apart(tiles, pairs, state.keys, runner)
        state = PicksInProgress(keys, parts.stop)
        progress(state.parts_done / count)
        checkpoint(state)
    return Picks.of_keys(state.keys[: len(columns)])


def _meet(tiles: TileColumns, pairs: Pairs, floor: NDArray[np.float32], keys: Keys, runner: Runner) -> Keys:
    """One part: each worker keeps the best of the tiles that it takes. All of them share turns and lower bounds."""
    turns, stop = np.zeros(1, np.int64), np.zeros(1, np.bool_)

    def meet(_: int) -> Keys:
        own = np.zeros_like(keys)
        meet_tiles(tiles, pairs, turns, floor, own, stop)
        return own

    try:
        return runner.fold(meet, range(runner.workers), merged, keys)
    finally:
        stop[0] = True  # on Ctrl-C the others end after the tiles that they are at


def _meet_apart(tiles: TileColumns, pairs: Pairs, keys: Keys, runner: Runner) -> Keys:
    """Workers that share no memory take every so many pairs. As these are in a random order, all have about the same to do."""
    meet = partial(_meet_share, tiles, pairs, _floor(keys), keys.shape, runner.workers)
    return runner.fold(meet, range(runner.workers), merged, keys)


def _meet_share(
    tiles: TileColumns, pairs: Pairs, floor: NDArray[np.float32], shape: tuple[int, ...], workers: int, share: int
) -> Keys:
    own = np.zeros(shape, np.uint64)
    meet_tiles(tiles, pairs[share::workers], np.zeros(1, np.int64), floor.copy(), own, np.zeros(1, np.bool_))
    return own


def merged(one: Keys, other: Keys) -> Keys:
    """The best of both, sorted, which makes a heap."""
    return np.ascontiguousarray(np.sort(np.concatenate([one, other], axis=1), axis=1)[:, -one.shape[1] :])


def _floor(keys: Keys) -> NDArray[np.float32]:
    """A lower bound of everybody's k-th best score; below all scores where fewer than k are known."""
    worst = keys.min(axis=1)
    return np.where(worst > 0, (worst >> np.uint64(32)).astype(np.float64) * UNIT, -1.0).astype(np.float32)
