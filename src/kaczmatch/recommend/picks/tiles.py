"""People in tiles, and which tiles can meet."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kaczmatch.recommend.index.search_kernel import Float32s
from kaczmatch.recommend.people.profile import MAX_AGE
from kaczmatch.recommend.picks.columns import NO_AGE, PickColumns
from kaczmatch.recommend.picks.tile_kernel import TILE, TileColumns, slack_of

_PAIRS_PER_PART = 250_000  # of tiles: seconds of work, after which progress is told and a checkpoint can be written
_TOO_OLD = 1_000

Pairs = NDArray[np.int32]


def tile_columns(columns: PickColumns) -> TileColumns:
    """Padded to whole tiles: the people who fill up the last one look for nobody."""
    n, dimensions = columns.weights.shape
    rows, wide = -(-n // TILE) * TILE, -(-dimensions // 4) * 4

    def padded(values: NDArray[Any], fill: int) -> NDArray[Any]:
        out = np.full((rows, *values.shape[1:]), fill, values.dtype)
        out[:n] = values
        return out

    def by_tile(values: Float32s) -> Float32s:
        return np.ascontiguousarray(values.reshape(-1, TILE, wide).transpose(0, 2, 1))

    weights, profiles = np.zeros((rows, wide), np.float32), np.zeros((rows, wide), np.float32)
    weights[:n, :dimensions], profiles[:n, :dimensions] = columns.weights, columns.profiles
    random_share = padded(columns.random_share, 0)
    slack = slack_of(weights, profiles, random_share)
    age = padded(columns.age, int(columns.age[-1]) if n else 0)
    least, greatest = np.where(age == NO_AGE, 0, age).astype(np.int32), np.where(age == NO_AGE, MAX_AGE, age).astype(np.int32)
    return TileColumns(
        weights,
        profiles,
        by_tile(weights),
        by_tile(profiles),
        random_share,
        slack,
        slack.reshape(-1, TILE).max(axis=1),
        padded(columns.i_am, 0),
        padded(columns.i_look_for, 0),
        least,
        greatest,
        padded(columns.youngest, _TOO_OLD),
        padded(columns.oldest, -1),
        least.reshape(-1, TILE).min(axis=1),
        greatest.reshape(-1, TILE).max(axis=1),
        padded(columns.x, 0),
        padded(columns.y, 0),
        padded(columns.z, 0),
        padded(columns.max_squared_chord, 0),
        columns.excluded,
        np.append(columns.excluded_from, np.full(rows - n, columns.excluded_from[-1])),
    )


def number_of_parts(tiles: TileColumns) -> int:
    count = len(tiles.tile_slack)
    return max(1, -(-count * (count + 1) // 2 // _PAIRS_PER_PART))


def live_pairs(tiles: TileColumns, part: int, parts: int) -> Pairs:
    """The pairs of one part in which somebody may meet, in a random order: lower bounds rise the sooner the more it is mixed."""
    count = len(tiles.tile_slack)
    first = np.arange(count)
    begin = first + (part - 2 * first) % parts  # the smallest j ≥ i with (i + j) % parts == part
    many = np.maximum(-(-(count - begin) // parts), 0)
    i = np.repeat(first, many)
    j = np.repeat(begin, many) + parts * (np.arange(len(i)) - np.repeat(np.cumsum(many) - many, many))
    am, look = _bits(tiles.i_am), _bits(tiles.i_look_for)
    want_low, want_high = tiles.youngest.reshape(-1, TILE).min(axis=1), tiles.oldest.reshape(-1, TILE).max(axis=1)
    low, high = tiles.tile_youngest, tiles.tile_oldest
    live = ((look[i] & am[j]) != 0) & ((look[j] & am[i]) != 0)
    live &= (low[j] <= want_high[i]) & (high[j] >= want_low[i]) & (low[i] <= want_high[j]) & (high[i] >= want_low[j])
    pairs = np.column_stack([i[live], j[live]]).astype(np.int32)
    return np.asarray(np.random.default_rng(part).permutation(pairs))


def _bits(masks: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return np.asarray(np.bitwise_or.reduce(masks.reshape(-1, TILE), axis=1))
