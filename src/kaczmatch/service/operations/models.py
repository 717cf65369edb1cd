"""Which model learns: the first one; another learner or prior, built beside it from the log; and the vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np

from kaczmatch.core.swipes import SwipeLog
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.population.prior_fit import fit_prior
from kaczmatch.learners.prior import Prior
from kaczmatch.recommend.decks.policy import Experience
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.recommend.samplers.contract import BeliefSampler
from kaczmatch.service.domain.catalogue import FIRST_ANSWERS_ONLY, model_learner, model_record, neutral_prior, terms_json
from kaczmatch.service.domain.config import ServiceConfig
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.counting import swipes_learned_from
from kaczmatch.service.domain.feature_snapshots import seen_features, with_features
from kaczmatch.service.domain.locks import MODELS
from kaczmatch.service.domain.records import (
    SINGLE_ROW,
    ActiveVersions,
    Decision,
    Event,
    Model,
    Person,
    PersonCounters,
    StoredPrior,
    StoredState,
    StoredVocabulary,
)
from kaczmatch.service.domain.refusals import Conflict
from kaczmatch.service.domain.sparse_features import unpacked
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.domain.vocabulary_change import change_vocabulary

BUILDING, IN_USE, RETIRED = "building", "in use", "retired"
_AT_ONCE = 500
_ENOUGH_PEOPLE = 20  # with fewer a population says little that the neutral start does not
_MOST_FITTED = 2_000  # people; a mean over more is hardly better
_MOST_SWIPES = 200  # of each: that says what they like


def check_learner(rule: Learner, config: ServiceConfig) -> None:
    """Whether decks can be dealt by this learner under the policies in force."""
    arms = () if config.experiment is None else config.experiment.arms
    for policy in (config.policy, *(arm.policy for arm in arms)):
        sampler = policy.plan(Experience()).sampler
        if isinstance(sampler, BeliefSampler):
            sampler.require_belief(rule)


@final
@dataclass(frozen=True, slots=True)
class Models:
    """The use cases of changing how the service learns."""

    context: Context

    def set_up(self, vocabulary: Vocabulary, slug: str, settings: Mapping[str, Any]) -> ActiveVersions:
        """The first vocabulary and model of an empty store; what is there already stays."""
        check_learner(model_learner(slug, settings), self.context.config)
        prior = neutral_prior(model_learner(slug, settings), vocabulary.dimensions)

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
        return change_vocabulary(self.context, change)

    def fit_prior(self, slug: str, settings: Mapping[str, Any]) -> Prior | None:
        """What people like on average, from those who have swiped; None where they are too few to say."""
        with self.context.store.read() as reader:
            current = self.context.catalogue.current(reader)
            dimensions = self.context.catalogue.vocabulary(reader, current.vocabulary).dimensions
            swiped = sorted(counters.user for counters in reader.find(PersonCounters) if counters.swipes)
            sample = swiped[:: -(-len(swiped) // _MOST_FITTED) or 1]  # spread over all
            once = bool(settings.get(FIRST_ANSWERS_ONLY, True))
            logs = (swipes_learned_from(reader.find(Event, user=user), first_answers_only=once) for user in sample)
            found = [with_features(reader, swipes[-_MOST_SWIPES:]) for swipes in logs]
        histories = [events for events in found if events]  # of somebody who has started anew, nothing is left
        swipes = [(place, event) for place, events in enumerate(histories) for event in events]
        if len(histories) < _ENOUGH_PEOPLE:
            return None
        log = SwipeLog(
            user=np.array([place for place, _ in swipes]),
            label=[1 if event.decision == Decision.LIKE else -1 for _, event in swipes],
            features=np.array([unpacked(seen_features(event), dimensions) for _, event in swipes]),
            appeal=[event.appeal for _, event in swipes],
        )
        rule = model_learner(slug, settings)
        return fit_prior(rule, log, neutral=neutral_prior(rule, dimensions))

    def relearn(
        self,
        slug: str,
        settings: Mapping[str, Any],
        prior: Prior,
        on_progress: Callable[[int, int], None] | None = None,
        *,
        refit: bool = False,
    ) -> int:
        """Learn by another model: fold everybody's log under it while the old one goes on, then switch at once.

        Swipes that come meanwhile are learned by both. If the process dies, the old model stays in use and `resume` goes on.
        """

        check_learner(model_learner(slug, settings), self.context.config)

        def begin(transaction: Transaction) -> int:
            current = self.context.catalogue.current(transaction)
            if current.building:
                raise Conflict(f"model {current.building} is being built already")
            number = max(model.id for model in transaction.find(Model)) + 1
            now = self.context.clock()
            transaction.put(StoredPrior(version=prior.version, data=prior.to_bytes()))
            transaction.put(replace(model_record(number, slug, settings, prior, BUILDING, now), refit=refit))
            transaction.put(replace(current, building=number))
            return number

        number = self.context.store.write(begin, locks=[MODELS]).result()
        self._build(number, on_progress)
        return number

    def resume_relearning(self, on_progress: Callable[[int, int], None] | None = None) -> int:
        """Finish a relearning that was interrupted. Returns its model, or 0 if there was none."""
        with self.context.store.read() as reader:
            building = self.context.catalogue.current(reader).building
        if building:
            self._build(building, on_progress)
        return building

    def _build(self, number: int, on_progress: Callable[[int, int], None] | None) -> None:
        while self._fold_everybody(number, on_progress):
            pass  # who has come meanwhile
        self.context.store.write(lambda tx: self._switch(tx, number), locks=[MODELS]).result()
        self._drop_retired_states()

    def _fold_everybody(self, number: int, on_progress: Callable[[int, int], None] | None) -> int:
        """Fold the events of everybody who has no state under a model yet. Returns how many there were."""
        last: tuple[str, ...] = ()
        done = taught = 0
        with self.context.store.read() as reader:
            total = reader.count(Person)
        while True:
            with self.context.store.read() as reader:
                page = [person.id for person in reader.find(Person, after=last, limit=_AT_ONCE)]
                known = reader.many(StoredState, [(number, user) for user in page])
            if not page:
                return taught
            for user in page:
                if (number, user) not in known:
                    self.context.store.write(partial(self._fold_one, number=number, user=user), locks=[user]).result()
            last, done, taught = (page[-1],), done + len(page), taught + len(page) - len(known)
            if on_progress is not None:
                on_progress(done, total)

    def _fold_one(self, transaction: Transaction, number: int, user: str) -> None:
        if transaction.get(Person, user) is None:
            return
        events = transaction.find(Event, user=user)
        self.context.catalogue.current(transaction)
        fold = self.context.catalogue.fold(transaction, number)
        transaction.put(fold.encode(user, fold.replay(with_features(transaction, events))))

    def _switch(self, transaction: Transaction, number: int) -> None:
        """All processes use the new model from their next look on."""
        current = self.context.catalogue.current(transaction)
        if current.building != number:
            return  # another process was at it too, and faster
        retired, used = transaction.get(Model, current.model), transaction.get(Model, number)
        if retired is not None:
            transaction.put(replace(retired, status=RETIRED))
        if used is not None:
            transaction.put(replace(used, status=IN_USE, used_from=self.context.clock()))
        transaction.put(replace(current, model=number, building=0))

    def _drop_retired_states(self) -> None:
        """Drop the states of models that are not used any more."""
        with self.context.store.read() as reader:
            retired = [model.id for model in reader.find(Model) if model.status == RETIRED]
        for number in retired:
            while True:
                with self.context.store.read() as reader:
                    page = reader.find(StoredState, model=number, limit=_AT_ONCE)
                if not page:
                    break

                def work(transaction: Transaction, page: list[StoredState] = page) -> None:
                    for one in page:
                        transaction.drop(StoredState, *one.identity())

                self.context.store.write(work).result()
