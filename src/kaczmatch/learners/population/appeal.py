"""Appeal: the log-odds with which others have liked a candidate before now, beyond what they like anyway.

A rater r who has liked a share p of everybody so far likes candidate c with log-odds logit p + appeal(c), and appeals spread
around 0 with variance σ². One Newton step from 0 on that posterior gives

    appeal = Σ (y − p) / (Σ p(1 − p) + 1/σ²),   y = 1 for a like and 0 for a pass,

over everybody else's earlier decisions, each counting less as it ages. Somebody who likes everyone has p near 1 and hardly
moves it, either way. p is Laplace's (likes + 1)/(swipes + 2): no population figure enters it, so that nothing of the viewer's
comes back to them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kaczmatch.core.compiled import compiled
from kaczmatch.core.errors import InvalidInput, checked
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.swipes import SwipeLog, microseconds
from kaczmatch.core.vectors import Column, Matrix, Vector, as_column
from kaczmatch.learners.kernels import kept_after
from kaczmatch.learners.logs.grouping import Places, numbered

_NOBODY = -1
_DAY: Final = 86_400.0  # seconds


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Appeal:
    """How appeal is counted; one object for every log and ledger."""

    half_life_days: float = 1825.0  # after how long a decision counts half; infinite: for ever
    spread: float = 1.0  # standard deviation of appeals, in log-odds: few decisions are shrunk towards 0 by it

    def __post_init__(self) -> None:
        checked("half_life_days", self.half_life_days, low=0.0, open_low=True)
        checked("spread", self.spread, low=1e-3, high=1e3)

    @property
    def half_life(self) -> float:
        """In seconds."""
        return self.half_life_days * _DAY

    def ledger(self) -> Ledger:
        """An empty ledger, to be kept as swipes come in."""
        return Ledger(self)

    def before(self, log: SwipeLog | Mapping[str, Any]) -> Vector:
        """The appeal of each row's candidate as known to that row's user then: from others' rows that are strictly earlier."""
        swipes = _timed(SwipeLog.of(log))
        return self._known(swipes, swipes.numbers, swipes.candidate, swipes.at)

    def known(self, log: SwipeLog | Mapping[str, Any], *, viewer: ArrayLike, candidate: ArrayLike, at: ArrayLike) -> Vector:
        """The appeal of candidates (row numbers of the log's) as known to viewers at given moments, one answer a row.

        Who is not a user of the log may ask too. One moment or one viewer does for all rows.
        """
        swipes = _timed(SwipeLog.of(log))
        candidates = as_column(candidate, "candidate")
        if candidates.dtype.kind not in "iu":
            raise InvalidInput("candidate", f"must be row numbers into the log's candidates, got {candidates.dtype}")
        outside = (candidates < 0) | (candidates >= swipes.candidates)
        if outside.any():
            row = int(np.argmax(outside))
            raise InvalidInput("candidate", f"row {row}: {candidates[row]} is not one of the {swipes.candidates} candidates")
        places = {user: place for place, user in enumerate(swipes.users)}
        asked = _one_each(viewer, "viewer", len(candidates)).tolist()
        viewers = np.array([places.get(user, _NOBODY) for user in asked], np.int64)
        return self._known(swipes, viewers, candidates.astype(np.int64), microseconds(_one_each(at, "at", len(candidates))))

    def _known(self, log: _Timed, viewer: Places, candidate: Places, at: Places) -> Vector:
        pairs, pair = np.unique(log.numbers * log.candidates + log.candidate, return_inverse=True)
        wanted = viewer * log.candidates + candidate
        place = np.minimum(np.searchsorted(pairs, wanted), max(len(pairs) - 1, 0))
        own = np.where((viewer != _NOBODY) & (pairs[place] == wanted), place, _NOBODY) if len(pairs) else np.full_like(wanted, -1)
        return _pass(
            np.argsort(log.at, kind="stable"),
            log.at,
            log.numbers,
            log.candidate,
            pair.astype(np.int64),
            log.liked,
            np.zeros((len(log.users), 2)),
            np.zeros((log.candidates, 3)),
            np.zeros((len(pairs), 3)),
            self.half_life,
            self.spread,
            np.argsort(at, kind="stable"),
            at,
            candidate,
            own,
        )


