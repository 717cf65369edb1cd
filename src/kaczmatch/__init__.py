"""kaczmatch: learns what each person likes from that person's own swipes, for reciprocal recommendation.

Importing this package loads nothing heavy: each name is fetched, and its compiled kernels with it, when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kaczmatch.core.errors import InvalidInput
    from kaczmatch.core.swipes import Seen, SwipeLog
    from kaczmatch.learners.appeal import Appeal
    from kaczmatch.learners.contract import BeliefLearner, Learner, ProbabilisticLearner
    from kaczmatch.learners.hinge import Hinge
    from kaczmatch.learners.influence import Influence, influence
    from kaczmatch.learners.monitors import watch
    from kaczmatch.learners.population import fit_population, population_prior
    from kaczmatch.learners.prior import Prior
    from kaczmatch.learners.progressive import progressive
    from kaczmatch.learners.registry import LEARNERS, learner
    from kaczmatch.learners.replay import States, replay
    from kaczmatch.learners.state import State
    from kaczmatch.learners.threshold import calibrated_hinge

__version__ = "0.1.0"

_HOMES = {
    "Appeal": "learners.appeal",
    "BeliefLearner": "learners.contract",
    "Hinge": "learners.hinge",
    "Influence": "learners.influence",
    "InvalidInput": "core.errors",
    "LEARNERS": "learners.registry",
    "Learner": "learners.contract",
    "Prior": "learners.prior",
    "ProbabilisticLearner": "learners.contract",
    "Seen": "core.swipes",
    "State": "learners.state",
    "States": "learners.replay",
    "SwipeLog": "core.swipes",
    "calibrated_hinge": "learners.threshold",
    "fit_population": "learners.population",
    "influence": "learners.influence",
    "learner": "learners.registry",
    "population_prior": "learners.population",
    "progressive": "learners.progressive",
    "replay": "learners.replay",
    "watch": "learners.monitors",
}

__all__ = [
    "LEARNERS",
    "Appeal",
    "BeliefLearner",
    "Hinge",
    "Influence",
    "InvalidInput",
    "Learner",
    "Prior",
    "ProbabilisticLearner",
    "Seen",
    "State",
    "States",
    "SwipeLog",
    "calibrated_hinge",
    "fit_population",
    "influence",
    "learner",
    "population_prior",
    "progressive",
    "replay",
    "watch",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
