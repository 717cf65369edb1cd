"""What was learned, as sentences: no surer than it is."""

from __future__ import annotations

from kaczmatch.schemas.preferences import Weight
from kaczmatch.service.meeting.preference_sentences import sentences


def weight(term: str, confidence: float | None, value: float = 1.0) -> Weight:
    return Weight(term=term, weight=value, spread=None if confidence is None else 1.0, confidence=confidence)


def test_before_the_first_swipe_nothing_is_known() -> None:
    (words,) = sentences((), (), ("chess",), 0)
    assert words.startswith("It knows nothing about you yet")


def test_what_is_surest_is_said_first_and_what_is_unknown_last() -> None:
    liked = [weight("chess", 0.85), weight("jazz", 0.97), weight("wine", 0.7)]
    disliked = [weight("opera", 0.65, -1.0), weight("dogs", 0.55, -1.0)]
    assert sentences(liked, disliked, ("chess", "jazz", "wine", "opera", "dogs", "cats"), 9) == (
        "It is sure that you like jazz.",
        "It has a first idea that you avoid opera.",
        "It has no idea about cats and dogs yet.",
    )
    assert sentences(liked[::2], (), ("chess", "wine"), 9) == ("It is fairly sure that you like chess.",)


def test_a_learner_without_a_belief_says_how_it_seems() -> None:
    assert sentences([weight("chess", None)], (), ("chess",), 3) == ("You seem to like chess.",)
