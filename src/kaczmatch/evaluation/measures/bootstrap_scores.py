"""The ranking test over resampled users: means, intervals and paired differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from kaczmatch.evaluation.measures.bootstrap import Interval, Resamples
from kaczmatch.evaluation.measures.holdout_ranking import HoldoutRanking


@final
@dataclass(frozen=True, slots=True, eq=False)
class BootstrapScores:
    """AUC of every contender. The same users count at every number of swipes, and are resampled together."""

    ranking: HoldoutRanking
    auc: Sequence[Resamples]  # one per number of swipes
    overall: Resamples  # each user's mean over all numbers of swipes
    users: int
    _reaches: dict[str, float] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, ranking: HoldoutRanking, rng: np.random.Generator) -> BootstrapScores:
        cohort = ranking.cohort
        values = ranking.auc[:, cohort]
        overall = values.mean(axis=0) if cohort.any() else np.empty((0, len(ranking.names)))
        drawn = rng.bit_generator.state
        resampled = []
        for each in values:
            rng.bit_generator.state = drawn  # the same users at every number of swipes
            resampled.append(Resamples(each, rng))
        return cls(ranking, resampled, Resamples(overall, rng), int(cohort.sum()))

    @property
    def names(self) -> Sequence[str]:
        return self.ranking.names

    @property
    def times(self) -> Sequence[int]:
        return self.ranking.times

    def auc_at(self, place: int, name: str) -> Interval:
        """After times[place] swipes."""
        return self.auc[place].mean(self._column(name))

    def difference_at(self, place: int, name: str, other: str) -> Interval:
        """One minus the other, user by user, after times[place] swipes.

        Simultaneous: with 95 % probability all intervals around one `other` hold, of every contender at every number of swipes.
        """
        return self.auc[place].wide_difference(self._column(name), self._column(other), self._reach(other))

    def _reach(self, other: str) -> float:
        """The 95 % quantile of the largest deviation from `other`, in standard deviations (Hothorn, Bretz, Westfall 2008)."""
        if other not in self._reaches:
            largest = np.max([each.deviations(self._column(other)).max(axis=1) for each in self.auc], axis=0)
            self._reaches[other] = float(np.quantile(largest, 0.95))
        return self._reaches[other]

    def mean_auc(self, name: str) -> Interval:
        """Over all numbers of swipes."""
        return self.overall.mean(self._column(name))

    def mean_difference(self, name: str, other: str) -> Interval:
        """One minus the other, user by user, over all numbers of swipes."""
        return self.overall.difference(self._column(name), self._column(other))

    def surely_better(self, name: str, other: str) -> bool:
        """Over all numbers of swipes, and not only because the best of many was picked."""
        return self.overall.beats(self._column(name), self._column(other), len(self.names))

    def _column(self, name: str) -> int:
        return list(self.names).index(name)
