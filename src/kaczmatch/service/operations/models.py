"""Which model learns first, the prior that people start from, and the vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.swipes import SwipeLog
from kaczmatch.learners.population.prior_fit import fit_prior
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.registry import learner
from kaczmatch.recommend.decks.policy import Experience
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.recommend.samplers.contract import BeliefSampler
from kaczmatch.service.domain.catalogue import IN_USE, model_record, neutral_prior, terms_json
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.counting import swipes_learned_from
from kaczmatch.service.domain.locks import MODELS
from kaczmatch.service.domain.records import (
    SINGLE_ROW,
    ActiveVersions,
    Decision,
    Event,
    StoredPrior,
    StoredState,
    StoredVocabulary,
)
from kaczmatch.service.domain.sparse_features import MOST_NAMES, unpacked
from kaczmatch.service.domain.store import Transaction

_AT_ONCE = 20  # people
_ENOUGH_PEOPLE = 20  # with fewer a population says little that the neutral start does not
_MOST_FITTED = 2_000  # people; a mean over more is hardly better
_MOST_SWIPES = 200  # of each: that says what they like
_MOST_EVENTS = 3 * _MOST_SWIPES  # among which they are looked for


@final
@dataclass(frozen=True, slots=True)
class Models:
    """The use cases of changing how the service learns."""

    context: Context

    def set_up(self, vocabulary: Vocabulary, slug: str, settings: Mapping[str, Any]) -> ActiveVersions:
        """The first vocabulary and model of an empty store; what is there already stays."""
        self.check(slug, settings)
        prior = neutral_prior(learner(slug, **settings), vocabulary.dimensions)

        def work(transaction: Transaction) -> ActiveVersions:
            known = transaction.get(ActiveVersions, SINGLE_ROW)
            if known is not None:
                return known
            now = self.context.clock()
            transaction.put(StoredVocabulary(version=1, terms=terms_json(vocabulary), at=now))
            transaction.put(StoredPrior(version=prior.version, data=prior.to_bytes()))
            transaction.put(model_record(1, slug, settings, prior, IN_USE, now))
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

        def work(transaction: Transaction) -> Vocabulary:
            current = self.context.catalogue.current(transaction)
            changed = change(self.context.catalogue.vocabulary(transaction, current.vocabulary))
            if changed.dimensions > MOST_NAMES:
                raise InvalidInput("names", f"at most {MOST_NAMES:,} names")
            vocabulary = Vocabulary(changed.terms, current.vocabulary + 1)
            transaction.put(StoredVocabulary(version=vocabulary.version, terms=terms_json(vocabulary), at=self.context.clock()))
            transaction.put(replace(current, vocabulary=vocabulary.version))
            return vocabulary

        return self.context.store.write(work, locks=[MODELS]).result()

    def fit_prior(self, slug: str, settings: Mapping[str, Any]) -> Prior | None:
        """What people like on average, from those who have swiped; None where they are too few to say."""
        with self.context.store.read() as reader:
            current = self.context.catalogue.current(reader)
            dimensions = self.context.catalogue.vocabulary(reader, current.vocabulary).dimensions
        found = [history for some in self._samples(current.model) for history in some]
        histories = [events for events in found if events]  # of somebody who has started anew, nothing is left
        swipes = [(place, event) for place, events in enumerate(histories) for event in events]
        if len(histories) < _ENOUGH_PEOPLE:
            return None
        log = SwipeLog(
            user=np.array([place for place, _ in swipes]),
            label=[1 if event.decision == Decision.LIKE else -1 for _, event in swipes],
            features=np.array([unpacked(event.features or b"", dimensions) for _, event in swipes]),
            appeal=[event.appeal for _, event in swipes],
        )
        rule = learner(slug, **settings)
        return fit_prior(rule, log, neutral=neutral_prior(rule, dimensions))

    def check(self, slug: str, settings: Mapping[str, Any]) -> None:
        """Whether decks can be dealt by this learner under the policies in force."""
        rule, rules = learner(slug, **settings), self.context.config
        arms = () if rules.experiment is None else rules.experiment.arms
        for policy in (rules.policy, *(arm.policy for arm in arms)):
            sampler = policy.plan(Experience()).sampler
            if isinstance(sampler, BeliefSampler):
                sampler.require_belief(rule)

    def _samples(self, model: int) -> Iterator[list[list[Event]]]:
        """The last swipes of people who have swiped, spread over all of them, a few people at a time."""
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
                    events = reader.find(Event, user=last, newest=True, limit=_MOST_EVENTS)
                    some.append(swipes_learned_from(events[::-1])[-_MOST_SWIPES:])
            yield some
            if len(some) < _AT_ONCE:
                return
            self.context.rest()
