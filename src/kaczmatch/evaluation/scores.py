"""What follows from the table of predictions: measures with bootstrap intervals over users, calibration, and what to use."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, final

import numpy as np
from scipy.special import ndtri

from kaczmatch.core.ranking_metrics import AUC
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.contenders import APPEAL, EXPECTED, OWN_RATE, Contender
from kaczmatch.evaluation.predictions import Flags, Predictions
from kaczmatch.evaluation.trial import Places

RESAMPLES = 2_000
BINS = 10
WARM = 20  # swipes after which probabilities should be calibrated
MATTERS = 0.01  # nats per swipe: a difference below that moves a probability by less than a reader would notice
FAR_SMALLER = 4  # times: where two are within error of each other, that much memory decides
_DRAWN_AT_ONCE = 4_000_000  # counts held in memory
_SUREST = 1e-12


class Interval(NamedTuple):
    """A mean and the middle 95 % of its resamples."""

    mean: float
    low: float
    high: float

    @property
    def above_zero(self) -> bool:
        return self.low > 0.0

    @property
    def below_zero(self) -> bool:
        return self.high < 0.0


@final
class Scores:
    """A measure of every contender after each number of swipes, by user: NaN where a user cannot be tested.

    Each number of swipes has all users who can be tested there. Resamples are of users, the same ones for all contenders and
    numbers of swipes, which pairs them.
    """

    def __init__(self, names: Sequence[str], times: Sequence[int], values: Matrix, seed: Sequence[int]) -> None:
        self.names, self.times, self.values, self._seed = list(names), list(times), values, seed
        self.tested: Flags = np.asarray(np.isfinite(values).all(axis=2))  # times x users
        users = values.shape[1]
        rng, step = np.random.default_rng(list(seed)), max(1, _DRAWN_AT_ONCE // max(users, 1))
        filled = np.where(self.tested[:, :, None], values, 0.0)
        parts = []
        with np.errstate(invalid="ignore"):
            self._mean: Matrix = filled.sum(axis=1) / self.tested.sum(axis=1)[:, None]
            for first in range(0, RESAMPLES if users else 0, step):
                counts = rng.multinomial(users, np.full(users, 1.0 / users), min(step, RESAMPLES - first)).astype(np.float64)
                sums = [counts @ each / (counts @ tested)[:, None] for each, tested in zip(filled, self.tested, strict=True)]
                parts.append(np.stack(sums, axis=1))
        self._drawn: Matrix = np.concatenate(parts) if parts else np.full((1, len(times), len(names)), np.nan)
        self._reach = cache(self._find_reach)

    def heaviest(self) -> Scores:
        """Of those who can be tested at the largest number of swipes, and are at all others, alone."""
        return Scores(self.names, self.times, self.values[:, self.tested.all(axis=0)], self._seed)

    def users(self, place: int = 0) -> int:
        return int(self.tested[place].sum())

    def column(self, name: str) -> int:
        return self.names.index(name)

    def at(self, place: int, name: str) -> Interval:
        """After times[place] swipes."""
        column = self.column(name)
        return _interval(self._mean[place, column], self._drawn[:, place, column])

    def difference(self, place: int, name: str, other: str) -> Interval:
        """One minus the other, user by user, after times[place] swipes."""
        one, two = self.column(name), self.column(other)
        return _interval(self._mean[place, one] - self._mean[place, two], self._apart(other)[:, place, one])

    def together(self, place: int, name: str, other: str) -> Interval:
        """The same, simultaneous: with 95 % probability all intervals around one `other` hold, of every contender and number of
        swipes (Hothorn, Bretz, Westfall 2008)."""
        one = self.column(name)
        mean = float(self._mean[place, one] - self._mean[place, self.column(other)])
        reach = self._reach(other) * float(_known(np.nanstd, self._apart(other)[:, place, one]))
        return Interval(mean, mean - reach, mean + reach)

    def beats(self, place: int, name: str, other: str, among: int) -> bool:
        """Whether what was picked from so many is above the other by more than the luck of the best of them (Bonferroni)."""
        one = self.column(name)
        spread = float(_known(np.nanstd, self._apart(other)[:, place, one]))
        return bool(self._mean[place, one] - self._mean[place, self.column(other)] > float(ndtri(1.0 - 0.025 / among)) * spread)

    def best(self, place: int, names: Sequence[str]) -> str:
        return max(names, key=lambda name: self._mean[place, self.column(name)])

    def ordered(self, names: Sequence[str]) -> list[str]:
        """By the mean over numbers of swipes: an order for tables, and no verdict."""
        return sorted(names, key=lambda name: -float(_known(np.nanmean, self._mean[:, self.column(name)])))

    def _apart(self, other: str) -> Matrix:
        return self._drawn - self._drawn[:, :, [self.column(other)]]

    def _find_reach(self, other: str) -> float:
        apart, mean = self._apart(other), self._mean - self._mean[:, [self.column(other)]]
        spread = _known(np.nanstd, apart, axis=0)
        deviations = np.abs(apart - mean) / np.where(spread > 0.0, spread, np.inf)
        return float(_known(np.nanquantile, _known(np.nanmax, deviations, axis=(1, 2)), 0.95))


def _known(measure: Callable[..., Any], *values: Any, **where: Any) -> Any:
    """Of the numbers that there are: NaN, without a warning, where there are none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return measure(*values, **where)


