"""Influence: how far today's direction turns when one past swipe is left out."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.swipes import AnyLog, SwipeLog
from kaczmatch.core.vectors import Matrix, Vector, cosine, unit_rows
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.logs.fold import NOTHING_LEFT_OUT, GroupedSwipes, group_by_user
from kaczmatch.learners.logs.replay import prior_for, with_expected_traits
from kaczmatch.learners.prior import AnyPrior, Prior
from kaczmatch.learners.state import State
from kaczmatch.runner.cores import ALL_CORES, run_on

_WORK_BYTES = 1 << 24


@final
@dataclass(frozen=True, slots=True, eq=False)
class Influence:
    """Angles in degrees, between 0 and 180."""

    rows: NDArray[np.int64]  # the log's row of each swipe, first swipe first
    angles: Vector  # how far the direction turns without that swipe
    prior_angle: float  # how far it turns when the user starts from zero instead of the prior
    prior_cosine: float  # cosine between today's direction and the prior


def influence(
    learner: Learner,
    log: AnyLog,
    user: Hashable | None = None,
    *,
    prior: AnyPrior | None = None,
) -> Influence:
    """The influence of every swipe of `user` (who may be left unnamed where the log has only one) on their direction today.

    Each swipe is left out in turn and the rest is folded again, which works for any learner. The open session is ended first:
    pending swipes of a block rule would otherwise have no influence.
    """
    past = _UserHistory.of(learner, SwipeLog.of(log), user, prior)
    d = past.prior.dimensions
    start, nowhere = past.start, learner.expand(learner.start(np.zeros(d)).cells, d)
    today = unit_rows(past.folded(start, _NOTHING)[:, :d])[0]
    without_prior = unit_rows(past.folded(nowhere, _NOTHING)[:, :d])

    def turned(left_out: NDArray[np.int64]) -> Vector:
        return _angles(today, unit_rows(past.folded(start, left_out)[:, :d]))

    with ThreadPoolExecutor(os.cpu_count(), initializer=run_on, initargs=(ALL_CORES,)) as threads:
        turns = np.concatenate(list(threads.map(turned, past.batches())))
    return Influence(
        past.rows,
        turns,
        float(_angles(today, without_prior)[0]),
        cosine(today, start[:d]),
    )


def leave_one_out_states(
    learner: Learner,
    log: AnyLog,
    user: Hashable | None = None,
    *,
    prior: AnyPrior | None = None,
) -> tuple[State, Iterator[tuple[int, State]]]:
    """The state of `user` after all swipes, and for each swipe its row in the log and the state without it; sessions ended."""
    past = _UserHistory.of(learner, SwipeLog.of(log), user, prior)

    def state(work: Vector) -> State:
        cells = learner.compact(work, past.prior.dimensions).copy()
        return learner.state(cells, past.prior.dimensions, past.prior)

    def each() -> Iterator[tuple[int, State]]:
        for left_out in past.batches():
            yield from zip(past.rows[left_out].tolist(), map(state, past.folded(past.start, left_out)), strict=True)

    return state(past.folded(past.start, _NOTHING)[0]), each()


@final
@dataclass(frozen=True, slots=True, eq=False)
class _UserHistory:
    """One user's swipes, to be folded again with some left out."""

    learner: Learner
    prior: Prior
    rows: NDArray[np.int64]
    sequences: GroupedSwipes

    @classmethod
    def of(cls, learner: Learner, log: SwipeLog, user: Hashable | None, prior: AnyPrior | None) -> _UserHistory:
        users, order, begin = group_by_user(log.user)
        place = _place(users, user)
        rows = order[begin[place] : begin[place + 1]]
        origin = prior_for(log, prior)
        sequences = GroupedSwipes.of(with_expected_traits(log, origin), rows, np.array([0, len(rows)]), [None])
        return cls(learner, origin, rows, sequences)

    @property
    def start(self) -> Vector:
        return self.learner.expand(self.learner.start(self.prior).cells, self.prior.dimensions)

    def folded(self, start: Vector, left_out: NDArray[np.int64]) -> Matrix:
        """Working cells, one row per swipe that is left out."""
        work = np.empty((len(left_out), self.learner.working_size(self.prior.dimensions, len(self.rows))))
        work[:, : len(start)] = start
        everything = np.full(len(left_out), len(self.rows))
        begin = np.zeros_like(everything)
        self.sequences.fold(self.learner, work, start[None], begin, everything, left_out=left_out, end_last=True)
        return work

    def batches(self) -> list[NDArray[np.int64]]:
        """All swipes, to be left out one by one, in batches that fit memory and cores."""
        at_once = max(1, _WORK_BYTES // (8 * self.learner.working_size(self.prior.dimensions, len(self.rows))))
        at_once = max(1, min(at_once, -(-len(self.rows) // (os.cpu_count() or 1))))
        return np.split(np.arange(len(self.rows)), np.arange(at_once, len(self.rows), at_once))


_NOTHING = np.array([NOTHING_LEFT_OUT])


def _place(users: list[Hashable], user: Hashable | None) -> int:
    if user is None:
        if len(users) != 1:
            raise InvalidInput("user", f"the log has {len(users)} users; say whose influence is meant")
        return 0
    if user not in users:
        raise InvalidInput("user", f"{user!r} does not occur in the log")
    return users.index(user)


def _angles(today: Vector, others: Matrix) -> Vector:
    """Degrees between unit vectors, accurate for small angles too; 90 for a direction that is 0."""
    if not today.any():
        return np.where(others.any(axis=1), 90.0, 0.0)
    half = np.arctan2(np.linalg.norm(others - today, axis=1), np.linalg.norm(others + today, axis=1))
    return np.where(others.any(axis=1), np.degrees(2.0 * half), 90.0)
