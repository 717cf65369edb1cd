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
from kaczmatch.recommend.index.filtering import Found, Kinds, Places, Query, Used, admitted, listed

PRODUCT, HARMONIC, MINIMUM, FORWARD = 0, 1, 2, 3

Floats = NDArray[np.float32]


class Lens(NamedTuple):
    """How a viewer is scored both ways, own side first, over the spread of a typical score.

    Probabilities are c/2 + (1 − c)Φ(score), c the share of careless swipes; where the learner has none, scores are cosines.
    """

    table: Floats  # bytes of tags x 256: what the tags in a byte add up to for the viewer
    weights: Floats  # what each feature is worth
    offset: np.float32
    pull: np.float32
    tags: NDArray[np.int64]  # the coordinates of the viewer's own tags,
    tag: np.float32  # what each of them is in the viewer's unit vector,
    features: NDArray[np.int64]  # and the coordinates of the viewer's features,
    values: Floats  # with what they are there
    appeal: np.float32
    careless: np.float32
    ceiling: np.float32  # no candidate can be liked more by the viewer
    probabilities: bool
    fusion: int


@compiled
def best(
    c: Columns,
    chunks: Places,
    kinds: Kinds,
    used: Used,
    q: Query,
    lens: Lens,
    want: int,
    limit: np.float32,
) -> tuple[NDArray[np.int32], Floats, Places]:
    """How many pass in each chunk, and the scores and places of the best `want` of those above a limit, or a few more.

    The backward score of a whole chunk is cheap, the forward score of a row is not: it is looked up only where the best that
    the viewer could say would still get the row among the best so far.
    """
    flags, found = np.empty(CHUNK, np.uint8), np.empty(CHUNK, np.uint32)
    forward, backward = np.empty(CHUNK, np.float32), np.ones(CHUNK, np.float32)
    counts = np.empty(len(chunks), np.int32)
    room = 4 * want + CHUNK
    kept, places = np.empty(room, np.float32), np.empty(room, np.int64)
    n = 0
    for k in range(len(chunks)):
        chunk, rows = chunks[k], used[chunks[k]]
        admitted(c, chunk, kinds[chunk], rows, q, flags)
        count = 0
        for i in range(rows):
            count += flags[i]
        counts[k] = count
        if lens.fusion != FORWARD:
            _backward(c, chunk, rows, lens, backward)
        for i in range(rows):
            flags[i] &= _fused(lens.fusion, lens.ceiling, backward[i]) > limit
        count = listed(flags, rows, found)
        _forward(c, chunk, lens, found, count, forward)
        for j in range(count):
            score = _fused(lens.fusion, forward[j], backward[found[j]])
            if score > limit:  # rare, once the limit is up
                kept[n], places[n] = score, chunk * CHUNK + found[j]
                n += 1
        if n > 4 * want:
            limit = np.partition(kept[:n], n - want)[n - want]
            n = _at_least(limit, kept, places, n, want)
    return counts, kept[:n], places[:n]


@compiled
def _at_least(limit: np.float32, kept: Floats, places: Places, n: int, want: int) -> int:
    """Keep `want`: all that exceed the limit, and of those who reach it as many as there is room for."""
    above = 0
    for j in range(n):
        above += kept[j] > limit
    m, equal = 0, want - above
    for j in range(n):
        if kept[j] > limit or (kept[j] == limit and equal > 0):
            equal -= kept[j] == limit
            kept[m], places[m] = kept[j], places[j]
            m += 1
    return m


@compiled
def _fused(fusion: int, forward: np.float32, backward: np.float32) -> np.float32:
    """Both sides as one, in an order that is the fusion's (the geometric mean's is the product's)."""
    if fusion == PRODUCT:
        return np.float32(forward * backward)
    if fusion == HARMONIC:
        return np.float32(forward * backward / max(forward + backward, np.float32(1e-30)))
    if fusion == MINIMUM:
        return np.float32(min(forward, backward))
    return forward


@compiled
def _backward(c: Columns, chunk: int, used: int, lens: Lens, backward: Floats) -> None:
    """How every row's person takes to the viewer: a probability, or a cosine clamped at 0."""
    _liked_back(c.mean[chunk], lens, used, backward)
    unit, offset, pull, careless = c.unit[chunk], c.offset[chunk], c.pull[chunk], c.careless[chunk]
    if not lens.probabilities:
        for i in range(used):
            backward[i] = max(backward[i] * unit[i], np.float32(0.0))
        return
    if lens.appeal == np.float32(0.0):
        for i in range(used):
            backward[i] = _probability(backward[i] * unit[i] + offset[i], careless[i])
    else:
        for i in range(used):
            backward[i] = _probability(backward[i] * unit[i] + offset[i] + pull[i] * lens.appeal, careless[i])


