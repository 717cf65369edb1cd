"""A person's appeal, updated with every decision about them (`learners.population.appeal` has the formulas)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

import numpy as np

from kaczmatch.core.moments import microsecond
from kaczmatch.core.vectors import Vector
from kaczmatch.learners.population.appeal import AppealModel, add_evidence, appeal_log_odds, decision_evidence
from kaczmatch.service.domain.records import LatestDecision, PersonCounters


def appeal_to(candidate: PersonCounters, own: LatestDecision | None, at: datetime, settings: AppealModel) -> float:
    """The candidate's appeal at a moment, without what the viewer has decided."""
    own_part = _NO_EVIDENCE if own is None or own.appeal_as_of is None else _evidence_of(own)
    return appeal_log_odds(_evidence_of(candidate), own_part, microsecond(at), settings.half_life, settings.spread)


def rating_evidence(rater: PersonCounters, *, liked: bool) -> tuple[float, float]:
    """What a decision of this rater says about the candidate: its excess and information."""
    return decision_evidence(np.array([rater.swipes, rater.likes], np.float64), liked)


def without_evidence(
    counted: PersonCounters, excess: float, information: float, at: datetime, settings: AppealModel
) -> PersonCounters:
    """Without evidence that was counted `at`."""
    if counted.appeal_as_of is None:
        return counted
    part = np.array([excess, information, microsecond(at)])
    add_evidence(part, 0.0, 0.0, microsecond(counted.appeal_as_of), settings.half_life)
    return replace(counted, excess=counted.excess - part[0], information=max(0.0, counted.information - part[1]))


def summed_evidence(
    pairs: Iterable[LatestDecision], candidate: PersonCounters | None, settings: AppealModel
) -> tuple[float, float]:
    """Excess and information of several raters' decisions, aged to the same moment as the candidate's own."""
    total = np.zeros(2)
    for pair in pairs:
        part = _evidence_of(pair)
        if candidate is not None and candidate.appeal_as_of is not None:
            add_evidence(part, 0.0, 0.0, microsecond(candidate.appeal_as_of), settings.half_life)
        total += part[:2]
    return float(total[0]), float(total[1])


def with_rating(
    counted: PersonCounters | LatestDecision | None, said: tuple[float, float], at: datetime, settings: AppealModel
) -> tuple[float, float, datetime]:
    """Excess, information and the moment to which they are aged, with one more decision."""
    if counted is None or counted.appeal_as_of is None:
        return *said, at
    evidence_so_far, moment = _evidence_of(counted), max(at, counted.appeal_as_of)
    if moment > at:  # an import that comes late has aged
        late = np.array([*said, microsecond(at)])
        add_evidence(late, 0.0, 0.0, microsecond(moment), settings.half_life)
        said = float(late[0]), float(late[1])
    add_evidence(evidence_so_far, *said, microsecond(moment), settings.half_life)
    return float(evidence_so_far[0]), float(evidence_so_far[1]), moment


def _evidence_of(counted: PersonCounters | LatestDecision) -> Vector:
    return np.array(
        [counted.excess, counted.information, 0 if counted.appeal_as_of is None else microsecond(counted.appeal_as_of)],
        np.float64,
    )


_NO_EVIDENCE = np.zeros(3)
