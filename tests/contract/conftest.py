"""Every learner in every variant, and logs to feed them. A new learner is covered once it is in the registry."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

import kaczmatch
from kaczmatch import BeliefLearner, Hinge, Learner, State, SwipeLog
from kaczmatch.learners.rules.block import BlockLearner
from worlds.logs import random_swipes

OWN = Hinge(theta=0.2, theta_step=0.05)

VARIANTS: dict[str, Learner] = {slug: kaczmatch.learner(slug) for slug in kaczmatch.LEARNERS} | {
    "nk along the unit vector": kaczmatch.learner("nk", direction="unit"),
    "ogd along the unit vector": kaczmatch.learner("ogd", direction="unit"),
    "block-tk of 1": kaczmatch.learner("block-tk", k=1),
    "block-tk of 5": kaczmatch.learner("block-tk", k=5, alpha=0.01),
    "block-tk undamped": kaczmatch.learner("block-tk", alpha=0.0, k=9),
    "block-nk of 20": kaczmatch.learner("block-nk", k=20, alpha=9.0),
    "block-tk with adaptive damping": kaczmatch.learner("block-tk", condition=5.0, alpha=0.0),
    "block-tk of what is new": kaczmatch.learner("block-tk", novelty=0.37, k=7),
    "tk with thresholds of their own": kaczmatch.learner("tk", hinge=OWN),
    "k-nonorm with thresholds of their own": kaczmatch.learner("k-nonorm", hinge=OWN),
    "ogd with thresholds of their own": kaczmatch.learner("ogd", hinge=OWN),
    "nk with thresholds of their own": kaczmatch.learner("nk", hinge=OWN),
    "block-tk with thresholds of their own": kaczmatch.learner("block-tk", k=6, hinge=OWN),
    "block-nk with thresholds of their own": kaczmatch.learner("block-nk", k=6, hinge=OWN),
    "block-adaptive with thresholds of their own": kaczmatch.learner("block-adaptive", k=6, hinge=OWN),
    "probit with appeal": kaczmatch.learner("probit", appeal=True),
    "probit-diag with appeal": kaczmatch.learner("probit-diag", appeal=True),
    "probit that forgets": kaczmatch.learner("probit", half_life_days=3.0),
    "probit-diag that forgets": kaczmatch.learner("probit-diag", half_life_days=0.5, appeal=True),
    "probit that never looks for change": kaczmatch.learner("probit", false_alarms=0.0),
    "probit that sees change everywhere": kaczmatch.learner("probit", false_alarms=0.2),
    "probit-diag that sees change everywhere": kaczmatch.learner("probit-diag", false_alarms=0.2),
    "probit-traits with one trait": kaczmatch.learner("probit-traits", traits=1),
    "probit-traits with the whole covariance": kaczmatch.learner("probit-traits", traits=3, full=True),
    "probit-traits that forgets": kaczmatch.learner("probit-traits", half_life_days=2.0),
    "probit-traits that sees change everywhere": kaczmatch.learner("probit-traits", false_alarms=0.2),
    "probit with a fixed label noise": kaczmatch.learner("probit", label_noise_swipes=float("inf")),
    "probit-diag with a fixed label noise": kaczmatch.learner("probit-diag", label_noise_swipes=float("inf")),
}


@pytest.fixture(params=VARIANTS, ids=[name.replace(" ", "-") for name in VARIANTS])
def learner(request: pytest.FixtureRequest) -> Learner:
    return VARIANTS[request.param]


# Where a block ends early, that depends on the order of its rows.
BLOCKS = [name for name, variant in VARIANTS.items() if isinstance(variant, BlockLearner) and not variant.novelty]


@pytest.fixture(params=BLOCKS, ids=[name.replace(" ", "-") for name in BLOCKS])
def block_learner(request: pytest.FixtureRequest) -> Learner:
    return VARIANTS[request.param]


BELIEFS = {name: variant for name, variant in VARIANTS.items() if isinstance(variant, BeliefLearner)}


@pytest.fixture(params=BELIEFS, ids=[name.replace(" ", "-") for name in BELIEFS])
def belief_learner(request: pytest.FixtureRequest) -> BeliefLearner:
    return BELIEFS[request.param]


@pytest.fixture
def swipes() -> Callable[..., dict[str, Any]]:
    return random_swipes


def by_live_calls(learner: Learner, log: SwipeLog | dict[str, Any], prior: Any = None, rows: Any = None) -> State:
    """One user's rows of a log, swipe by swipe."""
    log = SwipeLog.of(log)
    state = learner.start(np.ones(log.dimensions) if prior is None else prior)
    before = None
    for row in range(len(log)) if rows is None else rows:
        if before is not None:
            if log.session is not None and log.session[row] != log.session[before]:
                state = learner.end_session(state)
            if log.at is not None:
                state = learner.advance(state, timedelta(microseconds=int(log.at[row] - log.at[before])))
        state = learner.swipe(state, log.shown_candidate(row), 1 if log.label[row] > 0 else -1)
        before = row
    return state


@pytest.fixture
def live() -> Callable[..., State]:
    return by_live_calls
