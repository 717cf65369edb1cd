"""Where the six rules should draw the line between likes and passes: θ from a like rate instead of the paper's 0.52.

Cosines depend on the vocabulary: over sixty tags of which people have half, 0.52 separates; over films with three tags each
hardly a cosine reaches it, and a rule with that θ takes nearly every like for a mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.errors import InvalidInput, checked
from kaczmatch.core.swipes import SwipeLog
from kaczmatch.core.vectors import unit, unit_rows
from kaczmatch.learners.logs.grouping import numbered
from kaczmatch.learners.logs.replay import prior_for
from kaczmatch.learners.prior import Prior
from kaczmatch.learners.rules.hinge import Hinge


def calibrated_hinge(
    log: SwipeLog | Mapping[str, Any],
    prior: Prior | ArrayLike | None = None,
    *,
    like_rate: float | None = None,
    delta: float = 0.05,
    step: float = 0.05,
) -> Hinge:
    """A hinge whose θ a share `like_rate` of the candidates shown in `log` score above, by default as many as were liked.

    Scores are cosines to `prior`, where everybody starts. Everybody counts once, however much they swiped. With `step` above 0
    each user's θ then moves on its own.
    """
    swipes = SwipeLog.of(log)
    weights = prior_for(swipes, prior).weights
    if not len(swipes):
        raise InvalidInput("log", "has no swipes to calibrate a threshold on")
    _, numbers = numbered(swipes.user)
    share = 1.0 / np.bincount(numbers)[numbers]
    if like_rate is None:
        like_rate = float(np.average(swipes.label > 0.0, weights=share))
    checked("like_rate", like_rate, low=0.0, high=1.0)
    known = unit_rows(swipes.features) @ unit(weights)
    scores = known if swipes.row is None else known[swipes.row]
    theta = float(np.quantile(scores, 1.0 - like_rate, weights=share, method="inverted_cdf"))
    return Hinge(theta=float(np.clip(theta, -1.0, 1.0)), delta=delta, step=step)
