"""Why a card is shown, in the viewer's own terms: from the viewer's swipes, and from nothing that the candidate decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, final

import numpy as np

from kaczmatch.core.vectors import Vector, unit
from kaczmatch.recommend.decks.deck import Reason
from kaczmatch.service.domain.records import Person
from kaczmatch.service.meeting.preferences import surely_liked
from kaczmatch.service.meeting.profiles import features_of
from kaczmatch.service.meeting.viewer_context import ViewerState

_MOST_TAGS: Final = 3
# A random card reads like a chosen one: the difference would tell that its person has not liked the viewer.
_EARLY: Final = ("early", "you are likely to get along, as far as one can tell yet")
_WITHOUT_TAGS: Final = {
    Reason.SAMPLED: _EARLY,
    Reason.EXPLORED: _EARLY,
    Reason.PICKED: ("picked", "picked for you today"),
    Reason.RANKED: ("found-by-app", "the app found them for you"),
    Reason.REPEAT: ("passed-before", "you passed before, and nobody new is left"),
    Reason.RELAXED: ("met-before", "you have met before, and everybody else was shown"),
}


@final
@dataclass(frozen=True, slots=True)
class CardReason:
    """A sentence for the viewer; and for an app that writes its own, which sentence it is and the tags that it names."""

    code: str
    text: str
    tags: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True, eq=False)
class CardReasons:
    """The reasons for one viewer's cards."""

    viewer: ViewerState
    _weights: Vector = field(init=False, repr=False)  # of what the viewer surely likes; 0 elsewhere

    def __post_init__(self) -> None:
        learner, state = self.viewer.fold.learner, self.viewer.state
        liked = surely_liked(learner, state)
        object.__setattr__(self, "_weights", np.where(liked, learner.weights(state.cells, state.dimensions), 0.0))

    def reason(self, logged: str, person: Person) -> CardReason:
        """Why somebody is shown, given how the log says that the card came into the deck."""
        tags = self._fitting_tags(person) if self.viewer.tracked.swipes else ()
        return (
            CardReason("liked-tags", f"you seem to like {_listed(tags)}", tags)
            if tags
            else CardReason(*_WITHOUT_TAGS[Reason(logged)], ())
        )

    def _fitting_tags(self, person: Person) -> tuple[str, ...]:
        parts = self._weights * unit(features_of(person, self.viewer.vocabulary))
        best = np.argsort(-parts, kind="stable")[:_MOST_TAGS]
        return tuple(self.viewer.vocabulary.terms[place].name for place in best.tolist() if parts[place] > 0.0)


def disclosed_reason(logged: str) -> str:
    """How a card came into the deck, as the viewer may know it."""
    return str(Reason.SAMPLED) if logged == Reason.EXPLORED else logged


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
