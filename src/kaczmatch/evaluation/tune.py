"""Settings of a belief learner, chosen on a log by progressive validation and checked on other users.

There are three groups of users, and nobody is in two. The population's prior is fitted on the first group. Settings are compared on the
second. The best is compared with the defaults once, on the third.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, final

import numpy as np

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Vector
from kaczmatch.evaluation.measures.bootstrap import Interval, Resamples
from kaczmatch.evaluation.measures.calibration import MATTERS, losses
from kaczmatch.evaluation.protocol.contenders import fit_log, published_start
from kaczmatch.evaluation.protocol.progress import Progress
from kaczmatch.evaluation.protocol.trial import Places, Trial, at_most
from kaczmatch.formats.configuration import Configuration
from kaczmatch.learners.belief.gaussian import Probit, ProbitDiagonal
from kaczmatch.learners.logs.replay import progressive_predictions
from kaczmatch.learners.population.appeal import AppealModel
from kaczmatch.learners.population.prior_fit import fit_prior
from kaczmatch.learners.registry import learner
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner

MOST_USERS = 400  # in each of the groups
MOST_SWIPES = 1_000  # per user: the first ones matter
GRID: Mapping[str, Sequence[float]] = {
    "label_noise": (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3),
    "alpha": (0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0),
    "half_life_days": (7.0, 30.0, 90.0, 365.0, 1825.0, math.inf),
    "appeal_half_life_days": (7.0, 30.0, 90.0, 365.0, 1825.0, math.inf),
}
TIMED = ("half_life_days", "appeal_half_life_days")
_FEWEST = 20


@final
@dataclass(frozen=True, slots=True)
class Setup:
    """A learner with its settings, and how appeal is counted."""

    learner: Probit | ProbitDiagonal
    appeal: AppealModel

    def value(self, setting: str) -> float:
        return self.appeal.half_life_days if setting == "appeal_half_life_days" else float(getattr(self.learner, setting))

    def with_value(self, setting: str, value: float) -> Setup:
        if setting == "appeal_half_life_days":
            return Setup(self.learner, replace(self.appeal, half_life_days=value))
        return Setup(replace(self.learner, **{setting: value}), self.appeal)  # type: ignore[arg-type]

    def configuration(self) -> Configuration:
        return Configuration.of(self.learner, self.appeal)


@final
@dataclass(frozen=True, slots=True)
class SettingTrial:
    """One value of one setting, with the loss of every other setting at its best so far."""

    setting: str
    value: float
    difference: Interval  # nats per swipe from the value in use; negative is better
    role: Literal["default", "best", "tried"]


@final
@dataclass(frozen=True, slots=True)
class TuningResult:
    """What to use, whether that differs from the defaults, and what was measured."""

    default: Setup
    best: Setup  # by the users that settings were compared on
    trials: Sequence[SettingTrial]
    varied: Sequence[str]  # settings in the order in which they were varied
    gain: Interval  # nats per swipe of the best over the default, on users it was not chosen on; negative is better
    compared_on: int  # users
    checked_on: int  # users

    @property
    def changed(self) -> bool:
        """Whether the gain is beyond error and large enough to matter."""
        return self.gain.below_zero and self.gain.mean <= -MATTERS

    @property
    def configuration(self) -> Configuration:
        return (self.best if self.changed else self.default).configuration()


def tune(
    trial: Trial,
    slug: str,
    progress: Progress,
    runner: Runner = LocalRunner(1),  # noqa: B008
) -> TuningResult:
    """The defaults, unless another setting predicts users better that it was not chosen on. Each value is a part."""
    one = learner(slug)
    if not isinstance(one, Probit | ProbitDiagonal):
        raise InvalidInput(
            "learner", f"{slug!r} does not say how likely a like is under these settings; tune 'probit' or 'probit-diag'"
        )
    default = Setup(replace(one, appeal=True), trial.protocol.appeal)
    compared_on, checked_on = _groups(trial)
    varied = [name for name in GRID if trial.moments is not None or name not in TIMED]
    progress.stage(f"tuning {slug}", sum(len(set(GRID[name]) | {default.value(name)}) for name in varied) + 2)
    known: dict[Setup, Vector] = {}

    def lost(setups: Sequence[Setup]) -> list[Vector]:
        new = [setup for setup in setups if setup not in known]
        progress.advance(len(setups) - len(new))
        for setup, lost_by_it in zip(new, runner.results(partial(_losses, trial, compared_on), new), strict=True):
            known[setup] = lost_by_it
            progress.advance()
        return [known[setup] for setup in setups]

    best, trials = default, list[SettingTrial]()
    for name in varied:
        tried = sorted({*GRID[name], default.value(name)})
        values = np.array(lost([best.with_value(name, value) for value in tried])).T
        resampled = Resamples(values, np.random.default_rng([trial.protocol.seed, 30]))
        base = tried.index(best.value(name))
        lowest = int(np.argmin(values.mean(axis=0)))
        if resampled.difference(lowest, base).below_zero:
            best = best.with_value(name, tried[lowest])
        for column, value in enumerate(tried):
            role: Literal["default", "best", "tried"] = "default" if column == base else "best" if column == lowest else "tried"
            trials.append(SettingTrial(name, value, resampled.difference(column, base), role))
    gain = Interval(0.0, 0.0, 0.0)
    if best != default:
        pair = np.array(list(runner.results(partial(_losses, trial, checked_on), (best, default)))).T
        gain = Resamples(pair, np.random.default_rng([trial.protocol.seed, 31])).difference(0, 1)
        progress.advance(2)
    return TuningResult(default, best, trials, varied, gain, len(compared_on), len(checked_on))


def _groups(trial: Trial) -> tuple[Places, Places]:
    """Tested users in turn: to compare settings on, to check the best on."""
    users = trial.tested[np.diff(trial.begin)[trial.tested] > 0]
    if len(users) < 2 * _FEWEST:
        raise InvalidInput(
            "swipes", f"tuning needs {2 * _FEWEST} users beside those the population is fitted on, got {len(users)}"
        )
    return at_most(MOST_USERS, users[::2]), at_most(MOST_USERS, users[1::2])


def _losses(trial: Trial, users: Places, setup: Setup) -> Vector:
    """Each user's mean loss over the first swipes."""
    aged = trial if setup.appeal == trial.protocol.appeal else Trial(trial.table, replace(trial.protocol, appeal=setup.appeal))
    neutral = published_start(setup.learner, trial.table.features.shape[1])
    prior = fit_prior(setup.learner, fit_log(aged, MOST_USERS), neutral=neutral)
    rows = aged.rows(users, 0, MOST_SWIPES)
    forecast = progressive_predictions(setup.learner, aged.log.select(rows), prior=prior)
    place = np.searchsorted(users, aged.table.user[rows])
    return np.asarray(np.bincount(place, losses(forecast, aged.table.like[rows])) / np.bincount(place))
