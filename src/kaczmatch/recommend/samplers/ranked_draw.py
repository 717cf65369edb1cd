"""Draws of the first rows of a ranking: a certain ranking, or one of many that were equally likely."""

from __future__ import annotations

import numpy as np

from kaczmatch.core.compiled import compiled_short
from kaczmatch.core.vectors import Vector
from kaczmatch.recommend.samplers.contract import Draw, FloatArray, InclusionProbabilities, RowIndices, descending


def draw_ranked(order: RowIndices, size: int) -> Draw:
    """The first rows of a deterministic order: every inclusion probability is 0 or 1."""

    def conditional(taken: RowIndices) -> InclusionProbabilities:
        def inclusion(n: int) -> Vector:
            certain = np.zeros(len(order))
            certain[_first(order, n, taken)] = 1.0
            return certain

        return inclusion

    return Draw(order[:size], conditional)


def draw_by_samples(scores: FloatArray, size: int, rng: np.random.Generator) -> Draw:
    """The best by the first row of scores. The other rows are equally likely alternatives to it.

    A candidate's inclusion probability is the share of rows, the first included, that put it into the first n. Including the
    first row makes the inverse probability of what was shown unbiased: E[M/(1 + Binomial(M − 1, p))] = (1 − (1 − p)ᴹ)/p.
    """
    order = descending(scores[0], rng)

    def conditional(taken: RowIndices) -> InclusionProbabilities:
        others = np.delete(scores, taken, axis=1) if len(taken) else scores
        candidates = others.shape[1]
        first = min(size, candidates)
        limits: list[FloatArray] = []  # of each row the best `first` scores, the best last; once they are asked for

        def inclusion(n: int) -> Vector:
            if n >= candidates:
                return np.ones(len(order))
            if n == 0:
                return np.zeros(len(order))
            if n > first:
                limit = np.partition(others, candidates - n, axis=1)[:, candidates - n]
            else:
                if not limits:
                    limits.append(np.sort(np.partition(others, candidates - first, axis=1)[:, candidates - first :], axis=1))
                limit = limits[0][:, first - n]
            # A column of one is contiguous, others are not: without this, a request would compile the kernel for the rarer kind.
            return _shares(scores, np.ascontiguousarray(limit), _first(order, n, taken))

        return inclusion

    return Draw(order[:size], conditional)


def _first(order: RowIndices, n: int, taken: RowIndices) -> RowIndices:
    """The rows up to and including the n-th that is not taken."""
    if n == 0 or not len(taken):
        return order[:n]
    free = np.flatnonzero(~np.isin(order, taken))
    return order[: free[n - 1] + 1] if n <= len(free) else order


@compiled_short
def _shares(scores: FloatArray, limit: FloatArray, shown: RowIndices) -> Vector:
    """Of each column the share of rows in which it reaches the row's limit. In the first row, `shown` do."""
    share = np.zeros(scores.shape[1])
    share[shown] = 1.0
    for i in range(1, scores.shape[0]):
        for j in range(scores.shape[1]):
            share[j] += scores[i, j] >= limit[i]
    share /= scores.shape[0]
    return share
