"""Everybody as one model sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from kaczmatch.recommend.decks.indexed_states import IndexedStates
from kaczmatch.recommend.decks.recommender import Recommender
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import StoredState, StoredTraits


@final
@dataclass(slots=True, eq=False)
class Generation:
    """The people of the index as one model sees them. A second one is built beside the first when the model changes."""

    model: int
    people: IndexedStates
    recommender: Recommender
    loading: type[StoredState] | type[StoredTraits] = StoredState  # what is being loaded: states first, then traits
    reached: str = ""  # of whom it has been loaded, in the order of identifiers


def generation_of(context: Context, model: int, people: IndexedStates) -> Generation:
    config = context.config
    return Generation(model, people, people.recommender(config.policy, cooldown=config.cooldown, repeats=config.repeats))
