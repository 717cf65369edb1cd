"""Choosing the first of a ranking: one that is certain, or one of many that were equally likely."""

from __future__ import annotations

import numpy as np

from kaczmatch.core.vectors import Vector
from kaczmatch.recommend.samplers.contract import Draw, Floats, Rows, in_order


def ranked(order: Rows, size: int) -> Draw:
    """The first rows of an order that leaves nothing to chance."""

    def chances(n: int) -> Vector:
        certain = np.zeros(len(order))
        certain[order[:n]] = 1.0
        return certain

    return Draw(order[:size], chances)


def one_of_many(scores: Floats, size: int, rng: np.random.Generator) -> Draw:
    """The best by the first row of scores; the other rows are what chance could have made of it as well.

    A candidate's probability is the share of rows, the first among them, that put it into the first n. Counting the first one
    too makes the inverse probability of what was shown unbiased: E[M/(1 + Binomial(M − 1, p))] = (1 − (1 − p)ᴹ)/p.
    """
    order = in_order(scores[0], rng)
    candidates = len(order)
    first = min(size, candidates)
    limits: list[Floats] = []  # of each row the best `first` scores, the best last; once they are asked for

    def chances(n: int) -> Vector:
        if n >= candidates:
            return np.ones(candidates)
        if n == 0:
            return np.zeros(candidates)
        if n > first:
            limit = np.partition(scores, candidates - n, axis=1)[:, candidates - n]
        else:
            if not limits:
                limits.append(np.sort(np.partition(scores, candidates - first, axis=1)[:, candidates - first :], axis=1))
            limit = limits[0][:, first - n]
        within = scores >= limit[:, None]
        within[0] = False
        within[0, order[:n]] = True
        return np.asarray(within.mean(axis=0))

    return Draw(order[:size], chances)
