"""Kernels of the normal belief (`gaussian.py` has the model).

A candidate's coordinates are φ = (a/‖a‖, 1, directions, traits). What others said of a candidate is one row: values of the
directions, values of the traits, and the variances S of these.

The covariance P is kept in two blocks. The first `alone` coordinates have only variances, the rest has the whole matrix. Swipes
determine the sum of tags and threshold long before they determine each, and independent variances would forget that after every
swipe and chase the share of likes. So what is kept as independent of the first t tags is not the threshold b, but b + s Σ w over
them. With φ' = φ, but s less at those tags, the variance of a score is φ'ᵀPφ'.

Working cells: mean, variances, the rest in padded rows, `LAYOUT`, behaviour. Stored cells have the lower triangle of the rest,
and of the layout only what a learner's parameters do not say.

Behaviour is how a user swipes, whatever the taste. A random swipe is a coin toss. c is the share of random swipes, so the label
noise is ε = c/2. With Φ the belief's probability of the answer, the likelihood of the answer is c/2 + (1 − c)Φ, which is linear
in c. A beta distribution over c therefore becomes a mixture of two. The beta distribution of the same mean and variance replaces
it, as the normal one does for the taste. Where Φ = ½ the answer says nothing about c, and nothing changes. The CUSUM
S ← max(0, S + log(r/p)) sums how much better the user's recent share of likes, r, would have predicted the answers than the
belief, p. Where p is right, S reaches h at most once in e^h swipes on average (Lorden 1971).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import add_scaled, compiled, compiled_short, dot, usable_norm
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.kernels import (
    BAD_FEATURES,
    DONE,
    TASTE_CHANGED,
    forget_kernel,
    predict_kernel,
    predict_rows_kernel,
    swipe_kernel,
)
from kaczmatch.learners.prior import PAPER_COSINE
from kaczmatch.learners.state import row_of

# The last cells: share of random swipes c, the number of swipes that this estimate is worth, recent share of likes, CUSUM.
BEHAVIOUR = 4
_LIKE_RATE_GAIN = 0.02  # the recent share of likes covers about fifty swipes
# Working cells before them: the size of the belief, the slope s, and the number of tags t that the threshold goes with.
LAYOUT = 3

# Parameters. Of the layout a state stores nothing (0), t (1), or everything (3).
ALPHA, ALARM, TRAITS, DIRECTIONS, UNKNOWN_VARIANCE, ALONE, STORED_LAYOUT = range(7)
NONE_ALONE, TAGS_ALONE, ALL_ALONE = range(3)


@compiled
def answer_likelihood(z: float, random_share: float) -> tuple[float, float]:
    """Φ(z) of an answer with margin z, and g: the derivative of the log of its likelihood c/2 + (1 − c)Φ."""
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    mass = 0.5 * math.erfc(-z / math.sqrt(2.0))
    return mass, (1.0 - random_share) * density / (0.5 * random_share + (1.0 - random_share) * mass)


@compiled
def like_probability(score: float, variance: float, random_share: float) -> float:
    """From φ·m, its variance with the noise of a decision, and c."""
    return 0.5 * random_share + (1.0 - random_share) * 0.5 * math.erfc(-score / math.sqrt(2.0 * variance))


@compiled
def update_behaviour(behaviour: Vector, label: float, mass: float) -> None:
    """After an answer to which the belief gave the probability `mass`."""
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


@compiled
def coordinates(features: Vector, others: Vector, parameters: Vector) -> Vector:
    """φ; empty where the features cannot be used. Where nothing is known of a candidate, directions and traits are 0."""
    d, squared = features.shape[0], dot(features, features)
    if not usable_norm(squared):
        return np.empty(0)
    many = int(parameters[DIRECTIONS] + parameters[TRAITS])
    x = np.empty(d + 1 + many)
    scale = 1.0 / math.sqrt(squared) if squared > 0.0 else 0.0
    for i in range(d):
        x[i] = features[i] * scale
    x[d] = 1.0
    known = others.shape[0] == many + int(parameters[TRAITS])
    for k in range(many):
        x[d + 1 + k] = others[k] if known else 0.0
    return x


@compiled
def coordinate_rows(features: Matrix, others: Matrix, parameters: Vector) -> tuple[Matrix, bool]:
    """φ of each row, and whether all rows can be used."""
    x = np.zeros((len(features), features.shape[1] + 1 + int(parameters[DIRECTIONS] + parameters[TRAITS])))
    usable = True
    for j in range(len(features)):
        one = coordinates(features[j], others[j], parameters)
        if len(one):
            x[j] = one
        else:
            usable = False
    return x, usable


@compiled
def doubt(others: Vector, k: int, parameters: Vector) -> float:
    """S of the k-th trait."""
    many = int(parameters[DIRECTIONS] + parameters[TRAITS])
    return float(others[many + k] if others.shape[0] == many + int(parameters[TRAITS]) else parameters[UNKNOWN_VARIANCE])


@compiled
def _alone(n: int, parameters: Vector) -> int:
    """How many of n coordinates have only variances."""
    if parameters[ALONE] == TAGS_ALONE:
        return n - 1 - int(parameters[DIRECTIONS] + parameters[TRAITS])
    return n if parameters[ALONE] == ALL_ALONE else 0


@compiled
def _padded(n: int) -> int:
    """The length of a row of the rest: a multiple of a vector register, so that no remainder is left to scalar code."""
    return (n + 3) // 4 * 4


@compiled
def rest_of(work: Vector, n: int, alone: int) -> Matrix:
    """The rest of P, in padded rows."""
    size = n - alone
    return work[n + alone : work.shape[0] - LAYOUT - BEHAVIOUR].reshape(size, _padded(size))


@compiled
def trait_variance(work: Vector, n: int, i: int, parameters: Vector) -> float:
    """Of the weight of a trait, the i-th coordinate."""
    alone = _alone(n, parameters)
    return float(work[n + i]) if i < alone else float(rest_of(work, n, alone)[i - alone, i - alone])


@compiled
def _times(p: Matrix, x: Vector) -> Vector:
    """Px, four of its rows at a time."""
    n, length = p.shape
    present = np.empty(n, np.int64)  # without branches: the processor cannot predict which tags a candidate has
    count = 0
    for i in range(n):
        present[count] = i
        count += x[i] != 0.0
    px = np.zeros(length)
    whole = count - count % 4
    for c in range(0, whole, 4):
        i0, i1, i2, i3 = present[c], present[c + 1], present[c + 2], present[c + 3]
        x0, x1, x2, x3 = x[i0], x[i1], x[i2], x[i3]
        p0, p1, p2, p3 = p[i0], p[i1], p[i2], p[i3]
        for j in range(length):
            px[j] += (x0 * p0[j] + x1 * p1[j]) + (x2 * p2[j] + x3 * p3[j])
    for c in range(whole, count):
        add_scaled(px, x[present[c]], p[present[c]])
    return px


@compiled
def score_moments(work: Vector, x: Vector, others: Vector, parameters: Vector) -> tuple[float, float, Vector]:
    """φ·m, its variance with the doubts, and Pφ' (with what pads its rows)."""
    n = x.shape[0]
    alone = _alone(n, parameters)
    slope, first = work[-BEHAVIOUR - 2], int(work[-BEHAVIOUR - 1])
    px, variance = np.empty(alone + _padded(n - alone)), 0.0
    for i in range(alone):
        apart = x[i] - slope if i < first else x[i]
        px[i] = work[n + i] * apart
        variance += apart * px[i]
    if alone < n:
        px[alone:] = _times(rest_of(work, n, alone), x[alone:])
        variance += dot(x[alone:], px[alone:n])
    traits = int(parameters[TRAITS])
    for k in range(traits):
        i = n - traits + k
        variance += doubt(others, k, parameters) * (work[i] * work[i] + trait_variance(work, n, i, parameters))
    return dot(x, work[:n]), variance, px


