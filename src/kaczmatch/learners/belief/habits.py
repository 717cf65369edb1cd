"""How somebody swipes, whatever their taste: how carelessly, how often with a like, and whether the taste seems to have changed.

A careless swipe is a coin toss; c is their share, so that ε = c/2 of all swipes say the opposite. With Φ the belief's
probability of the answer, its likelihood (c/2) + (1 − c)Φ is linear in c: a beta distribution over c becomes a mixture of
two, and the beta distribution of the same mean and variance stands for it, as the normal one does for the taste. Where Φ = ½
the answer says nothing about c, and nothing changes.

The CUSUM S ← max(0, S + log(r/p)) sums how much better the user's recent share of likes, r, would have foreseen the answers
than the belief, p. Where p is right, S reaches h at most once in e^h swipes on average (Lorden 1971).
"""

from __future__ import annotations

import math

import numpy as np

from kaczmatch.core.compiled import compiled
from kaczmatch.core.vectors import Vector

# The last cells of a belief state: share of careless swipes, how many swipes that is worth, recent share of likes, CUSUM.
HABITS = 4
_GAIN = 0.02  # the recent share of likes is over some fifty swipes


def at_first(epsilon: float, swipes: float) -> Vector:
    """Of somebody who has not swiped yet."""
    return np.array([2.0 * epsilon, swipes, 0.5, 0.0])


def after(habits: Vector, y: float, mass: float) -> Vector:
    """After an answer to which the belief gave the probability `mass`: the readable rule."""
    careless, weight, rate, surprise = habits
    likely = 0.5 * careless + (1.0 - careless) * mass
    surprise = max(0.0, surprise + math.log((rate if y > 0 else 1.0 - rate) / likely))
    rate += _GAIN * ((y > 0) - rate)
    if math.isinf(weight):
        return np.array([careless, weight, rate, surprise])
    tossed = 0.5 * careless / likely  # probability that this answer was a coin toss
    a = careless * weight
    mean = (a + tossed) / (weight + 1.0)
    square = (a + 1.0) * (a + 2.0 * tossed) / ((weight + 1.0) * (weight + 2.0))
    return np.array([mean, mean * (1.0 - mean) / (square - mean**2) - 1.0, rate, surprise])


@compiled
def note(habits: Vector, label: float, mass: float) -> None:
    """`after` for kernels, in place."""
    careless, weight, rate = habits[0], habits[1], habits[2]
    likely = 0.5 * careless + (1.0 - careless) * mass
    habits[3] = max(0.0, habits[3] + math.log((rate if label > 0.0 else 1.0 - rate) / likely))
    habits[2] = rate + _GAIN * ((1.0 if label > 0.0 else 0.0) - rate)
    if weight < math.inf:
        tossed = 0.5 * careless / likely
        a = careless * weight
        mean = (a + tossed) / (weight + 1.0)
        square = (a + 1.0) * (a + 2.0 * tossed) / ((weight + 1.0) * (weight + 2.0))
        habits[0] = mean
        habits[1] = mean * (1.0 - mean) / (square - mean * mean) - 1.0
