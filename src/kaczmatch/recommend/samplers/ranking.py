"""Choosing the first of a ranking: one that is certain, or one of many that were equally likely."""

from __future__ import annotations

import numpy as np

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.recommend.samplers.contract import Draw, Rows, in_order


def ranked(order: Rows, size: int) -> Draw:
    """The first rows of an order that leaves nothing to chance."""

    def chances(n: int) -> Vector:
        certain = np.zeros(len(order))
        certain[order[:n]] = 1.0
        return certain

    return Draw(order[:size], chances)


def one_of_many(scores: Matrix, size: int, rng: np.random.Generator) -> Draw:
    """The best rows by the first column; the other columns are what chance could have made of it as well.

    A row's probability is the share of columns, the first among them, that put it into the first n. Counting the first one too
    makes the inverse probability of what was shown unbiased: E[M/(1 + Binomial(M − 1, p))] = (1 − (1 − p)ᴹ)/p.
    """
    order = in_order(scores[:, 0], rng)

    def chances(n: int) -> Vector:
        if n >= len(scores):
            return np.ones(len(scores))
        if n == 0:
            return np.zeros(len(scores))
        limit = np.partition(scores, len(scores) - n, axis=0)[len(scores) - n]
        within = scores >= limit
        within[:, 0] = False
        within[order[:n], 0] = True
        return np.asarray(within.mean(axis=1))

    return Draw(order[:size], chances)
