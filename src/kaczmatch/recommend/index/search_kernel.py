"""The compiled pass: filters, scores both ways and keeps the best, one chunk at a time, all of it in the nearest cache.

float32 and an eight-bit image of what each person likes, the viewer too: this finds a shortlist, and the shortlist is scored
exactly afterwards. The filters are exact here. Every loop but one is without branches, so that it runs at full width: scoring
a row costs less than finding out whether it is worth scoring.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.bits import next_turn, popcount
from kaczmatch.core.compiled import compiled
from kaczmatch.recommend.index.columns import CHUNK, IndexColumns
from kaczmatch.recommend.index.filtering import Kinds, Places, Query, Used, admitted
from kaczmatch.recommend.index.membership import Bits, marked

PRODUCT, HARMONIC, MINIMUM, FORWARD = 0, 1, 2, 3
_LAST = np.float32(4.0)  # less for who comes last: more than scores differ by

Floats = NDArray[np.float32]


class ViewerWeights(NamedTuple):
    """How a viewer is scored both ways, own side first, over the spread of a typical score.

    Probabilities are c/2 + (1 − c)Φ(score), c the share of careless swipes; where the learner has none, scores are cosines.
    """

    planes: NDArray[np.uint64]  # words of tags x 8: the bits of what each tag is worth to the viewer in eight bits, lowest first,
    unit: np.float32  # in units of this
    weights: Floats  # what each feature is worth
    offset: np.float32
    pull: np.float32
    tags: NDArray[np.int64]  # the coordinates of the viewer's own tags,
    tag: np.float32  # what each of them is in the viewer's unit vector,
    features: NDArray[np.int64]  # and the coordinates of the viewer's features,
    values: Floats  # with what they are there
    appeal: np.float32
    careless: np.float32
    probabilities: bool
    fusion: int


@compiled
def best(
    c: IndexColumns,
    chunks: Places,
    kinds: Kinds,
    used: Used,
    q: Query,
    lens: ViewerWeights,
    want: int,
    last: Bits,
    turns: Places,
    counts: NDArray[np.int32],
) -> tuple[Floats, Places]:
    """The scores and ranks of about the best `want`, and into `counts` how many pass in each chunk.

    A rank is the place in the order of `chunks`, which decides between equal scores. Several threads may work on the same
    `turns`, each on the chunks that it comes to first; the best of all that they find are the same however they share. Whoever
    is marked in `last` comes after everybody else.
    """
    flags, backward, score = np.zeros(CHUNK, np.uint8), np.ones(CHUNK, np.float32), np.empty(CHUNK, np.float32)
    eights = flags.view(np.uint64)
    room = 4 * want + CHUNK
    kept, ranks = np.empty(room, np.float32), np.empty(room, np.int64)
    n, limit = 0, np.float32(-np.inf)
    k = next_turn(turns)
    while k < len(chunks):
        chunk, rows = chunks[k], used[chunks[k]]
        admitted(c, chunk, kinds[chunk], rows, q, flags)
        count = 0
        for i in range(rows):
            count += flags[i]
        counts[k] = count
        _forward(c, chunk, rows, lens, score)
        if lens.fusion != FORWARD:
            _backward(c, chunk, rows, lens, backward)
            _fuse(lens.fusion, rows, score, backward)
        for i in range(rows):
            flags[i] &= score[i] > limit
        for eight in range((rows + 7) // 8):
            if eights[eight] == 0:  # nearly always, once the limit is up
                continue
            for i in range(8 * eight, min(8 * eight + 8, rows)):
                if flags[i]:
                    value = score[i] - _LAST if marked(last, c.who[chunk, i]) else score[i]
                    if value > limit:
                        kept[n], ranks[n] = value, k * CHUNK + i
                        n += 1
        if n > 4 * want:
            n, limit = _cut(kept, ranks, n, want)
        k = next_turn(turns)
    if n > want:
        n, limit = _cut(kept, ranks, n, want)
    return kept[:n], ranks[:n]


@compiled
def first(scores: Floats, ranks: Places, chunks: Places, who: NDArray[np.int32], want: int) -> NDArray[np.int32]:
    """The numbers of the best `want` of all that was found, the best first, equal ones by rank."""
    by_rank = np.argsort(ranks)
    order = by_rank[np.argsort(-scores[by_rank], kind="mergesort")]
    numbers = np.empty(min(want, len(order)), np.int32)
    for j in range(len(numbers)):
        rank = ranks[order[j]]
        numbers[j] = who[chunks[rank // CHUNK], rank % CHUNK]
    return numbers


@compiled
def _cut(kept: Floats, ranks: Places, n: int, want: int) -> tuple[int, np.float32]:
    """Keep `want`: all that exceed the score of the last of them, and of those who reach it the first; and that score."""
    limit = np.partition(kept[:n], n - want)[n - want]
    above = 0
    for j in range(n):
        above += kept[j] > limit
    m, equal = 0, want - above
    for j in range(n):
        if kept[j] > limit or (kept[j] == limit and equal > 0):
            equal -= kept[j] == limit
            kept[m], ranks[m] = kept[j], ranks[j]
            m += 1
    return m, limit


@compiled
def _fuse(fusion: int, used: int, forward: Floats, backward: Floats) -> None:
    """Both sides as one, into `forward`, in an order that is the fusion's (the geometric mean's is the product's)."""
    if fusion == PRODUCT:
        for i in range(used):
            forward[i] *= backward[i]
    elif fusion == HARMONIC:
        for i in range(used):
            forward[i] *= backward[i] / max(forward[i] + backward[i], np.float32(1e-30))
    else:
        for i in range(used):
            forward[i] = min(forward[i], backward[i])


