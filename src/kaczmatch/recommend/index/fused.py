"""The compiled pass: filters, scores both ways and keeps the best, one chunk at a time, all of it in the nearest cache.

float32 and an eight-bit image of what each person likes: this finds a shortlist, and the shortlist is scored exactly
afterwards. The filters are exact here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled
from kaczmatch.recommend.index.columns import CHUNK, Columns

PRODUCT, HARMONIC, MINIMUM, FORWARD = 0, 1, 2, 3

Places = NDArray[np.int64]
Floats = NDArray[np.float32]


class Query(NamedTuple):
    """Whom a viewer can be shown, as the filters read it."""

    am: np.uint32
    looks: np.uint32
    age: int
    born_from: int
    born_to: int
    reach: np.float32
    column: int
    rise: Floats
    span: Floats
    turn: Floats


class Lens(NamedTuple):
    """How a viewer is scored both ways, own side first, over the spread of a typical score.

    Probabilities are ε + (1 − 2ε)Φ(score); where the learner has none, scores are cosines.
    """

    table: Floats  # bytes of tags x 256: what the tags in a byte add up to for the viewer
    weights: Floats  # what each feature is worth
    offset: np.float32
    pull: np.float32
    places: NDArray[np.int64]  # the coordinates where the viewer's own profile is not 0,
    values: Floats  # and its unit vector there
    appeal: np.float32
    epsilon: np.float32
    probabilities: bool
    fusion: int


@compiled
def passing(c: Columns, chunk: int, kind: int, used: int, q: Query, found: NDArray[np.int32]) -> int:
    """The rows of a chunk that pass every filter, into `found`; how many. Without branches, so that it runs at full width."""
    flags = np.empty(CHUNK, np.uint8)
    look, am, born = c.i_look_for[chunk], c.i_am[chunk], c.born[chunk]
    youngest, oldest = c.youngest[chunk], c.oldest[chunk]
    bit, one, zero = np.uint32(1) << np.uint32(kind), np.uint32(1), np.uint32(0)
    first, last, age = np.int32(q.born_from), np.int32(q.born_to), np.uint8(q.age)
    for i in range(used):
        sought = am[i] & q.looks
        flags[i] = (
            ((look[i] & q.am) != zero)
            & ((sought & (~sought + one)) == bit)  # once, however many of what they are is sought
            & (born[i] >= first)
            & (born[i] <= last)
            & (youngest[i] <= age)
            & (oldest[i] >= age)
        )
    count = 0
    for i in range(used):
        found[count] = i
        count += flags[i]
    row, column, reach = c.row[chunk], c.column[chunk], c.reach[chunk]
    near = 0
    for j in range(count):
        i = found[j]
        apart = q.rise[row[i]] + q.span[row[i]] * q.turn[abs(column[i] - q.column)]
        found[near] = i
        near += apart <= min(reach[i], q.reach)
    return near


@compiled
def everyone(c: Columns, chunks: Places, kinds: NDArray[np.int32], used: NDArray[np.int32], q: Query) -> Places:
    """The places of all who pass."""
    total = 0
    for chunk in chunks:
        total += used[chunk]
    places = np.empty(total, np.int64)
    found = np.empty(CHUNK, np.int32)
    total = 0
    for chunk in chunks:
        count = passing(c, chunk, kinds[chunk], used[chunk], q, found)
        for j in range(count):
            places[total + j] = chunk * CHUNK + found[j]
        total += count
    return places[:total]


@compiled
def best(
    c: Columns, chunks: Places, kinds: NDArray[np.int32], used: NDArray[np.int32], q: Query, lens: Lens, want: int
) -> tuple[NDArray[np.int32], Floats, Places]:
    """How many pass in each chunk, and the scores and places of the best `want` of them all, or a few more."""
    found = np.empty(CHUNK, np.int32)
    scores = np.empty(CHUNK, np.float32)
    counts = np.empty(len(chunks), np.int32)
    room = 4 * want + CHUNK
    kept, places = np.empty(room, np.float32), np.empty(room, np.int64)
    n, limit = 0, np.float32(-1.0)
    for k in range(len(chunks)):
        chunk = chunks[k]
        count = passing(c, chunk, kinds[chunk], used[chunk], q, found)
        counts[k] = count
        _both_ways(c, chunk, used[chunk], lens, found, count, scores)
        for j in range(count):
            if scores[j] >= limit:  # rare, once the limit is up
                kept[n], places[n] = scores[j], chunk * CHUNK + found[j]
                n += 1
        if n > 4 * want:
            limit = np.partition(kept[:n], n - want)[n - want]
            n = _at_least(limit, kept, places, n)
    return counts, kept[:n], places[:n]


@compiled
def _at_least(limit: np.float32, kept: Floats, places: Places, n: int) -> int:
    """Keep what reaches the limit; where very many are equal, only so many that the pass has room to go on."""
    most = len(kept) - CHUNK - 1
    m = 0
    for j in range(n):
        if kept[j] >= limit and m < most:
            kept[m], places[m] = kept[j], places[j]
            m += 1
    return m


@compiled
def _both_ways(c: Columns, chunk: int, used: int, lens: Lens, found: NDArray[np.int32], count: int, scores: Floats) -> None:
    """The fused score of each row found, in an order that is the fusion's (the geometric mean's is the product's)."""
    forward, backward = np.empty(CHUNK, np.float32), np.empty(CHUNK, np.float32)
    _forward(c, chunk, lens, found, count, forward)
    _liked_back(c.mean[chunk], lens, used, backward)
    unit, offset, pull = c.unit[chunk], c.offset[chunk], c.pull[chunk]
    for j in range(count):
        i = found[j]
        scores[j] = backward[i] * unit[i] + offset[i]
    if lens.appeal != np.float32(0.0):
        for j in range(count):
            scores[j] += pull[found[j]] * lens.appeal
    _fuse(lens, forward, scores, count)


