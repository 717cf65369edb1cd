"""Every rule without uncertainty as its formula in plain numpy; `tests/contract/test_specification.py` compares the kernels."""

from __future__ import annotations

import math
from functools import singledispatch

import numpy as np
from scipy.special import expit

from kaczmatch import Learner, ShownCandidate
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.vectors import Matrix, Vector, cosine, unit
from kaczmatch.learners.rules.baselines import AllOnes, Logistic, PassiveAggressive, Pegasos, Rocchio
from kaczmatch.learners.rules.kaczmarz import (
    BlockLearner,
    BlockTikhonovKaczmarz,
    FixedRateLearner,
    HingeLearner,
    NormalisedKaczmarz,
    TikhonovKaczmarz,
)


@singledispatch
def swiped(learner: Learner, cells: Vector, seen: ShownCandidate, label: Label) -> Vector:
    """The cells after one swipe."""
    raise NotImplementedError(f"{learner.slug} has no formula here")


@swiped.register
def _(learner: AllOnes, cells: Vector, seen: ShownCandidate, label: Label) -> Vector:
    return cells


@swiped.register
def _(learner: Rocchio, cells: Vector, seen: ShownCandidate, label: Label) -> Vector:
    a = seen.features
    if not a.any():
        return cells
    _, start, likes, passes = cells[:-2].reshape(4, -1)
    liked, passed = cells[-2:]
    if sign(label) > 0:
        likes, liked = likes + a, liked + 1
    else:
        passes, passed = passes + a, passed + 1
    v = learner.prior_weight * start
    v = v + learner.like_weight * likes / max(liked, 1) - learner.pass_weight * passes / max(passed, 1)
    return np.concatenate([v, start, likes, passes, [liked, passed]])


@swiped.register
def _(learner: PassiveAggressive, cells: Vector, seen: ShownCandidate, label: Label) -> Vector:
    v, a, y = cells, seen.features, sign(label)
    return v + y * max(0.0, 1.0 - y * float(v @ a)) / (a @ a + 0.5 / learner.c) * a


@swiped.register
def _(learner: Pegasos, cells: Vector, seen: ShownCandidate, label: Label) -> Vector:
    v, t, a, y = cells[:-1], cells[-1] + 1, seen.features, sign(label)
    if not a.any():
        return cells
    step = y / (learner.regularisation * t) * a if y * (v @ a) < 1.0 else 0.0
    v = (1.0 - 1.0 / t) * v + step
    return np.append(v * min(1.0, 1.0 / math.sqrt(learner.regularisation) / max(float(np.linalg.norm(v)), 1e-300)), t)


@swiped.register
def _(learner: Logistic, cells: Vector, seen: ShownCandidate, label: Label) -> Vector:
    x, y = np.append(unit(seen.features), 1.0), sign(label)
    return cells + learner.eta * y * float(expit(-y * (cells @ x))) * x


def residual(v: Vector, a: Vector, label: Label, theta: float, delta: float) -> float:
    """The paper's eq. 6."""
    score = cosine(v, a)
    return max(0.0, (theta + delta) - score) if sign(label) > 0 else -max(0.0, score - (theta - delta))


def moved_theta(learner: HingeLearner, v: Vector, a: Vector, label: Label, theta: float) -> float:
    """Up where a pass scored above it, down where a like scored below."""
    return float(np.clip(theta + learner.hinge.theta_step * ((cosine(v, a) >= theta) - (sign(label) > 0)), -1.0, 1.0))


@swiped.register
def _(learner: HingeLearner, cells: Vector, seen: ShownCandidate, label: Label) -> Vector:
    v, a = cells[: len(seen.features)], seen.features
    if not a.any():
        return cells
    theta = learner.theta(cells, len(a))
    own = [moved_theta(learner, v, a, label, theta)] if learner.hinge.theta_step > 0.0 else []
    return np.append(stepped(learner, v, a, residual(v, a, label, theta, learner.hinge.delta)), own)


def stepped(learner: HingeLearner, v: Vector, a: Vector, r: float) -> Vector:
    """The next preference vector of the four rules that take a step at each swipe."""
    if isinstance(learner, FixedRateLearner):
        moved = v + learner.eta * r * (unit(a) if learner.along == "unit" else a)
        return unit(moved) if r and isinstance(learner, NormalisedKaczmarz) else moved
    return v + r / (a @ a + (learner.alpha if isinstance(learner, TikhonovKaczmarz) else 0.0)) * a


@swiped.register
def _(learner: BlockLearner, cells: Vector, seen: ShownCandidate, label: Label) -> Vector:
    if not seen.features.any():
        return cells
    d = len(seen.features)
    cells = np.concatenate([cells, seen.features, [sign(label)]])
    cells[d] += 1
    return session_ended(learner, cells, d) if cells[d] >= learner.k else cells


def session_ended(learner: BlockLearner, cells: Vector, dimensions: int) -> Vector:
    """The cells after the end of a session: v + Aᵀ(AAᵀ + αI)⁻¹ r (paper, eq. 7), and its limit, least squares, at α = 0."""
    v, theta = cells[:dimensions], learner.theta(cells, dimensions)
    pending = cells[learner.width(dimensions) :].reshape(-1, dimensions + 1)
    if len(pending):
        rows, labels = pending[:, :dimensions], [1 if y > 0 else -1 for y in pending[:, dimensions]]
        swipes = list(zip(rows, labels, strict=True))
        r = np.array([residual(v, a, y, theta, learner.hinge.delta) for a, y in swipes])
        theta = float(np.mean([moved_theta(learner, v, a, y, theta) for a, y in swipes]))
        alpha = damping(learner, rows)
        if alpha == 0.0:
            v = v + np.linalg.lstsq(rows, r, rcond=None)[0]
        else:
            v = v + rows.T @ np.linalg.solve(rows @ rows.T + alpha * np.eye(len(rows)), r)
        v = v if isinstance(learner, BlockTikhonovKaczmarz) else unit(v)
    return np.concatenate([v, [0.0], [theta] if learner.hinge.theta_step > 0.0 else []])


def damping(learner: BlockLearner, rows: Matrix) -> float:
    """α for these rows; AAᵀ is singular where there are more rows than tags."""
    if math.isinf(learner.condition):
        return learner.alpha
    spectrum = np.linalg.svd(rows, compute_uv=False) ** 2
    smallest = float(spectrum.min()) if len(rows) <= rows.shape[1] else 0.0
    return max(learner.alpha, (float(spectrum.max()) - learner.condition * smallest) / (learner.condition - 1.0))