@compiled
def _backward(c: IndexColumns, chunk: int, used: int, lens: ViewerWeights, backward: Floats) -> None:
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
def _forward(c: IndexColumns, chunk: int, used: int, lens: ViewerWeights, forward: Floats) -> None:
    """How the viewer takes to every row: a probability, or a cosine clamped at 0."""
    tags, features, norm, appeal = c.tags[chunk], c.features[chunk], c.inverse_norm[chunk], c.appeal[chunk]
    for i in range(used):
        forward[i] = np.float32(0.0)
    for w in range(tags.shape[0]):
        _add_worth(tags[w], lens.planes[w], lens.unit, used, forward)
    for k in range(features.shape[0]):
        column, weight = features[k], lens.weights[k]
        for i in range(used):
            forward[i] += weight * column[i]
    if not lens.probabilities:
        for i in range(used):
            forward[i] = max(forward[i] * norm[i], np.float32(0.0))
    elif lens.pull == np.float32(0.0):
        for i in range(used):
            forward[i] = _probability(forward[i] * norm[i] + lens.offset, lens.careless)
    else:
        for i in range(used):
            forward[i] = _probability(forward[i] * norm[i] + lens.offset + lens.pull * appeal[i], lens.careless)


@compiled
def _add_worth(words: NDArray[np.uint64], planes: NDArray[np.uint64], unit: np.float32, used: int, forward: Floats) -> None:
    """What the 64 tags of each word add up to: the tags with bit b of their worth set are counted at once, 2ᵇ each.

    The highest bit of a signed number counts negative.
    """
    p0, p1, p2, p3, p4, p5, p6, p7 = planes[0], planes[1], planes[2], planes[3], planes[4], planes[5], planes[6], planes[7]
    two = np.int64(2)
    for i in range(used):
        word = words[i]
        a = np.int64(popcount(word & p0)) + two * np.int64(popcount(word & p1))
        b = np.int64(popcount(word & p2)) + two * np.int64(popcount(word & p3))
        c = np.int64(popcount(word & p4)) + two * np.int64(popcount(word & p5))
        d = np.int64(popcount(word & p6)) - two * np.int64(popcount(word & p7))
        forward[i] += unit * np.float32(np.int32(a + np.int64(4) * b + np.int64(16) * c + np.int64(64) * d))


@compiled
def _liked_back(mean: NDArray[np.int8], lens: ViewerWeights, used: int, backward: Floats) -> None:
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
