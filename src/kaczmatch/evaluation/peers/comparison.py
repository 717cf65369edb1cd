"""Our default and the peers on the same users and candidates: ranking, probabilities and time per swipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import expit

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.measures.bootstrap import Interval
from kaczmatch.evaluation.measures.bootstrap_scores import BootstrapScores
from kaczmatch.evaluation.measures.calibration import calibration_error, losses
from kaczmatch.evaluation.measures.holdout_ranking import APPEAL, HoldoutRanking
from kaczmatch.evaluation.peers.contract import Clock, Peer, PeerResult
from kaczmatch.evaluation.peers.individual import IndividualPeer
from kaczmatch.evaluation.peers.own import as_peer
from kaczmatch.evaluation.peers.population import fits_at_each
from kaczmatch.evaluation.protocol.contenders import TRAITS, Contender
from kaczmatch.evaluation.protocol.folds import Fold
from kaczmatch.evaluation.protocol.progress import Progress
from kaczmatch.evaluation.protocol.trial import Places, Trial
from kaczmatch.learners.contract import ProbabilisticLearner
from kaczmatch.learners.logs.replay import progressive_predictions

ALONE, WITH_APPEAL, DEFAULT = "probit-diag", "probit-diag + appeal", "probit-diag + population + appeal"
MARGIN = 0.005  # an AUC lower by less is not worse


@final
@dataclass(frozen=True, slots=True)
class ProbabilityQuality:
    """Of what was predicted before each of the users' first swipes."""

    log_loss: float  # nats per swipe, mean over users
    calibration_error: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class PeerComparison:
    """Ours and the peers on the same users, resampled together."""

    scores: BootstrapScores
    peers: Sequence[Peer]
    probabilities: Mapping[str, ProbabilityQuality]  # of those that predict probabilities
    microseconds: Mapping[str, float]  # per swipe

    @property
    def times(self) -> Sequence[int]:
        return self.scores.times

    @property
    def ours(self) -> str:
        """What peers are compared with: traits where they were tested, otherwise the default."""
        return TRAITS if TRAITS in self.scores.names else DEFAULT

    def differences(self, name: str, other: str) -> list[Interval]:
        """One minus the other at each number of swipes; simultaneous over all others and numbers of swipes."""
        behind = (self.scores.difference_at(place, other, name) for place in range(len(self.times)))
        return [Interval(-gap.mean, -gap.high, -gap.low) for gap in behind]

    def better_from(self, name: str, other: str) -> int | None:
        """The number of swipes from which on it is better at every one; None where there is none."""
        found = None
        for t, gap in zip(reversed(self.times), reversed(self.differences(name, other)), strict=True):
            if not gap.above_zero:
                break
            found = t
        return found


def compare_peers(
    folds: Sequence[Fold],
    ranking: HoldoutRanking,
    peers: Sequence[Peer],
    progress: Progress,
    clock: Clock,
) -> PeerComparison:
    """Every peer on the users and candidates that ours were tested on. Ours are timed as the peers are, by live swipes."""
    times, trial, ours = ranking.times, folds[0].trial, [each.name for each in _ours(folds[0].contenders)]
    seconds = len(folds) * estimated_seconds(trial, peers, times, trial.tested, clock)
    steps = (len(ours) + len(peers)) * len(times) * len(ranking.users)
    progress.stage(f"peers, about {max(1, round(seconds / 60))} min", steps)
    parts = [_results(fold, times, peers, progress, clock) for fold in folds]
    results = {name: PeerResult.joined([part[name] for part in parts]) for name in parts[0]}
    said = [_forecasts(fold, times) for fold in folds]
    forecasts = {name: np.concatenate([part[name] for part in said]) for name in said[0]}
    forecasts |= {name: np.asarray(expit(each.log_odds)) for name, each in results.items() if each.log_odds is not None}
    names = [*ours, APPEAL, *(peer.name for peer in peers)]
    areas = np.stack([_areas(ranking, name) if name in ranking.names else results[name].auc for name in names], axis=2)
    nothing = np.full_like(areas, np.nan)  # peers are not compared by nDCG, nor on candidates without history
    together = HoldoutRanking(names, times, ranking.users, areas, nothing, nothing)
    return PeerComparison(
        BootstrapScores.of(together, np.random.default_rng([trial.protocol.seed, 13])),
        peers,
        _quality(trial, ranking, forecasts),
        {name: 1e6 * each.seconds_per_swipe for name, each in results.items()},
    )


def _results(fold: Fold, times: Sequence[int], peers: Sequence[Peer], progress: Progress, clock: Clock) -> dict[str, PeerResult]:
    trial, advance = fold.trial, progress.advance
    everybody = [*map(as_peer, _ours(fold.contenders)), *peers]
    return {peer.name: peer.run(trial, times, trial.tested, clock=clock, advance=advance) for peer in everybody}


def _forecasts(fold: Fold, times: Sequence[int]) -> dict[str, Vector]:
    """Of ours, before each of the users' first swipes."""
    rows = fold.trial.rows(fold.trial.tested, 0, times[-1])
    return {
        each.name: progressive_predictions(each.learner, each.log(fold.trial).select(rows), prior=each.prior)
        for each in _ours(fold.contenders)
        if isinstance(each.learner, ProbabilisticLearner)
    }


def estimated_seconds(trial: Trial, peers: Sequence[Peer], times: Sequence[int], users: Places, clock: Clock) -> float:
    """How long the peers will take: individual ones by one user's time, the others by that of one fit."""
    tested = np.intersect1d(users, trial.testable(times[-1]))
    one = tested[len(tested) // 2 : len(tested) // 2 + 1]
    total = 0.0
    for peer in peers:
        begun = clock()
        peer.run(trial, times if peer.individual else times[-1:], one, clock=clock, advance=lambda _: None)
        total += (clock() - begun) * (len(users) if peer.individual else len(times) * fits_at_each(trial))
    return total


def _ours(contenders: Sequence[Contender]) -> list[Contender]:
    """Traits where they pay, the default, and the same learner with no more than an individual peer has."""
    default, alone = (next(each for each in contenders if each.name == name) for name in (DEFAULT, ALONE))
    traits = [each for each in contenders if each.name == TRAITS]
    return [*traits, default, Contender(WITH_APPEAL, default.learner, alone.prior), alone]


def _areas(ranking: HoldoutRanking, name: str) -> Matrix:
    areas: Matrix = ranking.auc[:, :, list(ranking.names).index(name)]
    return areas


def _quality(trial: Trial, ranking: HoldoutRanking, forecasts: Mapping[str, Vector]) -> dict[str, ProbabilityQuality]:
    rows = trial.rows(ranking.users, 0, ranking.times[-1])
    like, (_, place) = trial.table.like[rows], np.unique(trial.table.user[rows], return_inverse=True)
    swipes = np.bincount(place)
    return {
        name: ProbabilityQuality(
            float((np.bincount(place, losses(forecast, like)) / swipes).mean()), calibration_error(forecast, like)
        )
        for name, forecast in forecasts.items()
    }


def counterpart(peer: Peer) -> str:
    """Our learner with no more than the peer has."""
    return WITH_APPEAL if isinstance(peer, IndividualPeer) and peer.appeal else ALONE
