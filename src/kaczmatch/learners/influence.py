"""How much each past swipe still matters: the angle today's direction turns when it is left out."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.swipes import SwipeLog
from kaczmatch.core.vectors import Matrix, Vector, cosine, unit_rows
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.fold import NOTHING_LEFT_OUT, Sequences
from kaczmatch.learners.grouping import grouped
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.replay import prior_for

_WORK_BYTES = 1 << 24


@final
@dataclass(frozen=True, slots=True, eq=False)
class Influence:
    """Angles in degrees, between 0 and 180."""

    rows: NDArray[np.int64]  # the log's row of each swipe, first swipe first
    turns: Vector  # how far the direction turns without it
    prior_turn: float  # how far it turns without the prior, from a start at zero
    prior_weight: float  # how much of today's direction lies along the prior: their cosine


def influence(
    learner: Learner,
    log: SwipeLog | Mapping[str, Any],
    user: Hashable | None = None,
    *,
    prior: Prior | ArrayLike | None = None,
    end_last_session: bool = True,
) -> Influence:
    """The influence of every swipe of `user` (who may be left unnamed where the log has only one) on their direction today.

    Each swipe is left out in turn and the rest folded again, so this holds for any learner. The open session is ended first,
    or what a block rule still has pending would have none.
    """
    swipes = SwipeLog.of(log)
    users, order, begin = grouped(swipes.user)
    place = _place(users, user)
    rows = order[begin[place] : begin[place + 1]]
    origin, d = prior_for(swipes, prior), swipes.dimensions
    sequences = Sequences.of(swipes, rows, np.array([0, len(rows)]), [None])

    def directions(start: Vector, left_out: NDArray[np.int64]) -> Matrix:
        work = np.empty((len(left_out), learner.room(d, len(rows))))
        work[:, : len(start)] = start
        everything = np.full(len(left_out), len(rows))
        sequences.fold(learner, work, start, np.zeros_like(everything), everything, left_out=left_out)
        if end_last_session:
            for cells in work:
                learner.kernels.end_session(cells, d, learner.parameters)
        return unit_rows(work[:, :d])

    start, nowhere = (learner.expand(learner.start(first).cells, d) for first in (origin, np.zeros(d)))
    nothing = np.array([NOTHING_LEFT_OUT])
    today, without_prior = directions(start, nothing)[0], directions(nowhere, nothing)
    at_once = max(1, _WORK_BYTES // (8 * learner.room(d, len(rows))))
    at_once = max(1, min(at_once, -(-len(rows) // (os.cpu_count() or 1))))

    def turned(first: int) -> Vector:
        return _angles(today, directions(start, np.arange(first, min(first + at_once, len(rows)))))

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        turns = np.concatenate(list(threads.map(turned, range(0, len(rows), at_once))))
    return Influence(
        rows,
        turns,
        float(_angles(today, without_prior)[0]),
        cosine(today, start[:d]),
    )


def _place(users: list[Hashable], user: Hashable | None) -> int:
    if user is None:
        if len(users) != 1:
            raise InvalidInput("user", f"the log has {len(users)} users; say whose influence is meant")
        return 0
    if user not in users:
        raise InvalidInput("user", f"{user!r} does not occur in the log")
    return users.index(user)


def _angles(today: Vector, others: Matrix) -> Vector:
    """Degrees between unit vectors, exact for small angles too; a right angle to a direction that is 0."""
    if not today.any():
        return np.where(others.any(axis=1), 90.0, 0.0)
    half = np.arctan2(np.linalg.norm(others - today, axis=1), np.linalg.norm(others + today, axis=1))
    return np.where(others.any(axis=1), np.degrees(2.0 * half), 90.0)
