"""A state as the index keeps it: a mean in eight bits, a threshold and one uncertainty; and a viewer's side of a pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.vectors import Matrix, Vector, unit, unit_rows
from kaczmatch.learners.belief.gaussian import GaussianLearner
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.state import State
from kaczmatch.recommend.index.columns import Array, packed
from kaczmatch.recommend.index.search_kernel import FORWARD, HARMONIC, MINIMUM, PRODUCT, ViewerWeights
from kaczmatch.recommend.viewer import Viewer
from kaczmatch.recommend.vocabulary import Vocabulary

# What a search ranks by: a fusion (the geometric mean orders as the product does), or the viewer's side alone.
_RANKED_BY = {"product": PRODUCT, "geometric": PRODUCT, "harmonic": HARMONIC, "minimum": MINIMUM, "forward": FORWARD}

_TYPICAL = 64  # made-up profiles that say how sure a typical score is


class CompactState(NamedTuple):
    """What many people like, a row each, before it is rounded."""

    mean: Matrix
    threshold: Vector
    appeal_weight: Vector
    certainty: Vector
    careless: Vector

    @classmethod
    def of(cls, learner: Learner, states: Sequence[State], typical: Vector) -> CompactState:
        """The uncertainty is that of a `typical` score, as `typical_spread` has it."""
        n, d = len(states), states[0].dimensions
        if not isinstance(learner, GaussianLearner):
            weights = unit_rows(np.array([learner.weights(state.cells, d) for state in states]).reshape(n, d))
            return cls(weights, np.zeros(n), np.zeros(n), np.ones(n), np.zeros(n))
        means, covariances, careless = learner.beliefs(states)
        spread = covariances @ typical
        appeal_weight = means[:, d + 1] if learner.appeal else np.zeros(n)
        return cls(means[:, :d], means[:, d], appeal_weight, 1.0 / np.sqrt(spread + learner.alpha), careless)

    def columns(self) -> dict[str, Array]:
        """As columns of the index: means in eight bits, a column a person, in units of a scale."""
        scale = _scale(self.mean)
        return {
            "mean": np.rint(self.mean / scale[:, None]).astype(np.int8).T,
            "unit": (scale * self.certainty).astype(np.float32),
            "offset": (self.threshold * self.certainty).astype(np.float32),
            "pull": (self.appeal_weight * self.certainty).astype(np.float32),
            "careless": self.careless.astype(np.float32),
        }


def lens(
    viewer: Viewer, ranked_by: str, typical: Vector, tag_places: NDArray[np.int64], feature_places: NDArray[np.int64]
) -> ViewerWeights:
    """The viewer's own taste as tables, and the viewer's profile as candidates see it."""
    learner = viewer.learner
    own = CompactState.of(learner, [viewer.state], typical)
    certainty = own.certainty[0]
    weights = own.mean[0] * certainty
    of_tags = weights[tag_places]
    scale = _scale(of_tags)
    eight = np.rint(of_tags / scale).astype(np.int8).view(np.uint8)
    profile = unit(viewer.profile.features)
    own_tags = tag_places[profile[tag_places] > 0.0]
    own_features = feature_places[profile[feature_places] != 0.0]
    return ViewerWeights(
        packed((eight >> _BITS & 1).astype(np.bool_)),
        np.float32(scale),
        weights[feature_places].astype(np.float32),
        np.float32(own.threshold[0] * certainty),
        np.float32(own.appeal_weight[0] * certainty),
        own_tags,
        np.float32(profile[own_tags].max(initial=0.0)),
        own_features,
        profile[own_features].astype(np.float32),
        np.float32(viewer.appeal),
        np.float32(own.careless[0]),
        isinstance(learner, GaussianLearner),
        _RANKED_BY[ranked_by],
    )


def typical_spread(learner: Learner, vocabulary: Vocabulary) -> Vector:
    """What, times a packed covariance, is the variance of a score, averaged over nobody's profiles: a quarter of all tags and
    standard-normal features."""
    if not isinstance(learner, GaussianLearner):
        return np.empty(0)
    rng = np.random.default_rng(0)
    tags = np.array([name.is_tag for name in vocabulary.terms])
    shape = _TYPICAL, vocabulary.dimensions
    profiles = np.where(tags, rng.random(shape) < 0.25, rng.standard_normal(shape))
    return np.asarray(learner.quadratic(learner.coordinates(profiles)).mean(axis=0))


def _scale(weights: Array) -> Array:
    """What one step is worth of weights rounded to eight bits."""
    largest = np.abs(weights).max(axis=-1, initial=0.0)
    return np.where(largest > 0.0, largest / 127.0, 1.0)


_BITS = np.arange(8, dtype=np.uint8)[:, None]
