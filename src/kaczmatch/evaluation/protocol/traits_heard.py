"""What each user of a trial could know of candidates' traits when, under the trial's protocol."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import final

import numpy as np

from kaczmatch.core.swipes import SwipeLog
from kaczmatch.core.vectors import Matrix
from kaczmatch.evaluation.protocol.trial import Places, Trial
from kaczmatch.learners.population.trait_log import SiteLog, follow_traits
from kaczmatch.learners.population.traits import TraitModel


@final
@dataclass(frozen=True, slots=True, eq=False)
class FittedTraits:
    """What was fitted: how sites are made, and the sites that the fit wrote, of users by their number in the trial."""

    model: TraitModel
    sites: SiteLog
    people: int  # whom it was fitted on

    def heard_in(self, trial: Trial) -> TraitsHeard:
        return _heard(trial, self)


@lru_cache(maxsize=4)
def _heard(trial: Trial, fitted: FittedTraits) -> TraitsHeard:
    """One causal pass over a trial serves all questions about it."""
    return TraitsHeard(trial, fitted.model, fitted.sites)


@final
@dataclass(frozen=True, eq=False)
class TraitsHeard:
    """Traits in place of appeal, in one trial."""

    trial: Trial
    model: TraitModel
    fitted: SiteLog

    @cached_property
    def log(self) -> SwipeLog:
        """All swipes, with traits as seen."""
        trial = self.trial
        return trial.log.with_others(self.at_moments(trial.table.user, trial.table.candidate, trial.moments_when_swiped))

    def when_ranked(self, rows: Places, t: int) -> Matrix:
        """Traits of what is ranked, as known when each user's first t swipes were done."""
        trial = self.trial
        return self.at_moments(trial.table.user[rows], trial.table.candidate[rows], trial.moments_when_ranked(rows, t))

    def at_moments(self, viewer: Places, candidate: Places, moments: Places) -> Matrix:
        """What viewers could know of candidates at given moments."""
        then = self.trial.known_at(moments)
        return self._sites.traits_at(self.model, self._expected, viewer=viewer, candidate=candidate, at=then)

    @cached_property
    def _expected(self) -> Matrix:
        return self.model.expected(self.trial.table.features)

    @cached_property
    def _sites(self) -> SiteLog:
        """Strict: every swipe's, from one causal pass. Otherwise the fit's, and those of all swipes that it did not see."""
        trial = self.trial
        counted = np.flatnonzero(trial.counts)
        table, strict = trial.table, trial.knowledge == "strict"
        start = SiteLog.empty(self.model.learner.traits) if strict else self.fitted
        unseen = np.ones(len(counted), np.bool_) if strict else ~trial.fit_rows[counted]
        if trial.knowledge == "mature":
            counted = counted[unseen]
            unseen = np.ones(len(counted), np.bool_)
        found = follow_traits(self.model, trial.timed.select(counted), table.user[counted], start)
        rows = counted[unseen]
        return start.followed_by(SiteLog(table.user[rows], table.candidate[rows], trial.clock[rows], found.sites[unseen]))
