"""What everybody liked at a moment of the past, as one model learns it, and the candidate index of that moment."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import final

from kaczmatch.learners.state import State
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.recommend.policy import Policy
from kaczmatch.recommend.recommender import Recommender
from kaczmatch.recommend.vocabulary import Vocabulary
from kaczmatch.service.domain.config import ServiceConfig
from kaczmatch.service.domain.folding import EventFold, TrackedState
from kaczmatch.service.domain.records import Event, Person
from kaczmatch.service.meeting.profiles import profile_of
from kaczmatch.service.meeting.serving_index import grown_state


@final
class PastStates:
    """Nobody yet; people enter, events are told in their order, and `recommender` deals as of what was told."""

    def __init__(self, rules: ServiceConfig, words: Vocabulary, fold: EventFold, policy: Policy) -> None:
        self.fold, self._words, self._rules = fold, words, rules
        self._tastes: dict[str, TrackedState] = {}
        self._states: dict[Hashable, State] = {}
        self._changed: set[str] = set()
        self._index = CandidateIndex(words, fold.learner, prior=fold.prior.grown(words.dimensions), schema=rules.schema)
        start = grown_state(fold, fold.start().state, words)
        self.recommender = Recommender(
            index=self._index,
            states=lambda ids: [self._states.get(identifier, start) for identifier in ids],
            policy=policy,
            fusion=rules.fusion,
            cooldown=rules.cooldown,
            private_order=True,
        )

    def enter(self, people: Iterable[Person]) -> None:
        new = list(people)
        self._index.put(*(profile_of(person, self._words, self._rules.schema) for person in new))
        self._changed.update(person.id for person in new if person.id in self._tastes)

    def leave(self, people: Collection[Person]) -> None:
        self._index.remove(*(person.id for person in people))

    def tell(self, event: Event) -> None:
        self._tastes[event.user] = self.fold.step(self.taste(event.user), event)
        self._changed.add(event.user)

    def taste(self, user: str) -> TrackedState:
        return self._tastes.get(user, self.fold.start())

    def state(self, user: str) -> State:
        return grown_state(self.fold, self.taste(user).state, self._words)

    def settle(self, appeal: dict[Hashable, float]) -> None:
        """Bring the index up to what was told."""
        new: dict[Hashable, State] = {user: self.state(user) for user in self._changed}
        self._states.update(new)
        self._index.prefer(new)
        self._index.set_appeal(appeal)
        self._changed.clear()