@final
class Ledger:
    """Appeal as swipes come in; made by :meth:`Appeal.ledger`. Equal to :meth:`Appeal.before` on the log of the same swipes."""

    def __init__(self, appeal: Appeal) -> None:
        self.appeal = appeal
        self._rates: dict[Hashable, Vector] = {}  # swipes and likes of each rater
        self._totals: dict[
            Hashable, Vector
        ] = {}  # of each candidate: Σ (y − p), Σ p(1 − p), and the moment they were last aged to
        self._own: dict[tuple[Hashable, Hashable], Vector] = {}  # the part of it that each rater gave

    def of(self, candidate: Hashable, viewer: Hashable, at: datetime | float) -> float:
        """The appeal of `candidate` to `viewer` at a moment: from everything told so far, but for the viewer's own."""
        total, own = self._totals.get(candidate, _NOTHING), self._own.get((viewer, candidate), _NOTHING)
        return log_odds(total, own, _moment(at), self.appeal.half_life, self.appeal.spread)

    def swiped(self, viewer: Hashable, candidate: Hashable, label: Label, at: datetime | float) -> None:
        """Count one decision; each candidate's must come in the order of time."""
        moment, liked = _moment(at), sign(label) > 0.0
        total = self._totals.get(candidate)
        if total is not None and moment < total[2]:
            raise InvalidInput("at", f"{at!r} is before the decision on {candidate!r} told last; tell them in the order of time")
        rate = self._rates.setdefault(viewer, np.zeros(2))
        excess, information = evidence(rate, liked)
        for kept in (self._totals.setdefault(candidate, np.zeros(3)), self._own.setdefault((viewer, candidate), np.zeros(3))):
            count(kept, excess, information, moment, self.appeal.half_life)


_NOTHING = np.zeros(3)


@compiled
def evidence(rate: Vector, liked: bool) -> tuple[float, float]:
    """y − p and p(1 − p) of a rater's decision, which then counts in that rater's rate."""
    p = (rate[1] + 1.0) / (rate[0] + 2.0)
    rate[0] += 1.0
    rate[1] += liked
    return (1.0 if liked else 0.0) - p, p * (1.0 - p)


@compiled
def count(kept: Vector, excess: float, information: float, at: int, half_life: float) -> None:
    keep = kept_after(at - int(kept[2]), half_life)
    kept[0] = keep * kept[0] + excess
    kept[1] = keep * kept[1] + information
    kept[2] = at


@compiled
def log_odds(total: Vector, own: Vector, at: int, half_life: float, spread: float) -> float:
    """The appeal from all evidence less one's own, aged to a moment."""
    keep, keep_own = kept_after(at - int(total[2]), half_life), kept_after(at - int(own[2]), half_life)
    excess = keep * total[0] - keep_own * own[0]
    information = max(0.0, keep * total[1] - keep_own * own[1])
    return float(excess / (information + 1.0 / (spread * spread)))


@compiled
def _pass(
    order: Places,
    at: Places,
    viewer: Places,
    candidate: Places,
    pair: Places,
    liked: NDArray[np.bool_],
    rates: Matrix,
    totals: Matrix,
    own: Matrix,
    half_life: float,
    spread: float,
    asked_order: Places,
    asked_at: Places,
    asked_candidate: Places,
    asked_pair: Places,
) -> Vector:
    """Every question in the order of time, after all decisions that are strictly earlier."""
    nothing = np.zeros(3)
    answers = np.empty(len(asked_at))
    told = 0
    for question in asked_order:
        now = asked_at[question]
        while told < len(order) and at[order[told]] < now:
            i = order[told]
            excess, information = evidence(rates[viewer[i]], liked[i])
            count(totals[candidate[i]], excess, information, at[i], half_life)
            count(own[pair[i]], excess, information, at[i], half_life)
            told += 1
        mine = own[asked_pair[question]] if asked_pair[question] >= 0 else nothing
        answers[question] = log_odds(totals[asked_candidate[question]], mine, now, half_life, spread)
    return answers


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Timed:
    """What appeal needs of a log: who decided on whom, how and when."""

    users: list[Hashable]
    numbers: Places  # of each row's user
    candidate: Places
    candidates: int
    liked: NDArray[np.bool_]
    at: Places


def _timed(log: SwipeLog) -> _Timed:
    if log.row is None:
        raise InvalidInput("candidate", "appeal needs to know who was swiped: give candidate and candidates instead of features")
    if log.at is None:
        raise InvalidInput("at", "appeal counts what was decided before: give the time of each swipe")
    users, numbers = numbered(log.user)
    return _Timed(users, numbers, log.row, len(log.features), log.label > 0.0, log.at)


def _one_each(values: ArrayLike, name: str, rows: int) -> Column:
    column: Column = np.atleast_1d(np.asarray(values)) if np.ndim(values) == 0 else as_column(values, name)
    if len(column) not in (1, rows):
        raise InvalidInput(name, f"has {len(column)} values for {rows} candidates")
    return np.broadcast_to(column, (rows,))


@lru_cache(maxsize=1, typed=True)  # a deck asks about many people at one moment
def _moment(at: datetime | float) -> int:
    return int(microseconds(np.array([at], object))[0])
