"""Which model learns first, the prior that people start from, and the vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple, final

import numpy as np

from kaczmatch.core.swipes import SwipeLog, appeal_rows
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.population.population_fit import FittedPopulation, fit_population
from kaczmatch.learners.population.prior_fit import fit_prior
from kaczmatch.learners.prior import Prior
from kaczmatch.recommend.decks.policy import Experience
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.recommend.samplers.contract import BeliefSampler
from kaczmatch.service.domain.catalogue import (
    FIRST_ANSWERS_ONLY,
    IN_USE,
    model_learner,
    model_record,
    neutral_prior,
    terms_json,
)
from kaczmatch.service.domain.config import ServiceConfig
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.counting import swipes_learned_from
from kaczmatch.service.domain.feature_snapshots import seen_features, with_features
from kaczmatch.service.domain.folding import label_of
from kaczmatch.service.domain.locks import MODELS
from kaczmatch.service.domain.records import (
    SINGLE_ROW,
    ActiveVersions,
    Event,
    StoredPrior,
    StoredState,
    StoredVocabulary,
)
from kaczmatch.service.domain.sparse_features import unpacked
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.domain.vocabulary_change import change_vocabulary
from kaczmatch.service.operations.trait_pass import FittedSite

_AT_ONCE = 4  # people
_ENOUGH_PEOPLE = 20  # with fewer a population says little that the neutral start does not
_MOST_FITTED = 2_000  # people; a mean over more is hardly better
_MOST_SWIPES = 200  # of each: that says what they like
_MOST_EVENTS = 3 * _MOST_SWIPES  # among which they are looked for


@final
class _FittedSwipe(NamedTuple):
    """What a fit needs of a swipe. A hundred thousand are sent to the process that fits, which makes a log of them."""

    user: str
    candidate: str
    features: bytes
    label: int
    at: datetime
    appeal: float

    @classmethod
    def of(cls, event: Event) -> _FittedSwipe:
        return cls(event.user, event.candidate or "", seen_features(event), label_of(event), event.at, event.appeal)


def _log_of(swipes: Sequence[_FittedSwipe], dimensions: int) -> SwipeLog:
    """Candidates as they were last seen."""
    return SwipeLog(
        user=np.array([swipe.user for swipe in swipes]),
        label=[swipe.label for swipe in swipes],
        candidate=np.array([swipe.candidate for swipe in swipes]),
        candidates={swipe.candidate: unpacked(swipe.features, dimensions) for swipe in swipes},
        at=np.array([swipe.at for swipe in swipes], object),
        others=appeal_rows([swipe.appeal for swipe in swipes]),
    )


def _fitted_prior(swipes: Sequence[_FittedSwipe], rule: Learner, neutral: Prior) -> Prior:
    return fit_prior(rule, _log_of(swipes, neutral.dimensions), neutral=neutral)


def _fitted_population(swipes: Sequence[_FittedSwipe], dimensions: int, rule: ProbitTraits) -> FittedPopulation:
    return fit_population(_log_of(swipes, dimensions), learner=rule)


def _sites(found: FittedPopulation, candidates: Sequence[str]) -> list[FittedSite]:
    """What the fitted people say of candidates."""
    if found.sites is None:
        return []
    pairs = zip(found.sites.rater.tolist(), found.sites.candidate.tolist(), found.sites.sites, strict=True)
    return [(str(found.names[rater]), candidates[candidate], site) for rater, candidate, site in pairs]


def check_learner(rule: Learner, config: ServiceConfig) -> None:
    """Whether decks can be dealt by this learner under the policies in force."""
    arms = () if config.experiment is None else config.experiment.arms
    for policy in (config.policy, *(arm.policy for arm in arms)):
        sampler = policy.plan(Experience()).sampler
        if isinstance(sampler, BeliefSampler):
            sampler.require_belief(rule)


@final
@dataclass(frozen=True, slots=True)
class FittedModel:
    """A learner, its settings, and the prior and the sites that were fitted."""

    learner: str
    settings: Mapping[str, Any]
    prior: Prior
    sites: Sequence[FittedSite] = ()


def unfitted(slug: str, settings: Mapping[str, Any], dimensions: int) -> FittedModel:
    """A model before any fit."""
    return FittedModel(slug, settings, neutral_prior(model_learner(slug, settings), dimensions))


@final
@dataclass(frozen=True, slots=True)
class Models:
    """The use cases of changing how the service learns."""

    context: Context

    def set_up(self, vocabulary: Vocabulary, slug: str, settings: Mapping[str, Any]) -> ActiveVersions:
        """The first vocabulary and model of an empty store; what is there already stays."""
        check_learner(model_learner(slug, settings), self.context.config)
        first = unfitted(slug, settings, vocabulary.dimensions)

        def work(transaction: Transaction) -> ActiveVersions:
            known = transaction.get(ActiveVersions, SINGLE_ROW)
            if known is not None:
                return known
            now = self.context.clock()
            transaction.put(StoredVocabulary(version=1, terms=terms_json(vocabulary), at=now))
            transaction.put(StoredPrior(version=first.prior.version, data=first.prior.to_bytes()))
            half_life = self.context.config.appeal.half_life_days
            transaction.put(model_record(1, first.learner, first.settings, first.prior, IN_USE, now, half_life))
            current = ActiveVersions(model=1, building=0, vocabulary=1)
            transaction.put(current)
            return current

        return self.context.store.write(work, locks=[MODELS]).result()

    def vocabulary(self) -> Vocabulary:
        """The one in use."""
        with self.context.store.read() as reader:
            return self.context.catalogue.vocabulary(reader, self.context.catalogue.current(reader).vocabulary)

    def change_vocabulary(self, change: Callable[[Vocabulary], Vocabulary]) -> Vocabulary:
        """A new version of the vocabulary: names added, renamed, retired."""
        return change_vocabulary(self.context, change)

    def fit(self, slug: str, settings: Mapping[str, Any], *, before: int | None = None) -> FittedModel | None:
        """What people like, from those who have swiped, by events `before` a number; None where they are too few to say.

        For `probit-traits` the prior has traits where they pay.
        """
        with self.context.store.read() as reader:
            current = self.context.catalogue.current(reader)
            dimensions = self.context.catalogue.vocabulary(reader, current.vocabulary).dimensions
        rule = model_learner(slug, settings)
        histories = list(self._histories(current.model, bool(settings.get(FIRST_ANSWERS_ONLY, True)), before))
        if len(histories) < _ENOUGH_PEOPLE:
            return None
        swipes = [swipe for some in histories for swipe in some]
        if not isinstance(rule, ProbitTraits):
            prior: Prior = self.context.compute(partial(_fitted_prior, swipes, rule, neutral_prior(rule, dimensions)))
            return FittedModel(slug, settings, prior)
        found: FittedPopulation = self.context.compute(partial(_fitted_population, swipes, dimensions, rule))
        sites = _sites(found, list(dict.fromkeys(swipe.candidate for swipe in swipes)))
        return FittedModel(slug, settings, found.prior, sites)

    def _histories(self, model: int, first_answers_only: bool, before: int | None) -> Iterator[list[_FittedSwipe]]:
        """The last swipes of people who have swiped, spread over all of them. It rests after every few."""
        with self.context.store.read() as reader:
            apart = max(1, -(-reader.count(StoredState, model=model) // _MOST_FITTED))
        last, skip = "", 0
        while True:
            some = []
            with self.context.store.read() as reader:
                for _ in range(_AT_ONCE):
                    found = reader.find(StoredState, model=model, after=(model, last), skip=skip, limit=1)
                    if not found:
                        break
                    last, skip = found[0].user, apart - 1
                    events = reader.find(Event, user=last, newest=True, limit=_MOST_EVENTS)[::-1]
                    swipes = swipes_learned_from(events, first_answers_only=first_answers_only)
                    known = [swipe for swipe in swipes if before is None or swipe.number < before][-_MOST_SWIPES:]
                    some.append([_FittedSwipe.of(event) for event in with_features(reader, known)])
            yield from (swipes for swipes in some if swipes)  # of somebody who has started anew, nothing is left
            if len(some) < _AT_ONCE:
                return
            self.context.rest()
