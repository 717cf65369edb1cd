"""What was learned about somebody as sentences to them: what it is sure of, what it guesses, and what it does not know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kaczmatch.schemas.preferences import Weight

SURE: Final = 0.6  # how sure the sign of a weight must be before it is spoken of as somebody's taste
CLEAR: Final = 0.8  # how sure before it counts as known
_HOW_SURE: Final = ((0.95, "It is sure that you"), (CLEAR, "It is fairly sure that you"), (SURE, "It has a first idea that you"))
_MOST: Final = 3  # terms of a sentence
_UNKNOWN: Final = 2


def sentences(liked: Sequence[Weight], disliked: Sequence[Weight], terms: Sequence[str], swipes: int) -> tuple[str, ...]:
    """At most three: likes, dislikes, and what it knows least of. `liked` and `disliked` have the strongest first."""
    if not swipes:
        return ("It knows nothing about you yet: every like and every pass teaches it something.",)
    spoken = [one for one in (_side(liked, "like"), _side(disliked, "avoid")) if one]
    unknown = _unknown(liked, disliked, terms)
    if unknown:
        spoken.append(f"It has no idea about {listed(unknown)} yet.")
    return tuple(spoken)


def _side(weights: Sequence[Weight], verb: str) -> str:
    """The terms of the surest kind."""
    for least, words in _HOW_SURE:
        told = [one.term for one in weights if one.confidence is not None and one.confidence >= least][:_MOST]
        if told:
            return f"{words} {verb} {listed(told)}."
    told = [one.term for one in weights if one.confidence is None][:_MOST]  # a learner without a belief
    return f"You seem to {verb} {listed(told)}." if told else ""


def _unknown(liked: Sequence[Weight], disliked: Sequence[Weight], terms: Sequence[str]) -> list[str]:
    """The terms of which nothing is known, or least."""
    confidence = {one.term: 1.0 if one.confidence is None else one.confidence for one in (*liked, *disliked)}
    doubtful = sorted((confidence.get(term, 0.5), place, term) for place, term in enumerate(terms))
    return [term for sure, _, term in doubtful if sure < SURE][:_UNKNOWN]


def listed(names: Sequence[str]) -> str:
    """One, two and three."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
