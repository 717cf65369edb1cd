"""How a user swipes, whatever the taste: label noise, recent share of likes, and whether the taste seems to have changed.

A random swipe is a coin toss. c is the share of random swipes, so the label noise is ε = c/2. With Φ the belief's probability of
the answer, the likelihood of the answer is c/2 + (1 − c)Φ, which is linear in c. A beta distribution over c therefore becomes a
mixture of two. The beta distribution of the same mean and variance replaces it, as the normal one does for the taste. Where
Φ = ½ the answer says nothing about c, and nothing changes.

The CUSUM S ← max(0, S + log(r/p)) sums how much better the user's recent share of likes, r, would have predicted the answers
than the belief, p. Where p is right, S reaches h at most once in e^h swipes on average (Lorden 1971).
"""

from __future__ import annotations

import math

import numpy as np

from kaczmatch.core.compiled import compiled
from kaczmatch.core.vectors import Vector

# The last cells of a belief state: share of random swipes c, the number of swipes that this estimate is worth, recent share of
# likes, CUSUM.
BEHAVIOUR_CELLS = 4
_LIKE_RATE_GAIN = 0.02  # the recent share of likes covers about fifty swipes


def initial_behaviour(label_noise: float, swipes: float) -> Vector:
    """Of a user who has not swiped yet."""
    return np.array([2.0 * label_noise, swipes, 0.5, 0.0])


def updated_behaviour(behaviour: Vector, y: float, mass: float) -> Vector:
    """After an answer to which the belief gave the probability `mass`, in plain numpy."""
    random_share, weight, rate, surprise = behaviour
    p = 0.5 * random_share + (1.0 - random_share) * mass
    surprise = max(0.0, surprise + math.log((rate if y > 0 else 1.0 - rate) / p))
    rate += _LIKE_RATE_GAIN * ((y > 0) - rate)
    if math.isinf(weight):
        return np.array([random_share, weight, rate, surprise])
    random = 0.5 * random_share / p  # probability that this answer was a coin toss
    a = random_share * weight
    mean = (a + random) / (weight + 1.0)
    square = (a + 1.0) * (a + 2.0 * random) / ((weight + 1.0) * (weight + 2.0))
    return np.array([mean, mean * (1.0 - mean) / (square - mean**2) - 1.0, rate, surprise])


@compiled
def update_behaviour(behaviour: Vector, label: float, mass: float) -> None:
    """`updated_behaviour` for kernels, in place."""
    random_share, weight, rate = behaviour[0], behaviour[1], behaviour[2]
    p = 0.5 * random_share + (1.0 - random_share) * mass
    behaviour[3] = max(0.0, behaviour[3] + math.log((rate if label > 0.0 else 1.0 - rate) / p))
    behaviour[2] = rate + _LIKE_RATE_GAIN * ((1.0 if label > 0.0 else 0.0) - rate)
    if weight < math.inf:
        random = 0.5 * random_share / p
        a = random_share * weight
        mean = (a + random) / (weight + 1.0)
        square = (a + 1.0) * (a + 2.0 * random) / ((weight + 1.0) * (weight + 2.0))
        behaviour[0] = mean
        behaviour[1] = mean * (1.0 - mean) / (square - mean * mean) - 1.0
