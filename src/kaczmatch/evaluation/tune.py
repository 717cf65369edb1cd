"""Settings of a belief learner chosen on a log by what it says before each swipe (progressive likelihood), and checked on other users.

Three groups of users that share nobody: the population's prior is fitted on the first, settings are compared on the second, and what
came out best is compared with the defaults once, on the third.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from kaczmatch.charts.evaluation import tuning_chart
from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Vector
from kaczmatch.evaluation.bootstrap import Interval, Resamples
from kaczmatch.evaluation.calibration import losses
from kaczmatch.evaluation.contenders import fit_log, published_start
from kaczmatch.evaluation.progress import Progress
from kaczmatch.evaluation.trial import Places, Trial, at_most
from kaczmatch.formats.configuration import Configuration
from kaczmatch.learners.belief.gaussian import GaussianLearner
from kaczmatch.learners.logs.progressive import progressive
from kaczmatch.learners.population.appeal import Appeal
from kaczmatch.learners.population.fit import fit_population
from kaczmatch.learners.registry import learner
from kaczmatch.report.results import Figure, Part, Table

MOST_USERS = 400  # in each of the groups
MOST_SWIPES = 1_000  # of a user: the first ones matter
GRID: Mapping[str, Sequence[float]] = {
    "epsilon": (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3),
    "alpha": (0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0),
    "half_life_days": (7.0, 30.0, 90.0, 365.0, 1825.0, math.inf),
    "appeal_half_life_days": (7.0, 30.0, 90.0, 365.0, 1825.0, math.inf),
}
TIMED = ("half_life_days", "appeal_half_life_days")
MATTERS = 0.01  # nats a swipe: a gain below that moves a probability by less than anybody would notice
_FEWEST = 20


@final
@dataclass(frozen=True, slots=True)
class Setup:
    """A learner with its settings, and how appeal is counted."""

    learner: GaussianLearner
    appeal: Appeal

    def value(self, setting: str) -> float:
        return self.appeal.half_life_days if setting == "appeal_half_life_days" else float(getattr(self.learner, setting))

    def with_value(self, setting: str, value: float) -> Setup:
        if setting == "appeal_half_life_days":
            return Setup(self.learner, replace(self.appeal, half_life_days=value))
        return Setup(replace(self.learner, **{setting: value}), self.appeal)  # type: ignore[arg-type]

    def configuration(self) -> Configuration:
        settings = {name: getattr(self.learner, name) for name in GRID if name != "appeal_half_life_days"}
        settings["appeal"] = True
        return Configuration(self.learner.slug, settings, {"half_life_days": self.appeal.half_life_days})


@final
@dataclass(frozen=True, slots=True)
class Tuning:
    """What to use, whether that differs from the defaults, and the part of a report that shows why."""

    configuration: Configuration
    changed: bool
    words: Sequence[str]
    part: Part


def tune(trial: Trial, slug: str, progress: Progress) -> Tuning:
    """The defaults, unless something else says more about users it has not been chosen on."""
    one = learner(slug)
    if not isinstance(one, GaussianLearner):
        raise InvalidInput(
            "learner", f"{slug!r} does not say how likely a like is under these settings; tune 'probit' or 'probit-diag'"
        )
    usual = Setup(replace(one, appeal=True), trial.protocol.appeal)
    chosen_on, checked_on = _groups(trial)
    varied = [name for name in GRID if trial.table.time is not None or name not in TIMED]
    progress.stage(f"tuning {slug}", sum(len(set(GRID[name]) | {usual.value(name)}) for name in varied) + 2)
    known: dict[Setup, Vector] = {}

    def lost(setup: Setup, users: Places) -> Vector:
        if users is not chosen_on:
            return _losses(trial, setup, users)
        if setup not in known:
            known[setup] = _losses(trial, setup, users)
        progress.advance()
        return known[setup]

    best, rows = usual, []
    for name in varied:
        tried = sorted({*GRID[name], usual.value(name)})
        values = np.array([lost(best.with_value(name, value), chosen_on) for value in tried]).T
        drawn = Resamples(values, np.random.default_rng([trial.protocol.seed, 30]))
        base = tried.index(best.value(name))
        lowest = int(np.argmin(values.mean(axis=0)))
        if drawn.difference(lowest, base).below_zero:
            best = best.with_value(name, tried[lowest])
        for column, value in enumerate(tried):
            gap = drawn.difference(column, base)
            role = "default" if column == base else "best" if column == lowest else "tried"
            row = dict(zip(("difference", "low", "high"), (100.0 * number for number in gap), strict=True))
            rows.append({"setting": name, "value": f"{value:g}", **row, "role": role})
    gain = Interval(0.0, 0.0, 0.0)
    if best != usual:
        pair = np.array([_losses(trial, setup, checked_on) for setup in (best, usual)]).T
        gain = Resamples(pair, np.random.default_rng([trial.protocol.seed, 31])).difference(0, 1)
        progress.advance(2)
    changed = gain.below_zero and gain.mean <= -MATTERS
    words = _words(slug, usual, best, gain, changed=changed, users=(len(chosen_on), len(checked_on)))
    return Tuning((best if changed else usual).configuration(), changed, words, _part(rows, varied))


def _groups(trial: Trial) -> tuple[Places, Places]:
    """Tested users in turn: to choose on, to check on."""
    users = trial.tested[np.diff(trial.begin)[trial.tested] > 0]
    if len(users) < 2 * _FEWEST:
        raise InvalidInput(
            "swipes", f"tuning needs {2 * _FEWEST} users beside those the population is fitted on, got {len(users)}"
        )
    return at_most(MOST_USERS, users[::2]), at_most(MOST_USERS, users[1::2])


def _losses(trial: Trial, setup: Setup, users: Places) -> Vector:
    """Each user's mean loss over the first swipes."""
    aged = trial if setup.appeal == trial.protocol.appeal else Trial(trial.table, replace(trial.protocol, appeal=setup.appeal))
    neutral = published_start(setup.learner, trial.table.features.shape[1])
    prior = fit_population(setup.learner, fit_log(aged, MOST_USERS), neutral=neutral)
    rows = aged.rows(users, 0, MOST_SWIPES)
    said = progressive(setup.learner, aged.log.rows(rows), prior=prior)
    place = np.searchsorted(users, aged.table.user[rows])
    return np.asarray(np.bincount(place, losses(said, aged.table.like[rows])) / np.bincount(place))


