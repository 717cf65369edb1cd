"""The threshold θ between likes and passes for the six rules, fitted to a like rate instead of the paper's 0.52.

Cosines depend on the vocabulary. With sixty tags of which people have half, 0.52 separates likes from passes. With three tags
per film hardly a cosine reaches it, and nearly every like counts as a mistake.
"""

from __future__ import annotations

import numpy as np

from kaczmatch.core.errors import InvalidInput, check_number
from kaczmatch.core.swipes import AnyLog, SwipeLog
from kaczmatch.core.vectors import unit, unit_rows
from kaczmatch.learners.logs.fold import user_numbers
from kaczmatch.learners.logs.replay import prior_for
from kaczmatch.learners.prior import AnyPrior
from kaczmatch.learners.rules.kaczmarz import Hinge


def calibrated_hinge(
    log: AnyLog,
    prior: AnyPrior | None = None,
    *,
    like_rate: float | None = None,
    delta: float = 0.05,
    theta_step: float = 0.05,
) -> Hinge:
    """A hinge with θ such that a share `like_rate` of the candidates in `log` score above it, by default the share of likes.

    Scores are cosines to `prior`, where everybody starts. Everybody counts once, however much they swiped. With `step` above 0
    each user's θ then moves on its own.
    """
    swipes = SwipeLog.of(log)
    weights = prior_for(swipes, prior).weights
    if not len(swipes):
        raise InvalidInput("log", "has no swipes to calibrate a threshold on")
    _, numbers = user_numbers(swipes.user)
    share = 1.0 / np.bincount(numbers)[numbers]
    if like_rate is None:
        like_rate = float(np.average(swipes.label > 0.0, weights=share))
    check_number("like_rate", like_rate, low=0.0, high=1.0)
    known = unit_rows(swipes.features) @ unit(weights)
    scores = known if swipes.candidate_row is None else known[swipes.candidate_row]
    theta = float(np.quantile(scores, 1.0 - like_rate, weights=share, method="inverted_cdf"))
    return Hinge(theta=float(np.clip(theta, -1.0, 1.0)), delta=delta, theta_step=theta_step)