@compiled
def _forward(c: Columns, chunk: int, lens: Lens, found: Found, count: int, forward: Floats) -> None:
    """How the viewer takes to each row found: a probability, or a cosine clamped at 0."""
    tags, features, norm, appeal = c.tags[chunk], c.features[chunk], c.inverse_norm[chunk], c.appeal[chunk]
    for j in range(count):
        forward[j] = np.float32(0.0)
    for w in range(tags.shape[0]):
        words, table = tags[w], lens.table[8 * w : 8 * w + 8]
        for j in range(count):
            forward[j] += _looked_up(table, words[found[j]])
    for k in range(features.shape[0]):
        for j in range(count):
            forward[j] += lens.weights[k] * features[k, found[j]]
    for j in range(count):
        forward[j] = forward[j] * norm[found[j]] + lens.offset
    if lens.pull != np.float32(0.0):
        for j in range(count):
            forward[j] += lens.pull * appeal[found[j]]
    for j in range(count):
        forward[j] = _probability(forward[j], lens.careless) if lens.probabilities else max(forward[j], np.float32(0.0))


@compiled
def _looked_up(t: Floats, word: np.uint64) -> np.float32:
    """What the 64 tags of a word add up to, byte by byte, in pairs so that no sum waits long for another."""
    byte = np.uint64(255)
    b0, b1 = word & byte, (word >> np.uint64(8)) & byte
    b2, b3 = (word >> np.uint64(16)) & byte, (word >> np.uint64(24)) & byte
    b4, b5 = (word >> np.uint64(32)) & byte, (word >> np.uint64(40)) & byte
    b6, b7 = (word >> np.uint64(48)) & byte, word >> np.uint64(56)
    low, high = (t[0, b0] + t[1, b1]) + (t[2, b2] + t[3, b3]), (t[4, b4] + t[5, b5]) + (t[6, b6] + t[7, b7])
    return np.float32(low + high)


@compiled
def _liked_back(mean: NDArray[np.int8], lens: Lens, used: int, backward: Floats) -> None:
    """What every row's person likes times the viewer's profile, in each row's units.

    Tags are all worth the same, so their likes are added up as whole numbers, four at a time and twice as many in a register;
    256 of them cannot overflow.
    """
    for i in range(used):
        backward[i] = np.float32(0.0)
    total = np.empty(CHUNK, np.int16)
    for begin in range(0, len(lens.tags), 256):
        end = min(begin + 256, len(lens.tags))
        whole = end - (end - begin) % 4
        for i in range(used):
            total[i] = 0
        for k in range(begin, whole, 4):
            m0, m1, m2, m3 = mean[lens.tags[k]], mean[lens.tags[k + 1]], mean[lens.tags[k + 2]], mean[lens.tags[k + 3]]
            for i in range(used):
                total[i] += np.int16(m0[i]) + np.int16(m1[i]) + np.int16(m2[i]) + np.int16(m3[i])
        for k in range(whole, end):
            m0 = mean[lens.tags[k]]
            for i in range(used):
                total[i] += np.int16(m0[i])
        for i in range(used):
            backward[i] += lens.tag * np.float32(total[i])
    for k in range(len(lens.features)):
        m0, x0 = mean[lens.features[k]], lens.values[k]
        for i in range(used):
            backward[i] += x0 * np.float32(m0[i])


@compiled
def _probability(z: np.float32, careless: np.float32) -> np.float32:
    """c/2 + (1 − c)Φ(z) to 3e-4: Abramowitz and Stegun 7.1.27, which needs no exponential and rises everywhere."""
    x = abs(z) * np.float32(0.70710678)
    t = np.float32(1.0) + x * (
        np.float32(0.278393) + x * (np.float32(0.230389) + x * (np.float32(0.000972) + x * np.float32(0.078108)))
    )
    t = t * t
    half = np.float32(0.5) - np.float32(0.5) / (t * t)
    signed = half if z > np.float32(0.0) else -half
    return np.float32(0.5) + (np.float32(1.0) - careless) * signed
