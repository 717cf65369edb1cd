"""How much each past swipe still matters: the angle today's direction turns when it is left out."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.swipes import SwipeLog
from kaczmatch.core.vectors import Matrix, Vector, cosine, unit_rows
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.logs.fold import NOTHING_LEFT_OUT, Sequences
from kaczmatch.learners.logs.grouping import grouped
from kaczmatch.learners.logs.replay import prior_for
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.state import State

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
    past = _Past.of(learner, SwipeLog.of(log), user, prior, end_last_session=end_last_session)
    d = past.prior.dimensions
    start, nowhere = past.start, learner.expand(learner.start(np.zeros(d)).cells, d)
    today = unit_rows(past.folded(start, _NOTHING)[:, :d])[0]
    without_prior = unit_rows(past.folded(nowhere, _NOTHING)[:, :d])

    def turned(left_out: NDArray[np.int64]) -> Vector:
        return _angles(today, unit_rows(past.folded(start, left_out)[:, :d]))

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        turns = np.concatenate(list(threads.map(turned, past.batches())))
    return Influence(
        past.rows,
        turns,
        float(_angles(today, without_prior)[0]),
        cosine(today, start[:d]),
    )


def without_each(
    learner: Learner,
    log: SwipeLog | Mapping[str, Any],
    user: Hashable | None = None,
    *,
    prior: Prior | ArrayLike | None = None,
) -> tuple[State, Iterator[tuple[int, State]]]:
    """The state of `user` after all swipes, and after all but one, for each swipe with its row in the log; sessions ended."""
    past = _Past.of(learner, SwipeLog.of(log), user, prior, end_last_session=True)

    def state(work: Vector) -> State:
        cells = learner.compact(work, past.prior.dimensions).copy()
        return learner.state(cells, past.prior.dimensions, past.prior)

    def each() -> Iterator[tuple[int, State]]:
        for left_out in past.batches():
            yield from zip(past.rows[left_out].tolist(), map(state, past.folded(past.start, left_out)), strict=True)

    return state(past.folded(past.start, _NOTHING)[0]), each()


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Past:
    """One user's swipes, to be folded again with some left out."""

    learner: Learner
    prior: Prior
    rows: NDArray[np.int64]
    sequences: Sequences
    end_last_session: bool

    @classmethod
    def of(
        cls,
        learner: Learner,
        log: SwipeLog,
        user: Hashable | None,
        prior: Prior | ArrayLike | None,
        *,
        end_last_session: bool,
    ) -> _Past:
        users, order, begin = grouped(log.user)
        place = _place(users, user)
        rows = order[begin[place] : begin[place + 1]]
        sequences = Sequences.of(log, rows, np.array([0, len(rows)]), [None])
        return cls(learner, prior_for(log, prior), rows, sequences, end_last_session)

    @property
    def start(self) -> Vector:
        return self.learner.expand(self.learner.start(self.prior).cells, self.prior.dimensions)

    def folded(self, start: Vector, left_out: NDArray[np.int64]) -> Matrix:
        """What the kernels worked on, a row for each swipe left out."""
        work = np.empty((len(left_out), self.learner.room(self.prior.dimensions, len(self.rows))))
        work[:, : len(start)] = start
        everything = np.full(len(left_out), len(self.rows))
        self.sequences.fold(self.learner, work, start, np.zeros_like(everything), everything, left_out=left_out)
        if self.end_last_session:
            for cells in work:
                self.learner.kernels.end_session(cells, self.prior.dimensions, self.learner.parameters)
        return work

    def batches(self) -> list[NDArray[np.int64]]:
        """All swipes, to be left out one by one, as many at a time as memory and cores are good for."""
        at_once = max(1, _WORK_BYTES // (8 * self.learner.room(self.prior.dimensions, len(self.rows))))
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
    """Degrees between unit vectors, exact for small angles too; a right angle to a direction that is 0."""
    if not today.any():
        return np.where(others.any(axis=1), 90.0, 0.0)
    half = np.arctan2(np.linalg.norm(others - today, axis=1), np.linalg.norm(others + today, axis=1))
    return np.where(others.any(axis=1), np.degrees(2.0 * half), 90.0)