@swipe_kernel
def swipe(work: Vector, features: Vector, said: Vector, label: float, parameters: Vector) -> int:
    x = coordinates(features, said, parameters)
    n = x.shape[0]
    if n == 0:
        return BAD_FEATURES
    score, variance, px = score_moments(work, x, said, parameters)
    behaviour, q = work[-BEHAVIOUR:], variance + parameters[ALPHA]
    z = label * score / math.sqrt(q)
    mass, g = answer_likelihood(z, behaviour[0])
    update_behaviour(behaviour, label, mass)
    step, shrink = label * g / math.sqrt(q), g * (g + z) / q
    alone, slope, first = _alone(n, parameters), work[-BEHAVIOUR - 2], int(work[-BEHAVIOUR - 1])
    add_scaled(work[:n], step, px)
    moved = 0.0
    for i in range(alone):
        work[n + i] -= shrink * px[i] * px[i]
        moved += px[i] if i < first else 0.0
    work[features.shape[0]] -= step * slope * moved
    if alone < n:
        rest, across = rest_of(work, n, alone), px[alone:]
        for i in range(rest.shape[0]):
            for j in range(rest.shape[1]):
                rest[i, j] -= (across[i] * across[j]) * shrink  # the product first: the same bits on both sides of the diagonal
    return TASTE_CHANGED if behaviour[3] >= parameters[ALARM] else DONE


