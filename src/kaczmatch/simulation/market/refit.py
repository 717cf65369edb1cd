"""What a market's people hear of each other, and a population that is fitted again to all that they have decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Protocol, final

import numpy as np

from kaczmatch.core.swipes import ShownCandidate, SwipeLog, appeal_row, appeal_rows
from kaczmatch.core.vectors import Integers, Matrix, Vector
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.learners.logs.event_fold import EventFold, TrackedState
from kaczmatch.learners.population.appeal import AppealModel, AppealTracker
from kaczmatch.learners.population.population_fit import fit_population
from kaczmatch.learners.population.trait_log import SiteLog
from kaczmatch.learners.population.traits import CandidateTraits, Sites, TraitModel
from kaczmatch.learners.state import State


class Heard(Protocol):
    """What others have said of everybody so far."""

    def of(self, candidate: int, viewer: int | None, now: datetime) -> Vector:
        """As the viewer hears it: without the viewer's own words."""
        ...

    def record(self, state: State, viewer: int, candidate: int, label: int, now: datetime) -> None:
        """A decision by a viewer who had this state before it."""
        ...


@final
@dataclass(frozen=True, slots=True)
class MarketDecision:
    """One card as it was decided."""

    viewer: int
    candidate: int
    label: int
    at: datetime


@final
class HeardAppeal:
    """Appeal, whatever the population."""

    def __init__(self, decided: Sequence[MarketDecision] = ()) -> None:
        self._tracker: AppealTracker = AppealModel().tracker()
        for each in decided:
            self._tracker.record(each.viewer, each.candidate, each.label, each.at)

    def of(self, candidate: int, viewer: int | None, now: datetime) -> Vector:
        return appeal_row(self._tracker.appeal_of(candidate, viewer, now))

    def record(self, state: State, viewer: int, candidate: int, label: int, now: datetime) -> None:  # noqa: ARG002
        self._tracker.record(viewer, candidate, label, now)


@final
class HeardTraits:
    """Traits under one fit: its sites, then those of every decision since."""

    def __init__(self, model: TraitModel, features: Matrix, sites: SiteLog) -> None:
        self._model, self._features = model, features
        self._traits = [CandidateTraits.unknown(model.learner.traits) for _ in features]
        self._own: dict[tuple[int, int], Sites] = {}
        for rater, candidate, site in zip(sites.rater.tolist(), sites.candidate.tolist(), sites.sites, strict=True):
            self._replace(rater, candidate, site)

    def of(self, candidate: int, viewer: int | None, now: datetime) -> Vector:
        own = None if viewer is None else self._own.get((viewer, candidate))
        return self._model.shown(self._features[candidate], self._traits[candidate], now, own=own)

    def record(self, state: State, viewer: int, candidate: int, label: int, now: datetime) -> None:
        self._replace(viewer, candidate, self._model.site(state, self._features[candidate], label, now))

    def _replace(self, rater: int, candidate: int, site: Sites) -> None:
        traits, before = self._traits[candidate], self._own.get((rater, candidate))
        self._traits[candidate] = (traits if before is None else traits.minus(before)).plus(site)
        self._own[rater, candidate] = site


@final
@dataclass(frozen=True, slots=True, eq=False)
class Refitted:
    """A population after a refit: everybody's decisions folded again under it."""

    fold: EventFold
    heard: Heard
    tracked: dict[int, TrackedState]  # of those who have decided anything


@final
@dataclass(frozen=True, slots=True)
class Refits:
    """Whether a refit has traits (None: where they pay), and whether covariances of tags are kept."""

    traits: bool | None = None
    full: bool = False


def refit(decided: Sequence[MarketDecision], features: Matrix, refits: Refits, seed: int) -> Refitted:
    """The population of all decisions so far, given in the order of time. Without traits, appeal is heard."""
    moments = np.array([each.at.replace(tzinfo=None) for each in decided], "datetime64[us]")
    log = SwipeLog(
        user=[each.viewer for each in decided],
        candidate=[each.candidate for each in decided],
        candidates=features,
        label=[each.label for each in decided],
        at=moments,
    )
    population = fit_population(log, learner=ProbitTraits(full=refits.full), traits=refits.traits, seed=seed)
    heard: Heard
    said: Matrix
    if isinstance(population.learner, ProbitTraits) and population.sites is not None:
        viewer: Integers = np.asarray(log.user).astype(np.int64)
        numbers: Integers = np.array(population.names, np.int64)
        sites = population.sites
        sites = SiteLog(numbers[sites.rater], sites.candidate, sites.at, sites.sites)
        now = np.full(len(log), int(np.asarray(log.at).max()) + 1)
        model = TraitModel(learner=population.learner, prior=population.prior, reference=int(now[0]))
        heard = HeardTraits(model, features, sites)
        candidate = np.asarray(log.candidate_row)
        said = sites.traits_at(model, model.expected(features), viewer=viewer, candidate=candidate, at=now)
    else:
        heard = HeardAppeal(decided)  # anew: a refit before this one may have had traits
        said = appeal_rows(AppealModel().before_swipes(log))
    fold = EventFold(population.learner, population.prior)
    tracked: dict[int, TrackedState] = {}
    places = zip(decided, said, strict=True)
    for (who, at), turn in groupby(places, key=lambda one: (one[0].viewer, one[0].at)):
        state = tracked.get(who, fold.start)
        for each, of_candidate in turn:
            state = fold.swipe(state, ShownCandidate(features[each.candidate], of_candidate), each.label, at)
        tracked[who] = fold.end_session(state, at, features.shape[1])
    return Refitted(fold, heard, tracked)
