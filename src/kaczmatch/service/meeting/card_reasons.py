"""Why a card is shown, in the viewer's own terms: from the viewer's swipes, and from nothing that the candidate decided.

What many others said of a candidate may be a reason too, where that outweighs the tags. It never says who, or how many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, final

import numpy as np

from kaczmatch.core.vectors import Matrix, Vector, unit_rows
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.recommend.decks.deck import Reason
from kaczmatch.service.domain.records import Person
from kaczmatch.service.meeting.preference_sentences import listed
from kaczmatch.service.meeting.preferences import sure_weights
from kaczmatch.service.meeting.profile_features import feature_rows
from kaczmatch.service.meeting.viewer_context import ViewerState


@final
class CardReason(NamedTuple):
    """A sentence for the viewer; and for an app that writes its own, which sentence it is and the tags that it names."""

    code: str
    text: str
    tags: tuple[str, ...] = ()


_MOST_TAGS: Final = 3
_TELLING: Final = 0.25  # of a decision's standard deviation: what others say counts for so much at least
_MOST_DOUBT: Final = 0.5  # about a trait: then at least four people have told of it
_LIKED_BY_OTHERS: Final = CardReason("liked-by-others", "people with a taste like yours like them")
# A random card reads like a chosen one: the difference would tell that its person has not liked the viewer.
_EARLY: Final = CardReason("early", "you are likely to get along, as far as one can tell yet")
_UNLIKE_USUAL: Final = CardReason("unlike-usual", "not what you usually like: your answer teaches most")
_USUAL: Final[Mapping[str, CardReason]] = {
    Reason.SAMPLED: _EARLY,
    Reason.EXPLORED: _EARLY,
    Reason.PICKED: CardReason("picked", "picked for you today"),
    Reason.RANKED: CardReason("found-by-app", "the app found them for you"),
    Reason.REPEAT: CardReason("passed-before", "you passed before, and nobody new is left"),
    Reason.RELAXED: CardReason("met-before", "you have met before, and everybody else was shown"),
}


@final
@dataclass(frozen=True, slots=True, eq=False)
class CardReasons:
    """The reasons for one viewer's cards."""

    viewer: ViewerState

    def reasons(self, logged: Sequence[str], shown: Sequence[Person], said: Sequence[Vector | None]) -> list[CardReason]:
        """Why people are shown, given how the log says that each card came into the deck, and what others `said` of them."""
        if not self.viewer.tracked.swipes:
            return [_USUAL[one] for one in logged]
        features, terms = feature_rows(shown, self.viewer.vocabulary), self.viewer.vocabulary.terms
        # Weights of what the viewer surely likes or avoids, and 0 elsewhere.
        known = sure_weights(self.viewer.fold.learner, self.viewer.state) * unit_rows(features)
        parts = np.maximum(known, 0.0)
        best = np.argsort(-parts, axis=1, kind="stable")[:, :_MOST_TAGS]
        likes, weights = best.tolist(), np.take_along_axis(parts, best, axis=1).tolist()
        by_others = (self._told_by_others(features, said) > np.maximum(_TELLING, parts.sum(axis=1))).tolist()
        some = np.count_nonzero(known, axis=1).tolist()
        return [
            _LIKED_BY_OTHERS
            if by_others[card]
            else self._by_tags(
                tuple([terms[place].name for place, weight in zip(likes[card], weights[card], strict=True) if weight > 0.0]),
                one,
                some[card] > 0,
            )
            for card, one in enumerate(logged)
        ]

    def _by_tags(self, tags: tuple[str, ...], logged: str, known: bool) -> CardReason:
        if tags:
            return CardReason("liked-tags", f"you seem to like {listed(tags)}", tags)
        usual = _USUAL[logged]
        return _UNLIKE_USUAL if usual is _EARLY and known else usual

    def _told_by_others(self, features: Matrix, said: Sequence[Vector | None]) -> Vector:
        """What others say of each person beyond the tags, as this viewer weighs it. Of few people nothing is told."""
        model, learner, state = self.viewer.fold.traits, self.viewer.fold.learner, self.viewer.state
        told, known = np.zeros(len(said)), [card for card, one in enumerate(said) if one is not None]
        if not known or model is None or not isinstance(learner, ProbitTraits):
            return told
        heard = np.array([said[card] for card in known])
        traits, doubts = heard[:, learner.directions : -learner.traits], heard[:, -learner.traits :]
        beyond = traits - model.expected(features[known])[:, learner.directions :]
        weights = learner.mean(state)[-learner.traits :]
        told[known] = np.sum(np.where(doubts <= _MOST_DOUBT, weights * beyond, 0.0), axis=1)
        return told


def disclosed_reason(logged: str) -> str:
    """How a card came into the deck, as the viewer may know it."""
    return str(Reason.SAMPLED) if logged == Reason.EXPLORED else logged
