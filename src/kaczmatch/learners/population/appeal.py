"""Appeal: the log-odds with which others have liked a candidate before now, beyond what they like anyway.

A rater who has liked a share p of all candidates so far likes candidate c with log-odds logit p + appeal(c). Appeals spread
around 0 with variance σ². One Newton step from 0 on that posterior gives

    appeal = Σ (y − p) / (Σ p(1 − p) + 1/σ²),   y = 1 for a like and 0 for a pass,

over the earlier decisions of all raters but the viewer. A decision counts less as it ages. A rater who likes everyone has p near
1 and hardly moves the sum. p is Laplace's (likes + 1)/(swipes + 2), from that rater's swipes alone: no population average enters
it, so nothing that the viewer did can come back in it.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kaczmatch.core.compiled import compiled, compiled_short
from kaczmatch.core.errors import InvalidInput, check_number
from kaczmatch.core.labels import Label, sign
from kaczmatch.core.moments import microsecond, microseconds
from kaczmatch.core.swipes import AnyLog, SwipeLog
from kaczmatch.core.vectors import Column, Integers, Matrix, Vector, as_column
from kaczmatch.learners.kernels import decay_factor
from kaczmatch.learners.logs.fold import user_numbers

_DAY: Final = 86_400.0  # seconds


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AppealModel:
    """How appeal is estimated. One object serves all logs and trackers."""

    half_life_days: float = 1825.0  # the age at which a decision counts half; infinite: decisions never age
    spread: float = 1.0  # standard deviation σ of appeals, in log-odds; a small σ shrinks appeals from few decisions towards 0

    def __post_init__(self) -> None:
        check_number("half_life_days", self.half_life_days, low=0.0, open_low=True)
        check_number("spread", self.spread, low=1e-3, high=1e3)

    @property
    def half_life(self) -> float:
        """In seconds."""
        return self.half_life_days * _DAY

    def tracker(self) -> AppealTracker:
        """An empty tracker, to be updated as swipes come in."""
        return AppealTracker(self)

    def before_swipes(self, log: AnyLog) -> Vector:
        """The appeal of each row's candidate to its user just before the swipe, from earlier rows of other users."""
        swipes = SwipeLog.of(log)
        candidate, at = swipes.candidates_and_times()
        _, user = user_numbers(swipes.user)
        return self._before(swipes, user, viewer=user, candidate=candidate, at=at)

    def at_moments(self, log: AnyLog, *, viewer: ArrayLike, candidate: ArrayLike, at: ArrayLike) -> Vector:
        """The appeal of candidates (row numbers of the log's candidates) to viewers at given moments, one value per row.

        A viewer need not be a user of the log. A single moment or viewer stands for all rows.
        """
        swipes, candidates = SwipeLog.of(log), as_column(candidate, "candidate")
        swipes.candidates_and_times()
        if candidates.dtype.kind not in "iu":
            raise InvalidInput("candidate", f"must be row numbers into the log's candidates, got {candidates.dtype}")
        outside = (candidates < 0) | (candidates >= len(swipes.features))
        if outside.any():
            row = int(np.argmax(outside))
            raise InvalidInput("candidate", f"row {row}: {candidates[row]} is not one of the {len(swipes.features)} candidates")
        names, user = user_numbers(swipes.user)
        numbers = {name: number for number, name in enumerate(names)}
        viewers = np.array([numbers.get(one, -1) for one in _one_each(viewer, "viewer", len(candidates)).tolist()], np.int64)
        moments = microseconds(_one_each(at, "at", len(candidates)))
        return self._before(swipes, user, viewer=viewers, candidate=candidates.astype(np.int64), at=moments)

    def _before(self, log: SwipeLog, user: Integers, *, viewer: Integers, candidate: Integers, at: Integers) -> Vector:
        rated, when = log.candidates_and_times()
        many = len(log.features)
        pairs, pair = np.unique(user * many + rated, return_inverse=True)
        return _answer_in_order(
            np.argsort(when, kind="stable"),
            when,
            user,
            rated,
            pair.astype(np.int64),
            log.label > 0.0,
            np.zeros((int(user.max(initial=-1)) + 1, 2)),
            np.zeros((many, 3)),
            np.zeros((len(pairs) + 1, 3)),  # the last is of pairs without a decision
            self.half_life,
            self.spread,
            np.argsort(at, kind="stable"),
            at,
            candidate,
            pair_places(pairs, np.where(viewer < 0, -1, viewer * many + candidate)),
        )


