"""What everybody liked at a moment of the past, as one model learns it, and the candidate index of that moment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable
from typing import final

from kaczmatch.learners.logs.event_fold import TrackedState
from kaczmatch.learners.state import State
from kaczmatch.recommend.decks.indexed_states import IndexedStates
from kaczmatch.recommend.decks.policy import Policy
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.service.domain.config import ServiceConfig
from kaczmatch.service.domain.folding import AnsweredPeople, ModelFold
from kaczmatch.service.domain.records import Event, Person
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
        self._people = IndexedStates.of(vocabulary, fold.learner, fold.prior, config.schema)
        self.recommender = self._people.recommender(policy, cooldown=config.cooldown, repeats=config.repeats)

    def add_people(self, people: Iterable[Person]) -> None:
        new = list(people)
        self._people.index.upsert(*(profile_of(person, self._vocabulary, self._schema) for person in new))
        self._changed.update(person.id for person in new if person.id in self._tracked)

    def remove_people(self, people: Collection[Person]) -> None:
        self._people.index.remove(*(person.id for person in people))

    def apply_event(self, event: Event) -> None:
        repeated = self._answered[event.user].repeats(event)
        self._tracked[event.user] = self.fold.step(self.tracked_state(event.user), event, repeated=repeated)
        self._changed.add(event.user)

    def tracked_state(self, user: str) -> TrackedState:
        return self._tracked.get(user, self.fold.start())

    def state(self, user: str) -> State:
        return grown_state(self.fold, self.tracked_state(user).state, self._vocabulary)

    def update_index(self, appeal: dict[Hashable, float]) -> None:
        """Bring the index up to date with the applied events."""
        self._people.learn({user: self.tracked_state(user).state for user in self._changed})
        self._people.index.set_appeal(appeal)
        self._changed.clear()
