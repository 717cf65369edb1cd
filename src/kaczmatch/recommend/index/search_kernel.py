"""The search kernel: filters, scores both ways and keeps the best, one chunk at a time, in the processor's cache.

Scores use float32 and compact states. They find a shortlist, which is scored exactly afterwards. The filters are exact. Every
loop but one has no branches and vectorises: scoring a row costs less than deciding whether it needs a score.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled, compiled_short
from kaczmatch.core.intrinsics import fetch_and_increment, popcount
from kaczmatch.core.vectors import Integers
from kaczmatch.recommend.index.columns import CHUNK, IndexColumns
from kaczmatch.recommend.index.filter_kernel import ByteMask, FilterQuery, Kinds, Used, looks_for, mask_passing
from kaczmatch.recommend.index.membership import Bits, bit_is_set

PRODUCT, HARMONIC, MINIMUM, FORWARD = 0, 1, 2, 3
_PENALTY = np.float32(4.0)  # for people who come last: more than scores can differ by

Float32s = NDArray[np.float32]


class ViewerWeights(NamedTuple):
    """What a search needs of a viewer, divided by the standard deviation of a typical score.

    Probabilities are c/2 + (1 − c)Φ(score), with c the share of random swipes. Without probabilities, scores are cosines.
    """

    bit_planes: NDArray[np.uint64]  # words of tags x 8: bit b of each tag's eight-bit weight, lowest first,
    tag_scale: np.float32  # in units of this
    feature_weights: Float32s  # weight per feature
    offset: np.float32
    said_weights: Float32s  # of what others said of a candidate
    own_tags: NDArray[np.int64]  # coordinates of the viewer's own tags,
    own_tag_value: np.float32  # value of each of them in the viewer's unit vector,
    own_features: NDArray[np.int64]  # coordinates of the viewer's own features,
    own_feature_values: Float32s  # and their values there
    said: Float32s  # by others of the viewer
    of_newcomers: np.float32  # the backward score of people who have learned nothing
    random_share: np.float32
    probabilities: bool
    fusion: int


@compiled
def search_chunks(
    c: IndexColumns,
    chunks: Integers,
    kinds: Kinds,
    used: Used,
    learned: Used,
    q: FilterQuery,
    viewer: ViewerWeights,
    want: int,
    last: Bits,
    excluded: Bits,
    turns: Integers,
    counts: NDArray[np.int32],
) -> tuple[Float32s, Integers]:
    """The scores and ranks of about the `want` best rows. Writes into `counts` how many rows pass in each chunk.

    A rank is the place in the order of `chunks`, which breaks ties. Several threads may share the same `turns`: each takes the
    next chunk that nobody has taken. The best of all their results do not depend on who took which. People in `last` come after
    everybody else. Those in `excluded` are counted only.
    """
    flags, backward, score = np.zeros(CHUNK, np.uint8), np.ones(CHUNK, np.float32), np.empty(CHUNK, np.float32)
    eights = flags.view(np.uint64)
    groups, found = np.empty(CHUNK // 8 + 1, np.int64), np.empty(CHUNK + 1, np.int64)
    room = 4 * want + CHUNK + 1
    kept, ranks = np.empty(room, np.float32), np.empty(room, np.int64)
    n, limit = 0, np.float32(-np.inf)
    k = fetch_and_increment(turns)
    while k < len(chunks):
        chunk, rows = chunks[k], used[chunks[k]]
        mask_passing(c, chunk, kinds[chunk], rows, q, flags)
        count = 0
        for i in range(rows):
            count += flags[i]
        counts[k] = count
        _forward(c, chunk, rows, viewer, score)
        if viewer.fusion != FORWARD:
            _backward(c, chunk, rows, learned[chunk], viewer, backward)
            _fuse(viewer.fusion, rows, score, backward)
        for i in range(rows):
            flags[i] &= score[i] > limit
        for j in range(_list_set(flags, rows, eights, groups, found)):
            person = c.person[chunk, found[j]]
            value = score[found[j]] - _PENALTY * np.float32(bit_is_set(last, person))
            kept[n], ranks[n] = value, k * CHUNK + found[j]
            n += (value > limit) & (not bit_is_set(excluded, person)) & looks_for(c, chunk, found[j], q)
        if n > 4 * want:
            n, limit = _keep_best(kept, ranks, n, want)
        k = fetch_and_increment(turns)
    if n > want:
        n, limit = _keep_best(kept, ranks, n, want)
    return kept[:n], ranks[:n]


@compiled
def _list_set(flags: ByteMask, rows: int, eights: NDArray[np.uint64], groups: Integers, found: Integers) -> int:
    """Write the rows with a set flag into `found`; how many. Few have one, and the processor cannot predict which."""
    many, count = 0, 0
    for eight in range((rows + 7) // 8):
        groups[many] = eight
        many += eights[eight] != np.uint64(0)
    for j in range(many):
        for i in range(8 * groups[j], min(8 * groups[j] + 8, rows)):
            found[count] = i
            count += flags[i]
    return count


@compiled_short
def best_numbers(scores: Float32s, ranks: Integers, chunks: Integers, person: NDArray[np.int32], want: int) -> NDArray[np.int32]:
    """The numbers of the `want` best rows of all threads, the best first, ties by rank."""
    by_rank = np.argsort(ranks)
    order = by_rank[np.argsort(-scores[by_rank], kind="mergesort")]
    numbers = np.empty(min(want, len(order)), np.int32)
    for j in range(len(numbers)):
        rank = ranks[order[j]]
        numbers[j] = person[chunks[rank // CHUNK], rank % CHUNK]
    return numbers


@compiled
def _keep_best(kept: Float32s, ranks: Integers, n: int, want: int) -> tuple[int, np.float32]:
    """Keep the `want` best rows in place, of equal scores the first. Returns how many are kept and the lowest score of them."""
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
def _fuse(fusion: int, used: int, forward: Float32s, backward: Float32s) -> None:
    """Write the fusion into `forward`, up to a monotone function (the geometric mean ranks like the product)."""
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
def _backward(c: IndexColumns, chunk: int, rows: int, learned: int, viewer: ViewerWeights, backward: Float32s) -> None:
    """The backward score of every row: a probability, or a cosine clamped at 0. Those who have learned nothing rate alike."""
    _score_backward(c, chunk, learned, viewer, backward)
    backward[learned:rows] = viewer.of_newcomers


@compiled
def _score_backward(c: IndexColumns, chunk: int, used: int, viewer: ViewerWeights, backward: Float32s) -> None:
    """Of the first rows of a chunk."""
    _add_backward(c.mean[chunk], viewer, used, backward)
    unit, offset, random_share = c.mean_scale[chunk], c.offset[chunk], c.random_share[chunk]
    if not viewer.probabilities:
        for i in range(used):
            backward[i] = max(backward[i] * unit[i], np.float32(0.0))
        return
    for i in range(used):
        backward[i] = backward[i] * unit[i] + offset[i]
    _add_said(c.said_weight[chunk], viewer.said, used, backward)
    for i in range(used):
        backward[i] = approximate_probability(backward[i], random_share[i])


@compiled
def _forward(c: IndexColumns, chunk: int, used: int, viewer: ViewerWeights, forward: Float32s) -> None:
    """The forward score of every row: a probability, or a cosine clamped at 0. A new user weighs nothing, and rates all alike."""
    forward[:used] = np.float32(0.0)
    weighed = _add_profiles(c, chunk, used, viewer, forward)
    if not viewer.probabilities:
        for i in range(used):
            forward[i] = max(forward[i], np.float32(0.0))
    elif weighed or viewer.said_weights.any():
        for i in range(used):
            forward[i] += viewer.offset
        _add_said(c.said[chunk], viewer.said_weights, used, forward)
        for i in range(used):
            forward[i] = approximate_probability(forward[i], viewer.random_share)
    else:
        forward[:used] = approximate_probability(viewer.offset, viewer.random_share)


@compiled
def _add_profiles(c: IndexColumns, chunk: int, used: int, viewer: ViewerWeights, forward: Float32s) -> bool:
    """Add the unit vector of every row times the viewer's weights, and tell whether any weight is not 0. What has none is not
    read."""
    tags, features, norm, weighed = c.tags[chunk], c.features[chunk], c.inverse_norm[chunk], False
    for w in range(tags.shape[0]):
        if viewer.bit_planes[w].any():
            _add_tag_weights(tags[w], viewer.bit_planes[w], viewer.tag_scale, used, forward)
            weighed = True
    for k in range(features.shape[0]):
        column, weight = features[k], viewer.feature_weights[k]
        if weight != np.float32(0.0):
            for i in range(used):
                forward[i] += weight * column[i]
            weighed = True
    if weighed:
        for i in range(used):
            forward[i] *= norm[i]
    return weighed


@compiled
def _add_said(columns: Float32s, values: Float32s, used: int, scores: Float32s) -> None:
    """Add what others said: of every row times the viewer's weights, or of the viewer times every row's weights."""
    for k in range(columns.shape[0]):
        column, value = columns[k], values[k]
        if value != np.float32(0.0):
            for i in range(used):
                scores[i] += value * column[i]


@compiled
def _add_tag_weights(
    words: NDArray[np.uint64], planes: NDArray[np.uint64], unit: np.float32, used: int, forward: Float32s
) -> None:
    """Add the weights of the 64 tags in each word. Tags whose weight has bit b set are counted together and add 2ᵇ each.

    The highest bit of a signed weight counts negative.
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
def _add_backward(mean: NDArray[np.int8], viewer: ViewerWeights, used: int, backward: Float32s) -> None:
    """The mean of every row times the viewer's profile, in units of each row's scale.

    The viewer's tags all have the same value, so means are summed as 16-bit integers, four tags at a time. 256 of them cannot
    overflow.
    """
    for i in range(used):
        backward[i] = np.float32(0.0)
    total = np.empty(CHUNK, np.int16)
    for begin in range(0, len(viewer.own_tags), 256):
        end = min(begin + 256, len(viewer.own_tags))
        whole = end - (end - begin) % 4
        for i in range(used):
            total[i] = 0
        for k in range(begin, whole, 4):
            m0, m1, m2, m3 = (
                mean[viewer.own_tags[k]],
                mean[viewer.own_tags[k + 1]],
                mean[viewer.own_tags[k + 2]],
                mean[viewer.own_tags[k + 3]],
            )
            for i in range(used):
                total[i] += np.int16(m0[i]) + np.int16(m1[i]) + np.int16(m2[i]) + np.int16(m3[i])
        for k in range(whole, end):
            m0 = mean[viewer.own_tags[k]]
            for i in range(used):
                total[i] += np.int16(m0[i])
        for i in range(used):
            backward[i] += viewer.own_tag_value * np.float32(total[i])
    for k in range(len(viewer.own_features)):
        m0, x0 = mean[viewer.own_features[k]], viewer.own_feature_values[k]
        for i in range(used):
            backward[i] += x0 * np.float32(m0[i])


@compiled
def approximate_probability(z: np.float32, random_share: np.float32) -> np.float32:
    """c/2 + (1 − c)Φ(z) to 3e-4: Abramowitz and Stegun 7.1.27, which needs no exponential and is monotone."""
    x = abs(z) * np.float32(0.70710678)
    t = np.float32(1.0) + x * (
        np.float32(0.278393) + x * (np.float32(0.230389) + x * (np.float32(0.000972) + x * np.float32(0.078108)))
    )
    t = t * t
    half = np.float32(0.5) - np.float32(0.5) / (t * t)
    signed = half if z > np.float32(0.0) else -half
    return np.float32(0.5) + (np.float32(1.0) - random_share) * signed
