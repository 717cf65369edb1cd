"""A candidate index together with everybody's states, and the recommenders that deal from both."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from datetime import timedelta
from typing import final

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

    def __init__(self, vocabulary: Vocabulary, learner: Learner, prior: Prior, schema: Schema) -> None:
        dimensions = vocabulary.dimensions
        self.index = CandidateIndex(vocabulary, learner, prior=prior.grown(dimensions), schema=schema)
        self._states: dict[Hashable, State] = {}
        self._start = self._grown(learner.start(prior))

    def recommender(
        self, policy: Policy, *, fusion: str = "", cooldown: timedelta = COOLDOWN, repeats: bool = False
    ) -> Recommender:
        """Who deals by a policy. Several may deal from the same people."""
        return Recommender(
            index=self.index, states=self.states_of, policy=policy, fusion=fusion, cooldown=cooldown, repeats=repeats
        )

    def states_of(self, ids: Sequence[Hashable]) -> list[State]:
        return [self._states.get(identifier, self._start) for identifier in ids]

    def learn(self, states: Mapping[Hashable, State]) -> None:
        """What people were found to like by now."""
        grown = {identifier: self._grown(state) for identifier, state in states.items()}
        self.index.set_states(grown)
        self._states.update(grown)

    def forget(self, *ids: Hashable) -> None:
        """Take people and their states out."""
        self.index.remove(*ids)
        for identifier in ids:
            self._states.pop(identifier, None)

    def _grown(self, state: State) -> State:
        dimensions = self.index.vocabulary.dimensions
        return state if state.dimensions == dimensions else self.index.learner.grow(state, dimensions)
