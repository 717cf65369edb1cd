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
    from kaczmatch.recommend.both_ways import Viewer
    from kaczmatch.recommend.cards import Card, Deck, Opening, Reason
    from kaczmatch.recommend.deck import Recommender
    from kaczmatch.recommend.explanation import explain
    from kaczmatch.recommend.exposure import Exposure, gini, top_share
    from kaczmatch.recommend.index.candidate_index import CandidateIndex
    from kaczmatch.recommend.location import Location
    from kaczmatch.recommend.policy import Always, Decision, Experience, MutualPolicy, PaperPolicy
    from kaczmatch.recommend.profile import Profile
    from kaczmatch.recommend.rank import rank
    from kaczmatch.recommend.samplers.registry import SAMPLERS, sampler
    from kaczmatch.recommend.schema import DATING, MENTORING, Schema
    from kaczmatch.recommend.vocabulary import Vocabulary
    from kaczmatch.solvers.registry import SOLVERS, solver
    from kaczmatch.solvers.trace import Solution

__version__ = "0.1.0"

_HOMES = {
    "Always": "recommend.policy",
    "Appeal": "learners.appeal",
    "BeliefLearner": "learners.contract",
    "CandidateIndex": "recommend.index.candidate_index",
    "DATING": "recommend.schema",
    "Decision": "recommend.policy",
    "Card": "recommend.cards",
    "Deck": "recommend.cards",
    "Opening": "recommend.cards",
    "Reason": "recommend.cards",
    "Experience": "recommend.policy",
    "Exposure": "recommend.exposure",
    "Hinge": "learners.hinge",
    "Influence": "learners.influence",
    "InvalidInput": "core.errors",
    "LEARNERS": "learners.registry",
    "Learner": "learners.contract",
    "Location": "recommend.location",
    "MENTORING": "recommend.schema",
    "MutualPolicy": "recommend.policy",
    "PaperPolicy": "recommend.policy",
    "Prior": "learners.prior",
    "ProbabilisticLearner": "learners.contract",
    "Profile": "recommend.profile",
    "Recommender": "recommend.deck",
    "SAMPLERS": "recommend.samplers.registry",
    "SOLVERS": "solvers.registry",
    "Schema": "recommend.schema",
    "Seen": "core.swipes",
    "Solution": "solvers.trace",
    "State": "learners.state",
    "States": "learners.replay",
    "SwipeLog": "core.swipes",
    "Viewer": "recommend.both_ways",
    "Vocabulary": "recommend.vocabulary",
    "calibrated_hinge": "learners.threshold",
    "explain": "recommend.explanation",
    "fit_population": "learners.population",
    "gini": "recommend.exposure",
    "influence": "learners.influence",
    "learner": "learners.registry",
    "population_prior": "learners.population",
    "progressive": "learners.progressive",
    "rank": "recommend.rank",
    "replay": "learners.replay",
    "sampler": "recommend.samplers.registry",
    "solver": "solvers.registry",
    "top_share": "recommend.exposure",
    "watch": "learners.monitors",
}

__all__ = [
    "DATING",
    "LEARNERS",
    "MENTORING",
    "SAMPLERS",
    "SOLVERS",
    "Always",
    "Appeal",
    "BeliefLearner",
    "CandidateIndex",
    "Card",
    "Decision",
    "Deck",
    "Experience",
    "Exposure",
    "Hinge",
    "Influence",
    "InvalidInput",
    "Learner",
    "Location",
    "MutualPolicy",
    "Opening",
    "PaperPolicy",
    "Prior",
    "ProbabilisticLearner",
    "Profile",
    "Reason",
    "Recommender",
    "Schema",
    "Seen",
    "Solution",
    "State",
    "States",
    "SwipeLog",
    "Viewer",
    "Vocabulary",
    "calibrated_hinge",
    "explain",
    "fit_population",
    "gini",
    "influence",
    "learner",
    "population_prior",
    "progressive",
    "rank",
    "replay",
    "sampler",
    "solver",
    "top_share",
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
