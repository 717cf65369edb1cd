"""The learners that contracts are tested on, and logs to feed them. A new rule's kernel is tested once it is in the registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

import kaczmatch
from kaczmatch import BeliefLearner, Hinge, Learner, State, SwipeLog
from kaczmatch.learners.rules.kaczmarz import BlockLearner
from worlds.logs import random_swipes

OWN = Hinge(theta=0.2, theta_step=0.05)

# Twelve kinds of learners: between them they take every path through the contract.
KINDS: dict[str, Learner] = {
    "tk": kaczmatch.learner("tk"),
    "ogd along the unit vector, with thresholds of their own": kaczmatch.learner("ogd", direction="unit", hinge=OWN),
    "block-tk of 6 with thresholds of their own": kaczmatch.learner("block-tk", k=6, alpha=0.01, hinge=OWN),
    "block-nk": kaczmatch.learner("block-nk"),
    "block-adaptive": kaczmatch.learner("block-adaptive"),
    "rocchio": kaczmatch.learner("rocchio"),
    "pegasos": kaczmatch.learner("pegasos"),
    "logistic": kaczmatch.learner("logistic"),
    "probit that forgets": kaczmatch.learner("probit", half_life_days=3.0),
    "probit-diag with appeal": kaczmatch.learner("probit-diag", appeal=True),
    "probit-traits that forgets": kaczmatch.learner("probit-traits", half_life_days=2.0),
    "probit-traits with the whole covariance that sees change everywhere": kaczmatch.learner(
        "probit-traits", traits=3, full=True, false_alarms=0.2
    ),
}

# A kernel has branches of its own: every rule in the registry, and the settings that lead elsewhere in it.
KERNELS: dict[str, Learner] = (
    KINDS
    | {slug: kaczmatch.learner(slug) for slug in kaczmatch.LEARNERS}
    | {
        "nk with thresholds of their own": kaczmatch.learner("nk", hinge=OWN),
        "k-nonorm with thresholds of their own": kaczmatch.learner("k-nonorm", hinge=OWN),
        "tk with thresholds of their own": kaczmatch.learner("tk", hinge=OWN),
        "block-tk undamped": kaczmatch.learner("block-tk", alpha=0.0, k=9),
        "block-tk of 1": kaczmatch.learner("block-tk", k=1),
        "block-nk of 7 with thresholds of their own": kaczmatch.learner("block-nk", k=7, hinge=OWN),
        "block-tk with adaptive damping": kaczmatch.learner("block-tk", condition=5.0, alpha=0.0),
        "probit with appeal": kaczmatch.learner("probit", appeal=True),
        "probit with a fixed label noise": kaczmatch.learner("probit", label_noise_swipes=float("inf")),
        "probit that sees change everywhere": kaczmatch.learner("probit", false_alarms=0.2),
        "probit-diag that sees change everywhere": kaczmatch.learner("probit-diag", false_alarms=0.2),
        "probit-diag that never looks for change": kaczmatch.learner("probit-diag", false_alarms=0.0),
    }
)


def each_of(learners: Mapping[str, Learner]) -> dict[str, Any]:
    return {"params": learners.values(), "ids": [name.replace(" ", "-") for name in learners]}


@pytest.fixture(**each_of(KINDS))
def learner(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(**each_of(KERNELS))
def with_kernels(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(**each_of({name: kind for name, kind in KINDS.items() if isinstance(kind, BlockLearner)}))
def block_learner(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(**each_of({name: kind for name, kind in KINDS.items() if isinstance(kind, BeliefLearner)}))
def belief_learner(request: pytest.FixtureRequest) -> Any:
    return request.param


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
