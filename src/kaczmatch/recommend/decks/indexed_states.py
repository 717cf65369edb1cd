"""A candidate index together with everybody's states, and the recommenders that deal from both."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import final

from kaczmatch.core.vectors import Vector
from kaczmatch.learners.belief.probit_traits import ProbitTraits
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.state import State
from kaczmatch.recommend.decks.eligible import COOLDOWN
from kaczmatch.recommend.decks.policy import Policy
from kaczmatch.recommend.decks.recommender import Recommender
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.recommend.people.schema import Schema
from kaczmatch.recommend.people.vocabulary import Vocabulary


@final
class IndexedStates:
    """People come and go through `index`; `learn` tells it and the recommenders their states.

    Somebody whose state is not known is taken to be at the start. States grow to the terms of the vocabulary.
    """

    def __init__(self, index: CandidateIndex, prior: Prior) -> None:
        self.index = index
        self._states: dict[Hashable, State] = {}
        self._changing = threading.Lock()  # decks that grow states must not undo what is learned or forgotten meanwhile
        self._start = self._grown(index.learner.start(prior))

    @classmethod
    def of(cls, vocabulary: Vocabulary, learner: Learner, prior: Prior, schema: Schema) -> IndexedStates:
        """Nobody yet."""
        grown = prior.grown(vocabulary.dimensions)
        return cls(CandidateIndex(vocabulary, learner, prior=grown, schema=schema), prior)

    def relearned(self, learner: Learner, prior: Prior) -> IndexedStates:
        """The same people for another learner or prior, by which everybody is at the start."""
        return IndexedStates(self.index.relearned(learner, prior.grown(self.index.vocabulary.dimensions)), prior)

    def set_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Switch to a later version of the vocabulary. States grow when they are next needed, or by `grow`."""
        self.index.set_vocabulary(vocabulary)
        self._start = self._grown(self._start)

    def outgrown(self) -> list[Hashable]:
        """Whose states are over fewer terms than the vocabulary has by now."""
        dimensions = self.index.vocabulary.dimensions
        return [identifier for identifier, state in self._states.copy().items() if state.dimensions != dimensions]

    def grow(self, ids: Iterable[Hashable]) -> None:
        """Bring the states of some people to all terms of the vocabulary."""
        with self._changing:
            for identifier in ids:
                state = self._states.get(identifier)
                if state is not None:
                    self._states[identifier] = self._grown(state)

    def recommender(
        self, policy: Policy, *, fusion: str = "", cooldown: timedelta = COOLDOWN, repeats: bool = False
    ) -> Recommender:
        """Who deals by a policy. Several may deal from the same people."""
        return Recommender(
            index=self.index, states=self.states_of, policy=policy, fusion=fusion, cooldown=cooldown, repeats=repeats
        )

    def states_of(self, ids: Sequence[Hashable]) -> list[State]:
        found = [self._states.get(identifier, self._start) for identifier in ids]
        dimensions = self.index.vocabulary.dimensions
        if all(state.dimensions == dimensions for state in found):
            return found
        self.grow(ids)
        return [self._states.get(identifier, self._start) for identifier in ids]

    def learn(self, states: Mapping[Hashable, State]) -> None:
        """What people were found to like by now."""
        grown = {identifier: self._grown(state) for identifier, state in states.items()}
        with self._changing:
            self.index.set_states(grown)
            self._states.update(grown)

    def traits_of(self, ids: Iterable[Hashable]) -> dict[Hashable, Vector]:
        """Traits and doubts of those who are there; nothing without traits."""
        if not isinstance(self.index.learner, ProbitTraits):
            return {}
        with self.index.reading() as view:
            rows = view.candidate_rows(view.numbers(ids))
        return dict(zip(rows.ids, rows.appeal, strict=True))

    def forget(self, *ids: Hashable) -> None:
        """Take people and their states out."""
        with self._changing:
            self.index.remove(*ids)
            for identifier in ids:
                self._states.pop(identifier, None)

    def _grown(self, state: State) -> State:
        dimensions = self.index.vocabulary.dimensions
        return state if state.dimensions == dimensions else self.index.learner.grow(state, dimensions)
