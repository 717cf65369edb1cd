"""Why a candidate is shown, from the viewer's side alone: nothing here depends on what the candidate likes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.swipes import AnyLog
from kaczmatch.core.vectors import as_vector, unit
from kaczmatch.learners.logs.influence import leave_one_out_states
from kaczmatch.learners.prior import AnyPrior
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.recommend.scoring import Viewer


@final
@dataclass(frozen=True, slots=True)
class Explanation:
    """Terms that raise and terms that lower the forward score, and rows of the viewer's own swipes that raised it.

    Each comes with its contribution, the largest first.
    """

    raising: tuple[tuple[str, float], ...]
    lowering: tuple[tuple[str, float], ...]
    swipes: tuple[tuple[int, float], ...]


def explain(
    viewer: Viewer,
    features: ArrayLike | Mapping[str, float],
    vocabulary: Vocabulary,
    swipes: AnyLog | None = None,
    *,
    user: Hashable | None = None,
    prior: AnyPrior | None = None,
    most: int = 3,
) -> Explanation:
    """Which tags and features of a candidate count for and against them, and which past swipes raised them.

    A term contributes its learned weight times its share of the candidate's profile. A swipe contributes what the score loses
    when the viewer's log is folded without it.
    """
    shown = vocabulary.named(features) if isinstance(features, Mapping) else as_vector(features, "features")
    state = viewer.state
    if not len(shown) == vocabulary.dimensions == state.dimensions:
        sizes = f"{len(shown)} values, {vocabulary.dimensions} names and a state of {state.dimensions}"
        raise InvalidInput("features", f"must fit vocabulary and state, got {sizes}")
    parts = viewer.learner.weights(state.cells, state.dimensions) * unit(shown)
    order = np.argsort(-parts, kind="stable")
    named = [(vocabulary.terms[place].name, float(parts[place])) for place in order.tolist() if shown[place] != 0.0]
    raising = tuple(part for part in named if part[1] > 0.0)[:most]
    lowering = tuple(part for part in reversed(named) if part[1] < 0.0)[:most]
    if swipes is None:
        return Explanation(raising, lowering, ())
    whole, without = leave_one_out_states(viewer.learner, swipes, user, prior=prior)
    now = float(viewer.learner.score(whole, shown))
    effects = [(row, now - float(viewer.learner.score(other, shown))) for row, other in without]
    raised = sorted((effect for effect in effects if effect[1] > 0.0), key=lambda effect: -effect[1])
    return Explanation(raising, lowering, tuple(raised[:most]))