def _words(slug: str, usual: Setup, best: Setup, gain: Interval, *, changed: bool, users: tuple[int, int]) -> list[str]:
    differing = [f"{name} = {best.value(name):g}" for name in GRID if best.value(name) != usual.value(name)]
    if not differing:
        return [
            f"Keep the defaults of {slug}.",
            f"No other setting says more about the next swipe, beyond error ({users[0]:,} users, paired 95 % intervals).",
        ]
    found = f"{', '.join(differing)}: {gain.mean:+.4f} nats a swipe ({gain.low:+.4f} to {gain.high:+.4f}) on {users[1]:,} users it was not chosen on"
    if changed:
        return [f"Change {slug}: {', '.join(differing)}.", f"Against the defaults, {found}; negative is better."]
    why = f"is real but too small to matter (below {MATTERS:g})" if gain.below_zero else "is within error"
    return [f"Keep the defaults of {slug}.", f"What looked best {why}: {found}."]


def _part(rows: Sequence[Mapping[str, Any]], varied: Sequence[str]) -> Part:
    chart = tuning_chart(rows, settings=varied, title="One setting varied at a time, the others at the best so far")
    caption = "Loss before each swipe, user by user; below the line is better; 95 % intervals, paired bootstrap over users"
    tables = [Table("tuning", "Nats in a hundred swipes over the default", rows, "Negative is better.")]
    words = [
        "Three groups of users that share nobody: the population's prior is fitted on the first, settings are compared on the second by the loss of what "
        "was said before each swipe, and the best is compared with the defaults once, on the third."
    ]
    return Part("tuning", "Settings tried", words, tables, [Figure("tuning", chart, caption)])
