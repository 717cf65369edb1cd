"""How others take to a person, kept up with every decision (`learners.appeal` has the formulas)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import numpy as np

from kaczmatch.core.vectors import Vector
from kaczmatch.learners.appeal import Appeal, count, evidence, log_odds
from kaczmatch.service.records import Pair, Standing

Weighed = TypeVar("Weighed", Standing, Pair)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def appeal_to(candidate: Standing, own: Pair | None, at: datetime, how: Appeal) -> float:
    """The candidate's appeal at a moment from what others decided, the viewer's own part taken out."""
    mine = _NOTHING if own is None or own.weighed is None else _parts(own)
    return log_odds(_parts(candidate), mine, _number(at), how.half_life, how.spread)


def decided(rater: Standing, candidate: Standing, pair: Pair, *, liked: bool, how: Appeal) -> tuple[Standing, Standing, Pair]:
    """All three after the decision that `pair` now holds."""
    excess, information = evidence(np.array([rater.swipes, rater.likes], np.float64), liked)
    return (
        replace(rater, swipes=rater.swipes + 1, likes=rater.likes + liked),
        _counted(candidate, excess, information, pair.decided, how),
        _counted(pair, excess, information, pair.decided, how),
    )


def undecided(
    rater: Standing, candidate: Standing, pair: Pair, at: datetime, *, liked: bool, how: Appeal
) -> tuple[Standing, Standing, Pair]:
    """All three as if the rater's last decision, made `at`, had not been."""
    before = replace(rater, swipes=rater.swipes - 1, likes=rater.likes - liked)
    excess, information = evidence(np.array([before.swipes, before.likes], np.float64), liked)
    return before, less(candidate, excess, information, at, how), less(pair, excess, information, at, how)


def less(weighed: Weighed, excess: float, information: float, at: datetime, how: Appeal) -> Weighed:
    """Without a part that was counted `at`."""
    if weighed.weighed is None:
        return weighed
    part = np.array([excess, information, _number(at)])
    count(part, 0.0, 0.0, _number(weighed.weighed), how.half_life)
    return replace(weighed, excess=weighed.excess - part[0], information=max(0.0, weighed.information - part[1]))


def _counted(weighed: Weighed, excess: float, information: float, at: datetime, how: Appeal) -> Weighed:
    parts = _parts(weighed)
    moment = at if weighed.weighed is None else max(at, weighed.weighed)  # imports may come late
    count(parts, excess, information, _number(moment), how.half_life)
    return replace(weighed, excess=float(parts[0]), information=float(parts[1]), weighed=moment)


def _parts(weighed: Standing | Pair) -> Vector:
    return np.array([weighed.excess, weighed.information, 0 if weighed.weighed is None else _number(weighed.weighed)], np.float64)


def _number(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


_NOTHING = np.zeros(3)