@final
class AppealTracker:
    """Appeal as swipes come in; made by :meth:`AppealModel.tracker`.

    Gives the same values as :meth:`AppealModel.before_swipes` on the log of the same swipes.
    """

    def __init__(self, appeal: AppealModel) -> None:
        self.model = appeal
        self._rates: dict[Hashable, Vector] = {}  # swipes and likes of each rater
        # Of each candidate Σ (y − p), Σ p(1 − p), and the moment they were last aged to; then the part of it from each rater.
        self._totals: dict[Hashable, Vector] = {}
        self._own: dict[tuple[Hashable, Hashable], Vector] = {}

    def appeal_of(self, candidate: Hashable, viewer: Hashable, at: datetime | float) -> float:
        """The appeal of `candidate` to `viewer` at a moment: from all decisions recorded so far but the viewer's own."""
        total, own = self._totals.get(candidate, _NOTHING), self._own.get((viewer, candidate), _NOTHING)
        return appeal_log_odds(total, own, _moment(at), self.model.half_life, self.model.spread)

    def record(self, viewer: Hashable, candidate: Hashable, label: Label, at: datetime | float) -> None:
        """Record one decision. The decisions on a candidate must come in order of time."""
        moment, liked = _moment(at), sign(label) > 0.0
        total = self._totals.get(candidate)
        if total is not None and moment < total[2]:
            raise InvalidInput(
                "at", f"{at!r} is before the last decision recorded on {candidate!r}; record them in the order of time"
            )
        rate = self._rates.setdefault(viewer, np.zeros(2))
        excess, information = decision_evidence(rate, liked)
        for kept in (self._totals.setdefault(candidate, np.zeros(3)), self._own.setdefault((viewer, candidate), np.zeros(3))):
            add_evidence(kept, excess, information, moment, self.model.half_life)


_NOTHING = np.zeros(3)


@compiled_short
def decision_evidence(rate: Vector, liked: bool) -> tuple[float, float]:
    """y − p and p(1 − p) of a rater's decision. The decision then counts in that rater's rate."""
    p = (rate[1] + 1.0) / (rate[0] + 2.0)
    rate[0] += 1.0
    rate[1] += liked
    return (1.0 if liked else 0.0) - p, p * (1.0 - p)


@compiled_short
def add_evidence(kept: Vector, excess: float, information: float, at: int, half_life: float) -> None:
    keep = decay_factor(at - int(kept[2]), half_life)
    kept[0] = keep * kept[0] + excess
    kept[1] = keep * kept[1] + information
    kept[2] = at


@compiled_short
def appeal_log_odds(total: Vector, own: Vector, at: int, half_life: float, spread: float) -> float:
    """The appeal from all evidence minus the viewer's own, aged to a moment."""
    keep, keep_own = decay_factor(at - int(total[2]), half_life), decay_factor(at - int(own[2]), half_life)
    excess = keep * total[0] - keep_own * own[0]
    information = max(0.0, keep * total[1] - keep_own * own[1])
    return float(excess / (information + 1.0 / (spread * spread)))


@compiled
def _answer_in_order(
    order: Integers,
    at: Integers,
    viewer: Integers,
    candidate: Integers,
    pair: Integers,
    liked: NDArray[np.bool_],
    rates: Matrix,
    totals: Matrix,
    own: Matrix,
    half_life: float,
    spread: float,
    asked_order: Integers,
    asked_at: Integers,
    asked_candidate: Integers,
    asked_pair: Integers,
) -> Vector:
    """Answer questions in order of time, each after all decisions that are strictly earlier."""
    answers = np.empty(len(asked_at))
    counted = 0
    for question in asked_order:
        now = asked_at[question]
        while counted < len(order) and at[order[counted]] < now:
            i = order[counted]
            excess, information = decision_evidence(rates[viewer[i]], liked[i])
            add_evidence(totals[candidate[i]], excess, information, at[i], half_life)
            add_evidence(own[pair[i]], excess, information, at[i], half_life)
            counted += 1
        one = asked_candidate[question]
        answers[question] = appeal_log_odds(totals[one], own[asked_pair[question]], now, half_life, spread)
    return answers


def pair_places(pairs: Integers, wanted: Integers) -> Integers:
    """Where each wanted pair stands among the sorted pairs; one past the end where it does not."""
    place = np.searchsorted(pairs, wanted)
    known = np.append(pairs, -1)[place] == wanted
    return np.where(known & (wanted >= 0), place, len(pairs)).astype(np.int64)


def _one_each(values: ArrayLike, name: str, rows: int) -> Column:
    column: Column = np.atleast_1d(np.asarray(values)) if np.ndim(values) == 0 else as_column(values, name)
    if len(column) not in (1, rows):
        raise InvalidInput(name, f"has {len(column)} values for {rows} candidates")
    return np.broadcast_to(column, (rows,))


@lru_cache(maxsize=1, typed=True)  # a deck asks about many people at one moment
def _moment(at: datetime | float) -> int:
    return microsecond(at)