@compiled
def _fuse(lens: Lens, forward: Floats, scores: Floats, count: int) -> None:
    """Both sides, first as probabilities or clamped at 0, into `scores`."""
    if lens.probabilities:
        for j in range(count):
            forward[j] = _probability(forward[j], lens.epsilon)
            scores[j] = _probability(scores[j], lens.epsilon)
    else:
        for j in range(count):
            forward[j] = max(forward[j], np.float32(0.0))
            scores[j] = max(scores[j], np.float32(0.0))
    if lens.fusion == PRODUCT:
        for j in range(count):
            scores[j] *= forward[j]
    elif lens.fusion == HARMONIC:
        for j in range(count):
            scores[j] = scores[j] * forward[j] / max(scores[j] + forward[j], np.float32(1e-30))
    elif lens.fusion == MINIMUM:
        for j in range(count):
            scores[j] = min(scores[j], forward[j])
    else:
        for j in range(count):
            scores[j] = forward[j]


@compiled
def _forward(c: Columns, chunk: int, lens: Lens, found: NDArray[np.int32], count: int, forward: Floats) -> None:
    tags, features, norm, appeal = c.tags[chunk], c.features[chunk], c.inverse_norm[chunk], c.appeal[chunk]
    for j in range(count):
        i = found[j]
        total = np.float32(0.0)
        for b in range(tags.shape[0]):
            total += lens.table[b, tags[b, i]]
        forward[j] = total
    for k in range(features.shape[0]):
        for j in range(count):
            forward[j] += lens.weights[k] * features[k, found[j]]
    for j in range(count):
        forward[j] = forward[j] * norm[found[j]] + lens.offset
    if lens.pull != np.float32(0.0):
        for j in range(count):
            forward[j] += lens.pull * appeal[found[j]]


@compiled
def _liked_back(mean: NDArray[np.int8], lens: Lens, used: int, backward: Floats) -> None:
    """What every row's person likes times the viewer's profile, four coordinates at a time, in each row's units."""
    for i in range(used):
        backward[i] = np.float32(0.0)
    n = len(lens.places)
    whole = n - n % 4
    for k in range(0, whole, 4):
        m0, m1, m2, m3 = (mean[lens.places[k]], mean[lens.places[k + 1]], mean[lens.places[k + 2]], mean[lens.places[k + 3]])
        x0, x1, x2, x3 = lens.values[k], lens.values[k + 1], lens.values[k + 2], lens.values[k + 3]
        for i in range(used):
            backward[i] += x0 * np.float32(m0[i]) + x1 * np.float32(m1[i]) + x2 * np.float32(m2[i]) + x3 * np.float32(m3[i])
    for k in range(whole, n):
        m0, x0 = mean[lens.places[k]], lens.values[k]
        for i in range(used):
            backward[i] += x0 * np.float32(m0[i])


@compiled
def _probability(z: np.float32, epsilon: np.float32) -> np.float32:
    """ε + (1 − 2ε)Φ(z) to 3e-4: Abramowitz and Stegun 7.1.27, which needs no exponential and rises everywhere."""
    x = abs(z) * np.float32(0.70710678)
    t = np.float32(1.0) + x * (
        np.float32(0.278393) + x * (np.float32(0.230389) + x * (np.float32(0.000972) + x * np.float32(0.078108)))
    )
    t = t * t
    half = np.float32(0.5) - np.float32(0.5) / (t * t)
    signed = half if z > np.float32(0.0) else -half
    return epsilon + (np.float32(1.0) - np.float32(2.0) * epsilon) * (np.float32(0.5) + signed)
