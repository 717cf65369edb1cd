"""Progressive validation: the probability of each swipe, predicted just before the learner learns from it (prequential)."""

from __future__ import annotations

import numpy as np

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.swipes import AnyLog, SwipeLog
from kaczmatch.core.vectors import Vector
from kaczmatch.learners.contract import ProbabilisticLearner
from kaczmatch.learners.logs.fold import GroupedSwipes
from kaczmatch.learners.logs.grouping import group_by_user
from kaczmatch.learners.logs.replay import prior_for, with_expected_traits
from kaczmatch.learners.prior import AnyPrior
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner

_WORK_BYTES = 1 << 20


def progressive_predictions(
    learner: ProbabilisticLearner,
    log: AnyLog,
    *,
    prior: AnyPrior | None = None,
    runner: Runner = LocalRunner(),  # noqa: B008
) -> Vector:
    """The probability of a like that each row of `log` had, everybody starting from `prior`: a fold like `replay`'s."""
    if not isinstance(learner, ProbabilisticLearner):
        raise InvalidInput("learner", f"must say probabilities, such as kaczmatch.learner('probit'), got {learner!r}")
    swipes = SwipeLog.of(log)
    origin = prior_for(swipes, prior)
    if not len(swipes):
        return np.empty(0)
    swipes = with_expected_traits(swipes, origin)
    users, order, begin = group_by_user(swipes.user)
    start = learner.expand(learner.start(origin).cells, origin.dimensions)
    size = learner.working_size(swipes.dimensions, int(np.diff(begin).max()))
    batch = max(1, min(_WORK_BYTES // (8 * size), -(-len(users) // runner.workers)))
    found = np.empty(len(swipes))

    def fold(first: int) -> None:
        limits = begin[first : first + batch + 1]
        rows, limits = order[limits[0] : limits[-1]], limits - limits[0]
        work = np.empty((len(limits) - 1, size))
        work[:, : len(start)] = start
        predicted = np.empty(len(rows))
        sequences = GroupedSwipes.of(swipes, rows, limits, [None] * len(work))
        sequences.fold(learner, work, start, limits[:-1], limits[1:], predictions=predicted)
        found[rows] = predicted

    runner.fold(fold, range(0, len(users), batch), lambda _, done: done, None)
    return found
