"""The check of the test itself: with shuffled decisions there is nothing to learn, and every AUC must be 0.5."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from kaczmatch.evaluation.measures.bootstrap import Interval, Resamples
from kaczmatch.evaluation.measures.holdout_ranking import HoldoutRanking, holdout_ranking
from kaczmatch.evaluation.protocol.contenders import Contender
from kaczmatch.evaluation.protocol.trial import Trial, at_most
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner

MOST_USERS = 1_000
_TOLERANCE = 4.0  # half-widths of a 95 % interval, since many are looked at


@final
@dataclass(frozen=True, slots=True)
class ShuffledScore:
    """One contender's mean AUC over users and numbers of swipes, on shuffled decisions."""

    name: str
    auc: Interval

    @property
    def sound(self) -> bool:
        """Whether it is 0.5, as it must be."""
        return abs(self.auc.mean - 0.5) <= _TOLERANCE * max(self.auc.high - self.auc.low, 1e-12) / 2.0


@final
@dataclass(frozen=True, slots=True)
class ShuffledCheck:
    """Every contender on shuffled decisions."""

    scores: Sequence[ShuffledScore]
    users: int

    @property
    def sound(self) -> bool:
        return all(each.sound for each in self.scores)

    @property
    def farthest(self) -> ShuffledScore:
        """The one that is farthest from 0.5."""
        return max(self.scores, key=lambda each: abs(each.auc.mean - 0.5))


def shuffled_trial(trial: Trial) -> Trial:
    """The same swipes with each user's decisions in a random order."""
    rng = np.random.default_rng([trial.protocol.seed, 3])
    table = trial.table
    order = np.lexsort((rng.random(len(table)), table.user))
    return replace(trial, table=replace(table, like=table.like[order]))


def shuffled_ranking(
    trial: Trial,
    contend: Callable[[Trial], list[Contender]],
    times: Sequence[int],
    *,
    advance: Callable[[int], None],
    runner: Runner = LocalRunner(1),  # noqa: B008
) -> HoldoutRanking:
    """The whole ranking test again on shuffled decisions, appeal and priors included."""
    shuffled = shuffled_trial(trial)
    users = at_most(MOST_USERS, shuffled.tested)
    return holdout_ranking(shuffled, contend(shuffled), times, users, advance=advance, runner=runner)


def shuffled_check(ranking: HoldoutRanking, rng: np.random.Generator) -> ShuffledCheck:
    known = np.isfinite(ranking.auc)
    tested = known.any(axis=(0, 2))
    values = np.where(known, ranking.auc, 0.0).sum(axis=0)[tested] / known.sum(axis=0)[tested]
    resampled = Resamples(values, rng)
    scores = [ShuffledScore(name, resampled.mean(column)) for column, name in enumerate(ranking.names)]
    return ShuffledCheck(scores, len(values))
