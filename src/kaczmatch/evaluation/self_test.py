"""The check of the test itself: with shuffled decisions there is nothing to learn, and every AUC must be 0.5.

The decisions of each tested user are shuffled among that user's swipes, as often as it takes to know the AUC of every contender
to within `HALF_WIDTH`. Two things make that affordable, and neither moves a mean:

- What was fitted on other users is kept. It must not depend on the tested ones; a few refits on shuffled decisions measure by how
  much it does, and that difference is added (multilevel Monte Carlo; Giles 2008).
- A shuffle may happen to agree with tags or with popularity, which lifts every contender. The predictions from the real decisions
  show by how much: judged by shuffled decisions their AUC is 0.5 on average, whatever they know (a control variate).

Users are the clusters: each counts with one mean over numbers of swipes and shuffles. The intervals hold for all contenders at
once (Bonferroni), and are wrong in at most one run of a thousand. How many shuffles there are depends on their width alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal, NamedTuple, Protocol, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from kaczmatch.core.ranking_metrics import AUC, judged
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.contenders import Baseline, Contender, Fold, Source
from kaczmatch.evaluation.predictions import TOP, group_bounds, predict, rounded
from kaczmatch.evaluation.scores import Interval
from kaczmatch.evaluation.trial import Places, Trial, at_most
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner

HALF_WIDTH: Final = 0.006  # the widest that may say "sound"
FALSE_ALARMS: Final = 0.001  # of all contenders together
MOST_SHUFFLES: Final = 200
MOST_REFITS: Final = 10
MOST_USERS = 1_000  # of a fold

_SHUFFLES: Final = 8  # at once; the first ones say how many it takes

Verdict = Literal["sound", "leak", "cannot tell"]
Areas = NDArray[np.float64]  # AUC minus 0.5: shuffles x users x contenders
Refit = Callable[[Fold, Trial], Sequence[Source]]


class Progress(Protocol):
    """Takes stages of a known number of steps, one after the other."""

    def stage(self, what: str, steps: int) -> None: ...

    def advance(self, steps: int = 1) -> None: ...


@final
@dataclass(frozen=True, slots=True)
class ShuffledScore:
    """One contender's mean AUC over users and numbers of swipes, on shuffled decisions."""

    name: str
    auc: Interval

    @property
    def half_width(self) -> float:
        return (self.auc.high - self.auc.low) / 2.0

    @property
    def verdict(self) -> Verdict:
        if self.auc.low > 0.5 or self.auc.high < 0.5:
            return "leak"
        return "sound" if self.half_width <= HALF_WIDTH else "cannot tell"


@final
@dataclass(frozen=True, slots=True)
class ShuffledCheck:
    """Every contender on shuffled decisions."""

    scores: Sequence[ShuffledScore]
    users: int
    shuffles: int

    @property
    def verdict(self) -> Verdict:
        found = {each.verdict for each in self.scores}
        return "leak" if "leak" in found else "cannot tell" if "cannot tell" in found else "sound"

    @property
    def farthest(self) -> ShuffledScore:
        """The one that is farthest from 0.5; one that leaks, if any does."""
        return max(self.scores, key=lambda each: (each.verdict == "leak", abs(each.auc.mean - 0.5)))

    @property
    def widest(self) -> float:
        """The largest half-width."""
        return max(each.half_width for each in self.scores)


def shuffled_trial(trial: Trial, number: int) -> Trial:
    """The same swipes, with the decisions of each user who is not fitted on in a random order."""
    rng = np.random.default_rng([trial.protocol.seed, 3, number])
    table = trial.table
    order = np.lexsort((rng.random(len(table)), table.user))
    return replace(trial, table=replace(table, like=np.where(trial.fit[table.user], table.like, table.like[order])))


def shuffled_check(
    folds: Sequence[Fold], refit: Refit, times: Sequence[int], progress: Progress, runner: Runner
) -> ShuffledCheck:
    """As many shuffles as it takes; `refit` fits a fold's sources again in a shuffled trial."""
    folds = [_learning(one) for one in folds]
    users = [at_most(MOST_USERS, fold.trial.tested) for fold in folds]
    names = [each.name for each in folds[0].sources]
    mutual = folds[0].trial.knowledge == "mature"
    found = _Found(*(np.empty((0, sum(map(len, users)), len(names))) for _ in range(3)))
    shuffles, refits = _SHUFFLES, 1
    while True:
        more = range(len(found.kept), shuffles), range(len(found.refitted), refits)
        progress.stage("shuffled decisions", sum(map(len, more)) * len(folds))
        parts = [_of_fold(*each, refit, times, *more, progress, runner) for each in zip(folds, users, strict=True)]
        joined = (np.concatenate(each, axis=1) for each in zip(*parts, strict=True))
        found = _Found(*(np.concatenate(each) for each in zip(found, joined, strict=True)))
        check = found.check(names, mutual=mutual)
        shuffles, refits = found.wanted(mutual=mutual)
        enough = (shuffles, refits) == (len(found.kept), len(found.refitted))
        if check.widest <= HALF_WIDTH or shuffles > MOST_SHUFFLES or enough:
            return check


