"""Why somebody is shown, in the viewer's own terms: from what the viewer has swiped, and nothing of the other side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from kaczmatch.core.vectors import unit
from kaczmatch.recommend.decks.deck import Reason
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Person, StoredState
from kaczmatch.service.meeting.preferences import surely_liked
from kaczmatch.service.meeting.profiles import features_of
from kaczmatch.service.meeting.serving_index import grown_state

_MOST = 3
# Who was drawn at random looks like who was chosen: the difference would tell that they have not liked the viewer.
_PLAIN = {
    Reason.SAMPLED: "you are likely to get along, as far as one can tell yet",
    Reason.EXPLORED: "you are likely to get along, as far as one can tell yet",
    Reason.RELAXED: "you have met before, and everybody else was shown",
}


def told_reason(reason: str) -> str:
    """What the viewer is told of how a card came into the deck."""
    return str(Reason.SAMPLED) if reason == Reason.EXPLORED else reason


@final
@dataclass(frozen=True, slots=True)
class Why:
    """In words, and the tags that they name."""

    words: str
    fits: tuple[str, ...]


def current_words(context: Context) -> Vocabulary:
    with context.store.read() as reader:
        return context.catalogue.vocabulary(reader, context.catalogue.current(reader).vocabulary)


def why(context: Context, user: str, cards: Sequence[tuple[str, Person]]) -> tuple[list[Why], Vocabulary]:
    """For each card, a reason and a person; with the vocabulary that the tags are named by."""
    with context.store.read() as reader:
        current = context.catalogue.current(reader)
        words = context.catalogue.vocabulary(reader, current.vocabulary)
        fold = context.catalogue.fold(reader, current.model)
        taste = fold.decode(reader.get(StoredState, current.model, user))
    state = grown_state(fold, taste.state, words)
    weights = np.where(surely_liked(fold.learner, state), fold.learner.weights(state.cells, state.dimensions), 0.0)
    told = []
    for reason, person in cards:
        parts = weights * unit(features_of(person, words))
        best = np.argsort(-parts, kind="stable")[:_MOST]
        fits = tuple(words.terms[place].name for place in best.tolist() if parts[place] > 0.0) if taste.swipes else ()
        told.append(Why(f"you seem to like {_listed(fits)}" if fits else _PLAIN[Reason(reason)], fits))
    return told, words


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
