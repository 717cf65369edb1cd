"""Many users at once: fold a whole swipe log into final states, or into what was predicted of each swipe on the way."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from itertools import repeat
from operator import iadd
from typing import final

import numpy as np

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.swipes import AnyLog, SwipeLog
from kaczmatch.core.vectors import Matrix, Vector, unit_rows
from kaczmatch.learners.contract import Learner, ProbabilisticLearner
from kaczmatch.learners.logs.fold import NO_SESSION, FoldProgress, GroupedSwipes, group_by_user
from kaczmatch.learners.prior import AnyPrior, Prior
from kaczmatch.learners.state import State
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner

_ROWS_AT_ONCE = 1 << 20  # so that memory grows with users, not with swipes
_WORK_BYTES = 1 << 20


@final
class States(Mapping[Hashable, State]):
    """The state of each user of a log, by user; made by :func:`replay`."""

    def __init__(self, learner: Learner, prior: Prior, dimensions: int, progress: dict[Hashable, FoldProgress]) -> None:
        self.learner = learner
        self.prior = prior
        self.dimensions = dimensions
        self._progress = progress

    def __getitem__(self, user: Hashable) -> State:
        cells, _, _ = self._progress[user]
        return self.learner.state(cells, self.dimensions, self.prior)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._progress)

    def __len__(self) -> int:
        return len(self._progress)

    def directions(self) -> Matrix:
        """All directions, one row per user in the order of iteration."""
        weights = [self.learner.weights(cells, self.dimensions) for cells, _, _ in self._progress.values()]
        return unit_rows(np.array(weights).reshape(-1, self.dimensions))

    def to_bytes(self) -> Iterator[bytes]:
        """Every state as bytes, in the order of iteration."""
        start = self.learner.start(self.prior)
        return start.bytes_with(cells for cells, _, _ in self._progress.values())

    def __repr__(self) -> str:
        return f"<States of {len(self)} users, {self.learner.slug}, {self.dimensions} tags>"

    def progress(self) -> dict[Hashable, FoldProgress]:
        """A copy of each user's progress in the fold."""
        return dict(self._progress)


def prior_for(log: SwipeLog, prior: AnyPrior | None) -> Prior:
    """The given prior, if it fits the log; a weight of one for every tag where none is given."""
    origin = Prior.ones(log.dimensions) if prior is None else Prior.of(prior)
    if origin.dimensions != log.dimensions:
        raise InvalidInput("prior", f"has {origin.dimensions} tags, the log has {log.dimensions}")
    return origin.named(log.tags)


def with_expected_traits(log: SwipeLog, prior: Prior) -> SwipeLog:
    """The log, with what the prior expects of each candidate's traits where it says nothing about them."""
    if prior.trait_map is None or (log.others is not None and log.others.shape[1] == prior.said_width):
        return log
    expected = prior.expected_traits(log.features)
    return log.with_others(expected if log.candidate_row is None else expected[log.candidate_row])


def replay(
    learner: Learner,
    log: AnyLog,
    *,
    prior: AnyPrior | None = None,
    states: States | None = None,
    end_last_session: bool = False,
    runner: Runner = LocalRunner(),  # noqa: B008
) -> States:
    """Fold `log` into one state per user, bit for bit as live calls would have.

    Everybody starts from `prior`, by default a weight of one for every tag; with `states` from an earlier part of the log, the
    fold continues from there. Where a user's ``session`` changes, the session before is ended, and where ``at`` moves on, time is
    advanced. The last session stays open, as it would be live, unless `end_last_session`.
    """
    if not isinstance(learner, Learner):
        raise InvalidInput("learner", f"must be a learner, such as kaczmatch.learner('tk'), got {learner!r}")
    if states is not None and (not isinstance(states, States) or states.learner != learner):
        raise InvalidInput("states", "must be what replay gave for an earlier part, with the same learner")
    swipes = SwipeLog.of(log)
    origin = prior_for(swipes, states.prior if states is not None and prior is None else prior)
    if states is not None and states.prior.fingerprint != origin.fingerprint:
        raise InvalidInput("states", "started from another prior")
    progress = {} if states is None else states.progress()
    _fold_log(learner, swipes, origin, progress, runner)
    result = States(learner, origin, swipes.dimensions, progress)
    if end_last_session:
        for user, (_, session, at) in progress.items():
            progress[user] = learner.end_session(result[user]).cells, session, at
    return result


def progressive_predictions(
    learner: ProbabilisticLearner,
    log: AnyLog,
    *,
    prior: AnyPrior | None = None,
    runner: Runner = LocalRunner(),  # noqa: B008
) -> Vector:
    """The probability of a like that each row of `log` had just before the learner learned from it (prequential).

    Everybody starts from `prior`, as in `replay`.
    """
    if not isinstance(learner, ProbabilisticLearner):
        raise InvalidInput("learner", f"must say probabilities, such as kaczmatch.learner('probit'), got {learner!r}")
    swipes = SwipeLog.of(log)
    predicted = np.empty(len(swipes))
    _fold_log(learner, swipes, prior_for(swipes, prior), {}, runner, predicted)
    return predicted


def _fold_log(
    learner: Learner,
    log: SwipeLog,
    origin: Prior,
    progress: dict[Hashable, FoldProgress],
    runner: Runner,
    predicted: Vector | None = None,
) -> None:
    """Fold a log into `progress`; `predicted` receives the probability of each row."""
    log = with_expected_traits(log, origin)
    start = learner.expand(learner.start(origin).cells, origin.dimensions)[None]
    for first in range(0, len(log), _ROWS_AT_ONCE):
        _fold_rows(learner, log, slice(first, first + _ROWS_AT_ONCE), start, progress, runner, predicted)


def _fold_rows(
    learner: Learner,
    log: SwipeLog,
    part: slice,
    start: Matrix,
    progress: dict[Hashable, FoldProgress],
    runner: Runner,
    predicted: Vector | None,
) -> None:
    """Fold a part of the log into `progress`, batches of users in parallel."""
    users, order, begin = group_by_user(log.user[part])
    order += part.start
    before = [progress.get(user) for user in users]
    longest = int(np.diff(begin).max())
    pending = max((len(known[0]) // (log.dimensions + 1) for known in before if known), default=0)
    size = learner.working_size(log.dimensions, longest + pending)
    batch = max(1, min(_WORK_BYTES // (8 * size), -(-len(users) // runner.workers)))

    def folded(first: int) -> list[Vector]:
        known = before[first : first + batch]
        work = np.empty((len(known), size))
        work[:, : start.shape[1]] = start
        for place, progressed in enumerate(known):
            if progressed is not None:
                cells = learner.expand(progressed[0], log.dimensions)
                work[place, : len(cells)] = cells
        limits = begin[first : first + len(known) + 1]
        limits, rows = limits - limits[0], order[limits[0] : limits[-1]]
        said = None if predicted is None else np.empty(len(rows))
        GroupedSwipes.of(log, rows, limits, known).fold(learner, work, start, limits[:-1], limits[1:], before=said)
        if predicted is not None:
            predicted[rows] = said
        # Copies: a view of one user's cells would keep the whole batch in memory for as long as that user lives.
        return [learner.compact(cells, log.dimensions).copy() for cells in work]

    last = order[begin[1:] - 1]
    sessions = repeat(NO_SESSION) if log.session is None else log.session[last].tolist()
    times = repeat(None) if log.at is None else log.at[last].tolist()
    cells: list[Vector] = runner.fold(folded, range(0, len(users), batch), iadd, [])
    progress.update(zip(users, zip(cells, sessions, times, strict=False), strict=False))
