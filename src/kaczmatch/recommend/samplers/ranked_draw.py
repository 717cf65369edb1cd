"""Choosing the first of a ranking: one that is certain, or one of many that were equally likely."""

from __future__ import annotations

import numpy as np

from kaczmatch.core.vectors import Vector
from kaczmatch.recommend.samplers.contract import Chances, Draw, Floats, Rows, in_order


def ranked(order: Rows, size: int) -> Draw:
    """The first rows of an order that leaves nothing to chance."""

    def beside(taken: Rows) -> Chances:
        def chances(n: int) -> Vector:
            certain = np.zeros(len(order))
            certain[_first(order, n, taken)] = 1.0
            return certain

        return chances

    return Draw(order[:size], beside)


def one_of_many(scores: Floats, size: int, rng: np.random.Generator) -> Draw:
    """The best by the first row of scores; the other rows are what chance could have made of it as well.

    A candidate's probability is the share of rows, the first among them, that put it into the first n. Counting the first one
    too makes the inverse probability of what was shown unbiased: E[M/(1 + Binomial(M − 1, p))] = (1 − (1 − p)ᴹ)/p.
    """
    order = in_order(scores[0], rng)

    def beside(taken: Rows) -> Chances:
        others = np.delete(scores, taken, axis=1) if len(taken) else scores
        candidates = others.shape[1]
        first = min(size, candidates)
        limits: list[Floats] = []  # of each row the best `first` scores, the best last; once they are asked for

        def chances(n: int) -> Vector:
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
            within = scores >= limit[:, None]
            within[0] = False
            within[0, _first(order, n, taken)] = True
            return np.asarray(within.mean(axis=0))

        return chances

    return Draw(order[:size], beside)


def _first(order: Rows, n: int, taken: Rows) -> Rows:
    """Who comes before the place of the n-th who is not taken, and that one."""
    if n == 0 or not len(taken):
        return order[:n]
    free = np.flatnonzero(~np.isin(order, taken))
    return order[: free[n - 1] + 1] if n <= len(free) else order
