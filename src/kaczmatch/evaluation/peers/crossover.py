"""From which number of swipes, and of other users, is collaborative filtering better than learning from a user's own swipes?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from kaczmatch.core.vectors import Matrix
from kaczmatch.evaluation.measures.bootstrap import Interval, Resamples
from kaczmatch.evaluation.measures.holdout_ranking import holdout_ranking
from kaczmatch.evaluation.peers.comparison import ALONE, DEFAULT, PeerComparison
from kaczmatch.evaluation.peers.contract import Clock, Peer
from kaczmatch.evaluation.peers.individual import IndividualPeer
from kaczmatch.evaluation.protocol.contenders import contenders
from kaczmatch.evaluation.protocol.progress import Progress
from kaczmatch.evaluation.protocol.trial import Places, Trial, at_most
from kaczmatch.formats.swipe_table import SwipeTable

SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)  # of the fit group


@final
@dataclass(frozen=True, slots=True)
class CrossoverPoint:
    """A peer that learns from others, in a log with so many fit users and after so many swipes."""

    fit_users: int
    swipes: int
    peer_auc: float
    alone_auc: float  # of ALONE
    default_auc: float  # of DEFAULT
    over_alone: Interval
    over_default: Interval
    ahead_of: int  # individual learners that it is ahead of, by an interval above 0
    individuals: int  # of so many


@final
@dataclass(frozen=True, slots=True)
class Crossover:
    """One peer over fit users and swipes, compared with learners that know a user's own swipes and the tags alone."""

    peer: str
    points: Sequence[CrossoverPoint]
    individuals: int
    tested: int


def crossover(trials: Sequence[Trial], comparison: PeerComparison, peer: Peer, progress: Progress, clock: Clock) -> Crossover:
    """The peer in logs with fewer users to learn from: as many in each fold."""
    times, ranking = comparison.times, comparison.scores.ranking
    individuals = [ALONE, *(each.name for each in comparison.peers if isinstance(each, IndividualPeer) and not each.appeal)]
    columns = [list(ranking.names).index(name) for name in individuals]
    fewest = min(int(trial.fit.sum()) for trial in trials)
    numbers = sorted({max(1, round(share * fewest)) for share in SHARES})
    progress.stage("peers by fit users", 2 * len(numbers) * len(times) * len(ranking.users))
    points: list[CrossoverPoint] = []
    for number in numbers:
        parts = [_areas(with_fit_users(trial, number), peer, times, progress, clock) for trial in trials]
        peer_auc, default_auc = (np.concatenate(each, axis=1) for each in zip(*parts, strict=True))
        rng = np.random.default_rng([trials[0].protocol.seed, 14, number])
        for place, t in enumerate(times):
            values = np.column_stack([peer_auc[place], default_auc[place], ranking.auc[place][:, columns]])
            resampled = Resamples(values[ranking.cohort], rng)
            over = [resampled.difference(0, 2 + column) for column in range(len(individuals))]
            points.append(
                CrossoverPoint(
                    fit_users=number,
                    swipes=t,
                    peer_auc=resampled.mean(0).mean,
                    alone_auc=resampled.mean(2).mean,
                    default_auc=resampled.mean(1).mean,
                    over_alone=over[0],
                    over_default=resampled.difference(0, 1),
                    ahead_of=sum(gap.above_zero for gap in over),
                    individuals=len(over),
                )
            )
    return Crossover(peer.name, points, len(individuals), len(ranking.users))


def _areas(trial: Trial, peer: Peer, times: Sequence[int], progress: Progress, clock: Clock) -> tuple[Matrix, Matrix]:
    """Of the peer and of DEFAULT: times x users."""
    default = [each for each in contenders(trial, [ALONE], tick=lambda _: None) if each.name == DEFAULT]
    ours = holdout_ranking(trial, default, times, trial.tested, advance=progress.advance).auc[:, :, 0]
    return peer.run(trial, times, trial.tested, clock=clock, advance=progress.advance).auc, ours


def with_fit_users(trial: Trial, number: int) -> Trial:
    """The same log with only so many users of the fit group: for the prior and for appeal."""
    keep = np.sort(np.concatenate([at_most(number, np.flatnonzero(trial.fit)), np.flatnonzero(~trial.fit)]))
    return replace(trial, table=_of_users(trial.table, keep), moment=trial.fitted_at)


def _of_users(table: SwipeTable, users: Places) -> SwipeTable:
    rows = np.isin(table.user, users)
    return replace(
        table,
        users=[table.users[user] for user in users],
        user=np.searchsorted(users, table.user[rows]),
        candidate=table.candidate[rows],
        like=table.like[rows],
        at=None if table.at is None else table.at[rows],
        session=None if table.session is None else table.session[rows],
        others={name: column[rows] for name, column in table.others.items()},
    )
