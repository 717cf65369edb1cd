"""Ranking metrics. Ties count as if broken at random: each metric is the exact expectation over their orders."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled
from kaczmatch.core.vectors import Vector

AUC: Final = 0
NDCG: Final = 1
PRECISION: Final = 2
HIT: Final = 3


@compiled
def auc(scores: Vector, likes: NDArray[np.bool_]) -> float:
    """The probability that a liked candidate scores above a passed one, ties halved; NaN where there is no like or no pass."""
    liked, passed = np.sort(scores[likes]), np.sort(scores[~likes])
    if len(liked) == 0 or len(passed) == 0:
        return np.nan
    below = level = 0  # passed candidates strictly below, and up to, the liked one at hand
    total = 0.0
    for score in liked:
        while below < len(passed) and passed[below] < score:
            below += 1
        while level < len(passed) and passed[level] <= score:
            level += 1
        total += 0.5 * (below + level)
    return total / (len(liked) * len(passed))


@compiled
def ndcg(scores: Vector, likes: NDArray[np.bool_], k: int) -> float:
    """NDCG@k: the discounted gain of the first k over the best possible; NaN where nothing is liked."""
    liked = int(np.count_nonzero(likes))
    if liked == 0:
        return np.nan
    ideal = 0.0
    for place in range(min(k, liked)):
        ideal += 1.0 / math.log2(place + 2.0)
    order = np.argsort(-scores)
    gain = 0.0
    first = 0
    while first < min(k, len(order)):
        last, hits = _tied(scores, likes, order, first)
        for place in range(first, min(k, last)):
            gain += hits / (last - first) / math.log2(place + 2.0)
        first = last
    return gain / ideal


@compiled
def precision(scores: Vector, likes: NDArray[np.bool_], k: int) -> float:
    """Precision@k: the share of likes among the first k, or among all where there are fewer."""
    order = np.argsort(-scores)
    size = min(k, len(order))
    found = 0.0
    first = 0
    while first < size:
        last, hits = _tied(scores, likes, order, first)
        found += hits * (min(size, last) - first) / (last - first)
        first = last
    return found / size if size else np.nan


@compiled
def hit_rate(scores: Vector, likes: NDArray[np.bool_], k: int) -> float:
    """Hit rate@k: the probability that at least one of the first k is liked."""
    order = np.argsort(-scores)
    size = min(k, len(order))
    none = 1.0
    first = 0
    while first < size:
        last, hits = _tied(scores, likes, order, first)
        # Drawing without replacement from the tied ones: none of the draws is a hit.
        for draw in range(min(size, last) - first):
            none *= max(0.0, 1.0 - hits / (last - first - draw))
        first = last
    return 1.0 - none if size else np.nan


@compiled
def _tied(scores: Vector, likes: NDArray[np.bool_], order: NDArray[np.int64], first: int) -> tuple[int, int]:
    """Where the tie that begins at place `first` ends, and how many likes are in it."""
    last = first
    hits = 0
    while last < len(order) and scores[order[last]] == scores[order[first]]:
        hits += likes[order[last]]
        last += 1
    return last, hits


@compiled
def judged(scores: Vector, likes: NDArray[np.bool_], bounds: NDArray[np.int64], measure: int, k: int) -> Vector:
    """A measure of each group of rows, from one of the bounds to the next; NaN where AUC or NDCG have no like, or no pass."""
    found = np.full(len(bounds) - 1, np.nan)
    for group in range(len(bounds) - 1):
        part = slice(bounds[group], bounds[group + 1])
        liked = np.count_nonzero(likes[part])
        if measure == PRECISION:
            found[group] = precision(scores[part], likes[part], k)
        elif measure == HIT:
            found[group] = hit_rate(scores[part], likes[part], k)
        elif 0 < liked < bounds[group + 1] - bounds[group]:
            found[group] = auc(scores[part], likes[part]) if measure == AUC else ndcg(scores[part], likes[part], k)
    return found