def _interval(mean: float, drawn: Vector) -> Interval:
    low, high = _known(np.nanquantile, drawn, (0.025, 0.975))
    return Interval(float(mean), float(low), float(high))


class Bin(NamedTuple):
    """The swipes whose probability fell into one tenth."""

    predicted: float
    observed: float
    swipes: int
    low: float  # 95 % interval of what was observed (Wilson)
    high: float


def losses(probability: Vector, like: Flags) -> Vector:
    """Nats lost on each swipe."""
    likely = np.clip(probability, _SUREST, 1.0 - _SUREST)
    return -np.log(np.where(like, likely, 1.0 - likely))


def reliability(probability: Vector, like: Flags) -> list[Bin]:
    """Ten bins of equal width, the empty ones left out."""
    place = np.minimum((probability * BINS).astype(np.int64), BINS - 1)
    inside = [place == one for one in range(BINS)]
    return [
        Bin(
            float(probability[some].mean()),
            float(like[some].mean()),
            int(some.sum()),
            *_wilson(float(like[some].mean()), some.sum()),
        )
        for some in inside
        if some.any()
    ]


def calibration_error(bins: Sequence[Bin]) -> float:
    """Mean distance of predicted and observed over the bins, weighted by their swipes."""
    total = sum(one.swipes for one in bins)
    return sum(one.swipes * abs(one.predicted - one.observed) for one in bins) / total if total else math.nan


def _wilson(share: float, n: int) -> tuple[float, float]:
    z = 1.959964
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return middle - half, middle + half


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


def probability_scores(table: Predictions, seed: Sequence[int], upto: int = 1 << 62) -> list[ProbabilityScore]:
    """Of every contender that predicts each user's swipes, or the first so many; least log-loss first."""
    rows = np.flatnonzero(table.ahead & (table.t < upto))
    like, warm, user = table.like[rows], table.t[rows] >= WARM, np.unique(table.user[rows], return_inverse=True)[1]
    said = {name: column[rows] for name, column in table.said.items() if np.isfinite(column[rows]).all()}
    by_user = np.array([np.bincount(user, losses(each, like)) / np.bincount(user) for each in said.values()]).T
    scores = Scores(list(said), [0], by_user.reshape(1, -1, len(said)), seed)
    found = []
    for name, each in said.items():
        bins = reliability(each[warm], like[warm])
        errors = calibration_error(reliability(each, like)), calibration_error(bins)
        found.append(ProbabilityScore(name, scores.at(0, name), scores.difference(0, name, OWN_RATE), *errors, bins))
    return sorted(found, key=lambda score: score.log_loss.mean)


@final
@dataclass(frozen=True, slots=True)
class Recommendation:
    """`chosen` is what to use: appeal alone where it is not `proven` that any learner beats that."""

    chosen: str
    best: str  # nowhere far behind; `chosen` may be far smaller and within error of it
    proven: bool


def recommend(scores: Scores, contenders: Sequence[Contender], log_loss: Mapping[str, float]) -> Recommendation:
    """What is proven somewhere, and of that what is nowhere far behind the best; or what is within error of it at every number of
    swipes, and far smaller. Bytes are never paid for with log-loss."""
    sizes = {each.name: each.bytes_per_user for each in contenders if each.learns}
    places = range(len(scores.times))

    def proven(name: str) -> bool:
        among = len(places) * (1 if name in EXPECTED else len(scores.names))
        return any(all(scores.beats(place, name, other, among) for other in (APPEAL, OWN_RATE)) for place in places)

    def behind(name: str) -> float:
        return max(-scores.difference(place, name, scores.best(place, good)).mean for place in places)

    good = [name for name in sizes if proven(name)]
    if not good:
        good = list(sizes)
        return Recommendation(APPEAL, min(good, key=behind), False)
    best = min(good, key=behind)
    small = [
        name
        for name in good
        if FAR_SMALLER * sizes[name] <= sizes[best]
        and not any(scores.difference(place, best, name).above_zero for place in places)
        and (best not in log_loss or log_loss.get(name, math.inf) < log_loss[best] + MATTERS)
    ]
    return Recommendation(min(small, key=behind) if small else best, best, True)


def ranking_scores(
    table: Predictions, names: Sequence[str], times: Sequence[int], seed: Sequence[int], measure: int = AUC, **which: bool
) -> Scores:
    users: Places = np.unique(table.user)
    return Scores(names, times, table.by_user(names, times, users, measure, **which), seed)
