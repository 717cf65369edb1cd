"""Progressive validation: every swipe is predicted before it is learned from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.measures.bootstrap import Interval, Resamples
from kaczmatch.evaluation.measures.calibration import Bin, calibration_error, losses, reliability
from kaczmatch.evaluation.measures.holdout_ranking import APPEAL, OWN_RATE
from kaczmatch.evaluation.protocol.contenders import Contender
from kaczmatch.evaluation.protocol.trial import Places, Trial
from kaczmatch.learners.contract import ProbabilisticLearner
from kaczmatch.learners.logs.replay import progressive_predictions
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner

WARM = 20  # swipes after which probabilities should be calibrated


@final
@dataclass(frozen=True, slots=True, eq=False)
class ProgressiveForecasts:
    """The probability of a like for each swipe of the tested users, predicted before the swipe was learned from."""

    names: Sequence[str]
    probability: Matrix  # contenders x swipes
    like: NDArray[np.bool_]
    user: Places
    number: Places  # the user's swipes before it

    @classmethod
    def joined(cls, parts: Sequence[ProgressiveForecasts]) -> ProgressiveForecasts:
        """Of all swipes of the parts, one part after the other."""
        probability = np.concatenate([one.probability for one in parts], axis=1)
        like, user, number = (
            np.concatenate(each) for each in zip(*((one.like, one.user, one.number) for one in parts), strict=True)
        )
        return cls(parts[0].names, probability, like, user, number)

    def after(self, swipes: int) -> ProgressiveForecasts:
        """Only the forecasts for users with so many swipes."""
        kept = self.number >= swipes
        return ProgressiveForecasts(self.names, self.probability[:, kept], self.like[kept], self.user[kept], self.number[kept])


@final
@dataclass(frozen=True, slots=True)
class ProbabilityScore:
    """How good one contender's probabilities are. Log-loss is in nats per swipe."""

    name: str
    log_loss: Interval
    over_own_rate: Interval  # difference of log-loss from the user's own like rate so far; negative is better
    calibration_error: float
    warm_calibration_error: float  # after WARM swipes
    bins: Sequence[Bin]  # after WARM swipes


@final
@dataclass(frozen=True, slots=True)
class ProbabilityScores:
    """Every contender that predicts probabilities, least log-loss first."""

    scores: Sequence[ProbabilityScore]
    users: int
    swipes: int

    def of(self, name: str) -> ProbabilityScore | None:
        return next((each for each in self.scores if each.name == name), None)


def progressive_forecasts(
    trial: Trial,
    contenders: Sequence[Contender],
    users: Places,
    *,
    advance: Callable[[], None],
    runner: Runner = LocalRunner(1),  # noqa: B008
) -> ProgressiveForecasts:
    """Every contender that predicts probabilities, the user's own like rate so far, and that rate moved by appeal."""
    rows = trial.holdout_rows(users, 0)
    number = rows - trial.begin[trial.table.user[rows]]
    able = [(each, each.learner) for each in contenders if isinstance(each.learner, ProbabilisticLearner)]
    found: dict[str, Vector] = {}
    for (each, _), said in zip(able, runner.results(partial(_predicted, trial, rows), able), strict=True):
        found[each.name] = said
        advance()
    likes = np.concatenate([[0], np.cumsum(trial.table.like)])
    rate = (likes[rows] - likes[rows - number] + 1.0) / (number + 2.0)
    found |= {APPEAL: np.asarray(expit(logit(rate) + trial.appeal_when_swiped[rows])), OWN_RATE: rate}
    return ProgressiveForecasts(
        list(found), np.array(list(found.values())), trial.table.like[rows], trial.table.user[rows], number
    )


def _predicted(trial: Trial, rows: Places, part: tuple[Contender, ProbabilisticLearner]) -> Vector:
    one, learner = part
    return progressive_predictions(learner, one.log(trial).select(rows), prior=one.prior)


def probability_scores(forecasts: ProgressiveForecasts, rng: np.random.Generator) -> ProbabilityScores:
    """Log-loss of each contender with its paired difference from the user's own rate, and calibration."""
    warm = forecasts.after(WARM)
    lost = np.array([losses(each, forecasts.like) for each in forecasts.probability])
    _, place = np.unique(forecasts.user, return_inverse=True)
    swipes = np.bincount(place)
    by_user = np.array([np.bincount(place, each) / swipes for each in lost]).T if len(swipes) else np.empty((0, len(lost)))
    resampled = Resamples(by_user, rng)
    base = list(forecasts.names).index(OWN_RATE)
    scores = [
        ProbabilityScore(
            name,
            resampled.mean(column),
            resampled.difference(column, base),
            calibration_error(forecasts.probability[column], forecasts.like),
            calibration_error(warm.probability[column], warm.like),
            reliability(warm.probability[column], warm.like),
        )
        for column, name in enumerate(forecasts.names)
    ]
    scores.sort(key=lambda score: score.log_loss.mean)
    return ProbabilityScores(scores, len(swipes), len(forecasts.like))