@predict_kernel
def predict(work: Vector, features: Vector, said: Vector, parameters: Vector) -> float:
    x = coordinates(features, said, parameters)
    if x.shape[0] == 0:
        return math.nan
    score, variance, _ = score_moments(work, x, said, parameters)
    return like_probability(score, variance + parameters[ALPHA], work[-BEHAVIOUR])


@predict_rows_kernel
def predict_rows(work: Vector, features: Matrix, said: Matrix, parameters: Vector) -> Vector:
    """`predict` for many candidates."""
    found = np.empty(len(features))
    for i in range(len(features)):
        found[i] = predict(work, features[i], said[i], parameters)
    return found


@forget_kernel
def forget(work: Vector, start: Vector, keep: float) -> int:
    """m ← m₀ + λ(m − m₀), the behaviour likewise, and P ← λ²P + (1 − λ²)P₀; λ = 1 changes no bit."""
    if keep == 1.0:
        return DONE
    n, behaviour = int(work[-BEHAVIOUR - LAYOUT]), work.shape[0] - BEHAVIOUR
    for i in range(n):
        work[i] = start[i] + keep * (work[i] - start[i])
    for i in range(n, behaviour - LAYOUT):
        if work[i] != start[i]:  # what pads rows stays 0
            work[i] = keep * keep * work[i] + (1.0 - keep * keep) * start[i]
    for i in range(behaviour, work.shape[0]):
        if work[i] != start[i]:  # an infinite weight stays
            work[i] = start[i] + keep * (work[i] - start[i])
    return DONE


# Stored cells


@compiled
def coupling(cells: Vector, parameters: Vector) -> tuple[float, int]:
    """The slope s of stored cells, and the number of tags t that it is about."""
    if parameters[STORED_LAYOUT] == 0.0:
        return 0.0, 0
    first = int(cells[-BEHAVIOUR - 1])
    if parameters[STORED_LAYOUT] == 1.0:
        return (PAPER_COSINE / math.sqrt(2.0 * first) if first > 0 else 0.0), first
    return float(cells[-BEHAVIOUR - 2]), first


@compiled
def expanded(cells: Vector, dimensions: int, parameters: Vector) -> Vector:
    """Working cells from stored ones."""
    n = dimensions + 1 + int(parameters[DIRECTIONS] + parameters[TRAITS])
    alone = _alone(n, parameters)
    size = n - alone
    work = np.zeros(n + alone + size * _padded(size) + LAYOUT + BEHAVIOUR)
    work[: n + alone] = cells[: n + alone]
    if size:
        rest, place = rest_of(work, n, alone), n + alone
        for i in range(size):
            for j in range(i + 1):
                rest[i, j] = rest[j, i] = cells[place + j]
            place += i + 1
    slope, first = coupling(cells, parameters)
    work[-BEHAVIOUR - LAYOUT], work[-BEHAVIOUR - 2], work[-BEHAVIOUR - 1] = n, slope, first
    work[-BEHAVIOUR:] = cells[-BEHAVIOUR:]
    return work


