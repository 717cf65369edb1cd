"""How others take to a person, kept up with every decision (`learners.appeal` has the formulas)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import numpy as np

from kaczmatch.core.vectors import Vector
from kaczmatch.learners.population.appeal import Appeal, count, evidence, log_odds
from kaczmatch.service.domain.records import LatestDecision, PersonCounters

Weighed = TypeVar("Weighed", PersonCounters, LatestDecision)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def appeal_to(candidate: PersonCounters, own: LatestDecision | None, at: datetime, how: Appeal) -> float:
    """The candidate's appeal at a moment from what others decided, the viewer's own part taken out."""
    mine = _NOTHING if own is None or own.appeal_as_of is None else _parts(own)
    return log_odds(_parts(candidate), mine, _number(at), how.half_life, how.spread)


def rating_evidence(rater: PersonCounters, *, liked: bool) -> tuple[float, float]:
    """What a decision of this rater says of whoever it is about: its excess and information."""
    return evidence(np.array([rater.swipes, rater.likes], np.float64), liked)


def without_decision(
    rater: PersonCounters, candidate: PersonCounters, pair: LatestDecision, at: datetime, *, liked: bool, how: Appeal
) -> tuple[PersonCounters, LatestDecision]:
    """Candidate and pair as if the rater's last decision, made `at`, had not been."""
    before = replace(rater, swipes=rater.swipes - 1, likes=rater.likes - liked)
    excess, information = rating_evidence(before, liked=liked)
    return less(candidate, excess, information, at, how), less(pair, excess, information, at, how)


def less(weighed: Weighed, excess: float, information: float, at: datetime, how: Appeal) -> Weighed:
    """Without a part that was counted `at`."""
    if weighed.appeal_as_of is None:
        return weighed
    part = np.array([excess, information, _number(at)])
    count(part, 0.0, 0.0, _number(weighed.appeal_as_of), how.half_life)
    return replace(weighed, excess=weighed.excess - part[0], information=max(0.0, weighed.information - part[1]))


def summed(pairs: Iterable[LatestDecision], candidate: PersonCounters | None, how: Appeal) -> tuple[float, float]:
    """Excess and information of what several raters said, as of the moment to which the candidate's own are aged."""
    total = np.zeros(2)
    for pair in pairs:
        part = _parts(pair)
        if candidate is not None and candidate.appeal_as_of is not None:
            count(part, 0.0, 0.0, _number(candidate.appeal_as_of), how.half_life)
        total += part[:2]
    return float(total[0]), float(total[1])


def with_rating(
    weighed: PersonCounters | LatestDecision | None, said: tuple[float, float], at: datetime, how: Appeal
) -> tuple[float, float, datetime]:
    """Excess, information and the moment they are aged to, with one more decision."""
    if weighed is None or weighed.appeal_as_of is None:
        return *said, at
    parts, moment = _parts(weighed), max(at, weighed.appeal_as_of)
    if moment > at:  # an import that comes late has aged
        late = np.array([*said, _number(at)])
        count(late, 0.0, 0.0, _number(moment), how.half_life)
        said = float(late[0]), float(late[1])
    count(parts, *said, _number(moment), how.half_life)
    return float(parts[0]), float(parts[1]), moment


def _parts(weighed: PersonCounters | LatestDecision) -> Vector:
    return np.array(
        [weighed.excess, weighed.information, 0 if weighed.appeal_as_of is None else _number(weighed.appeal_as_of)], np.float64
    )


def _number(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


_NOTHING = np.zeros(3)