class _Found(NamedTuple):
    """Mean areas over numbers of swipes; NaN where a user could not be tested."""

    kept: Areas  # with what was fitted on the real decisions
    control: Areas  # of the predictions from the real decisions, judged by the shuffled ones
    refitted: Areas  # of the first shuffles, with what was fitted on them

    def check(self, names: Sequence[str], *, mutual: bool) -> ShuffledCheck:
        values = self._of_users() + self._of_refits()
        means, reach = 0.5 + values.mean(axis=0), half_widths(values, mutual=mutual)
        scores = [
            ShuffledScore(name, Interval(float(mean), float(mean - width), float(mean + width)))
            for name, mean, width in zip(names, means, reach, strict=True)
        ]
        return ShuffledCheck(scores, len(values), len(self.kept))

    def wanted(self, *, mutual: bool) -> tuple[int, int]:
        """How many shuffles and refits would do, at the spread so far. Without a leak, refits do not differ, and one of them does."""
        done, refits = len(self.kept), len(self.refitted)
        ranked, fitted = (float(half_widths(each, mutual=mutual).max()) for each in (self._of_users(), self._of_refits()))
        if not math.isfinite(ranked):
            return MOST_SHUFFLES + 1, refits
        more = max(refits, min(math.ceil(refits * (2.0 * fitted / HALF_WIDTH) ** 2), MOST_REFITS))
        room = max(HALF_WIDTH**2 - fitted**2 * refits / more, HALF_WIDTH**2 / 2.0)
        return max(done, math.ceil(1.1 * done * ranked**2 / room)), more

    @property
    def _tested(self) -> NDArray[np.bool_]:
        return np.asarray(np.isfinite(self.kept).any(axis=(0, 2)))

    def _of_users(self) -> Matrix:
        """Each user's mean over shuffles, less what the control says was luck."""
        kept, control = self.kept[:, self._tested], self.control[:, self._tested]
        known = np.isfinite(kept)
        kept, control = np.where(known, kept, 0.0), np.where(known, control, 0.0)
        slope = ((kept - kept.mean(axis=(0, 1))) * control).sum(axis=(0, 1)) / np.maximum((control**2).sum(axis=(0, 1)), 1e-12)
        return np.asarray((kept - slope * control).sum(axis=0) / known.sum(axis=0))

    def _of_refits(self) -> Matrix:
        return np.asarray(np.nan_to_num((self.refitted - self.kept[: len(self.refitted)])[:, self._tested]).mean(axis=0))


def half_widths(values: Matrix, *, mutual: bool) -> Vector:
    """Of the means over users.

    Given all that is known to others, a user's held-out decisions are in random order, so two users' areas are uncorrelated. Only
    if two users hear of each other's held-out decisions (`mature`) do both rise where they agree. Each pair then counts twice, which
    at most doubles the variance of the mean.
    """
    users, contenders = values.shape
    if users < 2:
        return np.full(contenders, np.inf)
    quantile = float(stdtrit(users - 1, 1.0 - FALSE_ALARMS / (2.0 * contenders)))
    return np.asarray(quantile * values.std(axis=0, ddof=1) * math.sqrt((2.0 if mutual else 1.0) / users))


def _of_fold(
    fold: Fold,
    users: Places,
    refit: Refit,
    times: Sequence[int],
    shuffles: range,
    refits: range,
    progress: Progress,
    runner: Runner,
) -> _Found:
    nothing = np.empty((0, len(users), len(fold.sources)))
    kept, control, added = [nothing], [nothing], [nothing]
    parts = [shuffles[first : first + _SHUFFLES] for first in range(0, len(shuffles), _SHUFFLES)]
    ranked = runner.results(partial(_of_shuffles, fold, times, users), parts)
    for part, (own, real) in zip(parts, ranked, strict=True):
        kept.append(own)
        control.append(real)
        progress.advance(len(part))
    for number in refits:
        trial = shuffled_trial(fold.trial, number)
        added.append(_areas(_learning(Fold(trial, refit(fold, trial))), times, users)[None])
        progress.advance()
    return _Found(*map(np.concatenate, (kept, control, added)))


def _of_shuffles(fold: Fold, times: Sequence[int], users: Places, numbers: range) -> tuple[Areas, Areas]:
    """`kept` and `control` of some shuffles."""
    trials = [shuffled_trial(fold.trial, number) for number in numbers]
    kept = [_areas(Fold(trial, fold.sources), times, users) for trial in trials]
    return np.stack(kept), np.stack(_all_areas(fold, times, users, trials))


def _learning(fold: Fold) -> Fold:
    """Without pooled models, which take too long to ask again and again: tests see to it that they do not peek."""
    sources = [each for each in fold.sources if isinstance(each, Contender | Baseline)]
    return Fold(fold.trial, [each for each in sources if isinstance(each, Baseline) or each.learns])


def _areas(fold: Fold, times: Sequence[int], users: Places) -> Areas:
    return _all_areas(fold, times, users, [fold.trial])[0]


def _all_areas(fold: Fold, times: Sequence[int], users: Places, judges: Sequence[Trial]) -> list[Areas]:
    """Each user's mean over numbers of swipes of what is predicted in a fold, judged by the decisions of each of the trials."""
    table = predict(fold.trial, fold.sources, times, users, LocalRunner(1), ahead=False)
    begin = group_bounds(table.user, table.t)
    place = np.searchsorted(users, table.user[begin[:-1]])
    found = [np.full((len(users), len(fold.sources)), np.nan) for _ in judges]
    for column, said in enumerate(table.said.values()):
        scores = rounded(said)
        for trial, areas in zip(judges, found, strict=True):
            area = judged(scores, trial.table.like[table.row], begin, AUC, TOP)
            known = np.isfinite(area)
            counts = np.bincount(place[known], minlength=len(users))
            sums = np.bincount(place[known], area[known] - 0.5, minlength=len(users))
            areas[counts > 0, column] = sums[counts > 0] / counts[counts > 0]
    return found