@compiled
def compacted(work: Vector, parameters: Vector) -> Vector:
    """Stored cells from working ones."""
    n, layout = int(work[-BEHAVIOUR - LAYOUT]), int(parameters[STORED_LAYOUT])
    alone = _alone(n, parameters)
    size = n - alone
    cells = np.empty(n + alone + size * (size + 1) // 2 + layout + BEHAVIOUR)
    cells[: n + alone] = work[: n + alone]
    if size:
        rest, place = rest_of(work, n, alone), n + alone
        for i in range(size):
            for j in range(i + 1):
                cells[place + j] = rest[i, j]
            place += i + 1
    cells[-BEHAVIOUR - layout :] = work[-BEHAVIOUR - layout :]
    return cells


@compiled
def mean_form(x: Matrix, others: Matrix, parameters: Vector) -> tuple[Vector, Vector, Vector]:
    """Averages over candidates: φ, what each stored cell of P counts in the variance of a score where s = 0, and doubts."""
    n, traits = x.shape[1], int(parameters[TRAITS])
    alone = _alone(n, parameters)
    size, share = n - alone, 1.0 / len(x)
    mean, counts, doubts = np.zeros(n), np.zeros(alone + size * (size + 1) // 2), np.zeros(traits)
    for one in range(len(x)):
        a = x[one]
        add_scaled(mean, share, a)
        for k in range(traits):
            doubts[k] += share * doubt(others[one], k, parameters)
        for i in range(alone):
            counts[i] += share * a[i] * a[i]
        place = alone
        for i in range(alone, n):
            for j in range(alone, i):
                counts[place + j - alone] += share * 2.0 * a[i] * a[j]
            counts[place + i - alone] += share * a[i] * a[i]
            place += i - alone + 1
    for k in range(traits):
        i = n - traits + k
        counts[i if i < alone else alone + (i - alone) * (i - alone + 3) // 2] += doubts[k]
    return mean, counts, doubts


@compiled_short
def moments_by_user(
    kept: Matrix, changed: Matrix, rows: NDArray[np.int32], mean: Vector, counts: Vector, doubts: Vector, parameters: Vector
) -> Matrix:
    """Of users whose stored cells are rows of `StateRows`: mean score, mean variance with the doubts and the noise, and c."""
    n, found = mean.shape[0], np.empty((3, len(rows)))
    form, known_slope, known_first, start = counts.copy(), 0.0, 0, -1
    alone = _alone(n, parameters)
    for u in range(len(rows)):
        if rows[u] == 0 and start >= 0:  # many are still at the start, which is the first row
            found[:, u] = found[:, start]
            continue
        cells = row_of(kept, changed, rows[u])
        slope, first = coupling(cells, parameters)
        if slope != known_slope or first != known_first:  # mostly all have the same prior
            known_slope, known_first = slope, first
            for i in range(alone):
                form[i] = counts[i] + (slope * (slope - 2.0 * mean[i]) if i < first else 0.0)
        variance = dot(form, cells[n : n + form.shape[0]]) + parameters[ALPHA]
        for k in range(doubts.shape[0]):
            weight = cells[n - doubts.shape[0] + k]
            variance += doubts[k] * weight * weight
        found[0, u], found[1, u], found[2, u] = dot(mean, cells[:n]), variance, cells[-BEHAVIOUR]
        start = u if rows[u] == 0 else start
    return found


@compiled
def lower_root(matrix: Matrix) -> Matrix:
    """The Cholesky factor. A variance that rounding made negative counts as none."""
    root = np.zeros(matrix.shape)
    for i in range(len(matrix)):
        for j in range(i + 1):
            left = matrix[i, j] - dot(root[i, :j], root[j, :j])
            if i == j:
                root[i, i] = math.sqrt(max(left, 0.0))
            elif root[j, j] > 0.0:
                root[i, j] = left / root[j, j]
    return root
