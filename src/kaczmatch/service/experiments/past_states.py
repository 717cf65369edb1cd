"""What everybody liked at a moment of the past, as one model learns it, and the candidate index of that moment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import final

import numpy as np

from kaczmatch.core.moments import microsecond
from kaczmatch.core.vectors import Vector
from kaczmatch.learners.logs.fold import TrackedState
from kaczmatch.learners.population.traits import CandidateTraits, Sites
from kaczmatch.learners.state import State
from kaczmatch.recommend.decks.indexed_states import IndexedStates
from kaczmatch.recommend.decks.policy import Policy
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.service.domain.config import ServiceConfig
from kaczmatch.service.domain.folding import AnsweredPeople, ModelFold
from kaczmatch.service.domain.records import Decision, Event, EventKind, Person
from kaczmatch.service.domain.traits import seen_and_site, trait_model, traits_of
from kaczmatch.service.meeting.profiles import profile_of
from kaczmatch.service.meeting.serving_index import grown_state


@final
class PastStates:
    """Begins empty. Add people and apply events in their order; `recommender` deals as of the last `update_index`."""

    def __init__(self, config: ServiceConfig, vocabulary: Vocabulary, fold: ModelFold, policy: Policy) -> None:
        self.fold, self._vocabulary, self._schema = fold, vocabulary, config.schema
        self._tracked: dict[str, TrackedState] = {}
        self._answered: dict[str, AnsweredPeople] = defaultdict(AnsweredPeople)
        self._changed: set[str] = set()
        self._sums: dict[str, CandidateTraits] = {}
        self._sites: dict[tuple[str, str], Sites] = {}  # of a user and a candidate
        self._people = IndexedStates.of(vocabulary, fold.learner, fold.prior, config.schema)
        self.recommender = self._people.recommender(policy, cooldown=config.cooldown, repeats=config.repeats)

    def add_people(self, people: Iterable[Person]) -> None:
        new = list(people)
        self._people.index.upsert(*(profile_of(person, self._vocabulary, self._schema) for person in new))
        self._changed.update(person.id for person in new if person.id in self._tracked)

    def remove_people(self, people: Collection[Person]) -> None:
        self._people.forget(*(person.id for person in people))

    def apply_event(self, event: Event) -> None:
        repeated = self._answered[event.user].repeats(event)
        if self.fold.traits is not None and event.kind == EventKind.SWIPED and event.decision != Decision.SKIP and not repeated:
            event = self._seen(event)
        self._tracked[event.user] = self.fold.step(self.tracked_state(event.user), event, repeated=repeated)
        self._changed.add(event.user)

    def _seen(self, event: Event) -> Event:
        """The event with the candidate's traits as they were then. What it says of them is added."""
        candidate, pair = event.candidate or "", (event.user, event.candidate or "")
        sums, own = self._sums.get(candidate) or traits_of(trait_model(self.fold), None), self._sites.get(pair)
        said, site = seen_and_site(self.fold, event, self.tracked_state(event.user), sums, own, counts=own is None)
        if site is not None:
            self._sums[candidate], self._sites[pair] = sums.plus(site), site
        return replace(event, said=said)

    def others(self, person: Person, at: datetime) -> Vector:
        """Traits and doubts at a moment, from all that had been said."""
        model, features = trait_model(self.fold), profile_of(person, self._vocabulary, self._schema).features
        sums = self._sums.get(person.id) or traits_of(model, None)
        return np.asarray(model.shown_many(features[None], sums.sums[None], microsecond(at))[0])

    def tracked_state(self, user: str) -> TrackedState:
        return self._tracked.get(user, self.fold.start())

    def state(self, user: str) -> State:
        return grown_state(self.fold, self.tracked_state(user).state, self._vocabulary)

    def update_index(self, others: dict[Hashable, Vector]) -> None:
        """Bring the index up to date with the applied events."""
        self._people.learn({user: self.tracked_state(user).state for user in self._changed})
        self._people.index.set_others(others)
        self._changed.clear()
