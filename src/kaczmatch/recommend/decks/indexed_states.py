"""A candidate index together with everybody's states, and the recommenders that deal from both."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Vector
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.state import State, StateRows
from kaczmatch.recommend.decks.eligible import COOLDOWN
from kaczmatch.recommend.decks.policy import Policy
from kaczmatch.recommend.decks.recommender import Recommender
from kaczmatch.recommend.decks.state_columns import StateColumns, StatesByNumber
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.recommend.index.membership import PersonNumbers
from kaczmatch.recommend.people.schema import Schema
from kaczmatch.recommend.people.vocabulary import Vocabulary


@final
class IndexedStates(StatesByNumber):
    """People come and go through `index`; `learn` tells it and the recommenders their states.

    Somebody whose state is not known is taken to be at the start. States grow to the terms of the vocabulary.
    """

    def __init__(self, index: CandidateIndex, prior: Prior) -> None:
        self.index = index
        self._changing = threading.RLock()  # held by whoever changes states; they are written while nobody reads the index
        # Those over the terms of the vocabulary come first, then those over fewer terms, which are still to grow.
        self._states = [StateColumns(self._grown(index.learner.start(prior)))]

    @classmethod
    def of(cls, vocabulary: Vocabulary, learner: Learner, prior: Prior, schema: Schema) -> IndexedStates:
        """Nobody yet."""
        grown = prior.grown(vocabulary.dimensions)
        return cls(CandidateIndex(vocabulary, learner, prior=grown, schema=schema), prior)

    def relearned(self, learner: Learner, prior: Prior) -> IndexedStates:
        """The same people for another learner or prior, by which everybody is at the start."""
        return IndexedStates(self.index.relearned(learner, prior.grown(self.index.vocabulary.dimensions)), prior)

    def save(self, folder: Path, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write people and states to a folder, with what else belongs to them."""
        with self._changing:
            with self.index.changing():
                for older in self._states[1:]:
                    self._grow(older.people())
            self.index.save(folder, about, {**self._states[0].arrays(), **arrays})

    @classmethod
    def open(cls, folder: Path, learner: Learner, prior: Prior) -> tuple[IndexedStates, dict[str, Any], dict[str, NDArray[Any]]]:
        """What `save` wrote, mapped: people and states, and what else was saved. Odd states (`state_odd`) are not known."""
        index, about, arrays = CandidateIndex.opened(folder, learner)
        people = cls(index, prior)
        try:
            people._states = [StateColumns.kept_in(people._states[0].start, arrays)]
        except (KeyError, ValueError) as problem:
            raise InvalidInput("folder", f"{folder}: has no states of {learner} ({problem})") from problem
        return people, about, arrays

    def set_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Switch to a later version of the vocabulary. States grow when they are next needed, or by `grow`."""
        with self._changing:
            self.index.set_vocabulary(vocabulary)
            start = self._grown(self._states[0].start)
            if start is not self._states[0].start:
                with self.index.changing():
                    self._states.insert(0, StateColumns(start))

    def outgrown(self) -> list[Hashable]:
        """Whose states are over fewer terms than the vocabulary has by now."""
        with self._changing:
            numbers = [number for older in self._states[1:] for number in older.people().tolist()]
            self._states[1:] = [older for older in self._states[1:] if len(older.people())]
            return self.index.ids_of(np.array(numbers, np.int32))

    def grow(self, ids: Iterable[Hashable]) -> None:
        """Bring the states of some people to all terms of the vocabulary."""
        with self._changing, self.index.changing():
            self._grow(self.index.numbers_of(ids))

    def recommender(
        self, policy: Policy, *, fusion: str = "", cooldown: timedelta = COOLDOWN, repeats: bool = False
    ) -> Recommender:
        """Who deals by a policy. Several may deal from the same people."""
        return Recommender(index=self.index, states=self, policy=policy, fusion=fusion, cooldown=cooldown, repeats=repeats)

    def __call__(self, ids: Sequence[Hashable]) -> Sequence[State]:
        with self.index.reading():
            found = self.at(self.index.numbers_of(ids))
            return found.copied() if isinstance(found, StateRows) else found

    def at(self, numbers: PersonNumbers) -> Sequence[State]:
        newest, *older = self._states
        found = newest.states(numbers)
        for columns in older:  # of people who do not swipe while their states wait to be grown
            waiting = [place for place, number in enumerate(numbers.tolist()) if number >= 0 and columns.knows(number)]
            if waiting:
                found = [*found]
                for place, state in zip(waiting, columns.states(numbers[waiting]), strict=True):
                    found[place] = self._grown(state)
        return found

    def learn(self, states: Mapping[Hashable, State]) -> None:
        """What people were found to like by now."""
        grown = {identifier: self._grown(state) for identifier, state in states.items()}
        with self._changing, self.index.changing():
            self.index.set_states(grown)
            numbers = self.index.numbers_of(grown)
            for number, state in zip(numbers.tolist(), grown.values(), strict=True):
                if number >= 0:
                    for older in self._states[1:]:
                        older.clear(number)
                    self._states[0].set(number, state)

    def traits_of(self, ids: Iterable[Hashable]) -> dict[Hashable, Vector]:
        """Traits and doubts of those who are there; nothing without traits."""
        if not isinstance(self.index.learner, ProbitTraits):
            return {}
        with self.index.reading() as view:
            rows = view.candidate_rows(view.numbers(ids))
            return dict(zip(rows.ids(), rows.others, strict=True))

    def forget(self, *ids: Hashable) -> None:
        """Take people and their states out. Somebody else may get the number of one, so the state goes first."""
        with self._changing, self.index.changing():
            for number in self.index.numbers_of(ids).tolist():
                if number >= 0:
                    self._clear(number)
            self.index.remove(*ids)

    def _clear(self, number: int) -> None:
        for columns in self._states:
            columns.clear(number)

    def _grow(self, numbers: PersonNumbers) -> None:
        for older in self._states[1:]:
            for number in numbers.tolist():
                if number >= 0 and older.knows(number):
                    (state,) = older.states(np.array([number], np.int32))
                    older.clear(number)
                    self._states[0].set(number, self._grown(state))

    def _grown(self, state: State) -> State:
        dimensions = self.index.vocabulary.dimensions
        return state if state.dimensions == dimensions else self.index.learner.grow(state, dimensions)
