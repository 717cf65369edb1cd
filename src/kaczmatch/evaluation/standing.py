"""What the ranking test yields: means over users, intervals, and paired differences from what learns nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from kaczmatch.core.vectors import Matrix
from kaczmatch.evaluation.bootstrap import Interval, Resamples
from kaczmatch.evaluation.frozen import APPEAL, TOP, Frozen
from kaczmatch.report.results import Table

ALL_ONES = "all-ones"


@final
@dataclass(frozen=True, slots=True, eq=False)
class BootstrapScores:
    """The same users at every t, drawn again together."""

    found: Frozen
    auc: Sequence[Resamples]  # one a t
    overall: Resamples  # each user's mean over all t
    users: int

    @classmethod
    def of(cls, found: Frozen, rng: np.random.Generator) -> BootstrapScores:
        cohort = found.cohort
        values = found.auc[:, cohort]
        overall = values.mean(axis=0) if cohort.any() else np.empty((0, len(found.names)))
        return cls(found, [Resamples(each, rng) for each in values], Resamples(overall, rng), int(cohort.sum()))

    def at(self, place: int, name: str) -> Interval:
        return self.auc[place].mean(self._column(name))

    def difference(self, place: int, name: str, other: str) -> Interval:
        return self.auc[place].difference(self._column(name), self._column(other))

    def mean(self, name: str) -> Interval:
        """Over all t."""
        return self.overall.mean(self._column(name))

    def lead(self, name: str, other: str) -> Interval:
        """Over all t."""
        return self.overall.difference(self._column(name), self._column(other))

    def beats(self, name: str, other: str) -> bool:
        """Over all t, and not only because the best of many was picked."""
        return self.overall.beats(self._column(name), self._column(other), len(self.found.names))

    def _column(self, name: str) -> int:
        return list(self.found.names).index(name)


def pivot(found: Frozen, values: Matrix, name: str, title: str, note: str) -> Table:
    """A row a contender, a column a number of swipes; best mean first."""
    means = np.array([each[np.isfinite(each).all(axis=1)].mean(axis=0) for each in values])
    order = np.argsort(-means.mean(axis=0), kind="stable")
    rows = [
        {"learner": found.names[column], **{f"after_{t}": float(means[place, column]) for place, t in enumerate(found.times)}}
        for column in order
    ]
    return Table(name, title, rows, note)


def ranking_tables(standing: BootstrapScores) -> list[Table]:
    found, cohort = standing.found, standing.found.cohort
    counts = [int(found.testable(place).sum()) for place in range(len(found.times))]
    same = f"The same {standing.users:,} users at every number of swipes."
    everyone = "Everybody who can be tested: " + ", ".join(
        f"{count:,} users after {t}" for t, count in zip(found.times, counts, strict=True)
    )
    return [
        pivot(found, found.auc[:, cohort], "auc", "AUC on the swipes that follow", same),
        pivot(found, found.ndcg[:, cohort], "ndcg", f"nDCG of the first {TOP}", same),
        replace(
            pivot(found, found.auc, "auc-everyone", "AUC of everybody who can be tested at each t", f"{everyone}."),
            in_report=False,
        ),
        Table("ranking", "AUC with intervals and paired differences", _long(standing), same, in_report=False),
    ]


def _long(standing: BootstrapScores) -> list[dict[str, Any]]:
    found = standing.found
    ndcg = found.ndcg[:, found.cohort].mean(axis=1) if standing.users else np.full(found.ndcg.shape[::2], np.nan)
    everyone = [each[np.isfinite(each).all(axis=1)] for each in found.auc]
    rows = []
    for place, t in enumerate(found.times):
        for column, name in enumerate(found.names):
            row: dict[str, Any] = {"learner": name, "swipes": t, "users": standing.users}
            row |= dict(zip(("auc", "low", "high"), standing.at(place, name), strict=True))
            for key, other in (("appeal", APPEAL), ("all_ones", ALL_ONES)):
                if other in found.names:
                    gap = standing.difference(place, name, other)
                    row |= {f"over_{key}": gap.mean, f"over_{key}_low": gap.low, f"over_{key}_high": gap.high}
            row |= {"ndcg": float(ndcg[place, column])}
            row |= {"auc_everyone": float(everyone[place][:, column].mean()), "users_everyone": len(everyone[place])}
            rows.append(row)
    return rows
