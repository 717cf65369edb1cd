"""Compact states, as the index keeps them: a mean in eight bits, a threshold and one uncertainty. And the weights of a viewer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled_short
from kaczmatch.core.vectors import Integers, Matrix, Vector, unit, unit_rows
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.learners.contract import BeliefLearner, Learner, ScoreForm
from kaczmatch.learners.state import State, stacked_cells
from kaczmatch.recommend.index.columns import Array
from kaczmatch.recommend.index.search_kernel import FORWARD, HARMONIC, MINIMUM, PRODUCT, ViewerWeights, approximate_probability
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.recommend.scoring import Viewer

# What a search ranks by: a fusion (the geometric mean ranks like the product), or the forward score alone.
_RANKED_BY = {"product": PRODUCT, "geometric": PRODUCT, "harmonic": HARMONIC, "minimum": MINIMUM, "forward": FORWARD}

_TYPICAL = 64  # random profiles over which the variance of a score is averaged
_TYPICAL_DOUBT = 0.5  # of traits of which a few people have told


class CompactState(NamedTuple):
    """The states of many people, one row each, before rounding."""

    mean: Matrix
    threshold: Vector
    said_weight: Matrix  # of appeal, or of traits
    certainty: Vector
    random_share: Vector

    @classmethod
    def of(cls, learner: Learner, states: Sequence[State], typical: ScoreForm | None) -> CompactState:
        """The uncertainty is that of a typical score: `typical` comes from `typical_form`."""
        n, d = len(states), states[0].dimensions
        if not isinstance(learner, BeliefLearner) or typical is None:
            weights = unit_rows(np.array([learner.weights(state.cells, d) for state in states]).reshape(n, d))
            return cls(weights, np.zeros(n), np.zeros((n, 1)), np.ones(n), np.zeros(n))
        _, variance, random_share = learner.moments_by_user(states, typical)
        means = stacked_cells(states)[:, : len(typical.mean)]
        said_weight = means[:, d + 1 :] if means.shape[1] > d + 1 else np.zeros((n, 1))
        return cls(means[:, :d], means[:, d], said_weight, 1.0 / np.sqrt(variance), random_share)

    def columns(self) -> dict[str, Array]:
        """As columns of the index. Means are rounded to eight bits, one column per person."""
        scale = _eight_bit_scale(self.mean)
        return {
            "mean": np.rint(self.mean / scale[:, None]).astype(np.int8).T,
            "mean_scale": (scale * self.certainty).astype(np.float32),
            "offset": (self.threshold * self.certainty).astype(np.float32),
            "said_weight": (self.said_weight * self.certainty[:, None]).astype(np.float32).T,
            "random_share": self.random_share.astype(np.float32),
        }


def viewer_weights(
    viewer: Viewer,
    ranked_by: str,
    start: CompactState,
    typical: ScoreForm | None,
    tag_places: NDArray[np.int64],
    feature_places: NDArray[np.int64],
) -> ViewerWeights:
    """The viewer's state as bit planes and weights, and the viewer's profile as others score it; newcomers by their `start`."""
    learner, beliefs = viewer.learner, isinstance(viewer.learner, BeliefLearner)
    own = CompactState.of(learner, [viewer.state], typical)
    certainty = own.certainty[0]
    weights = own.mean[0] * certainty
    planes, scale = _bit_planes(weights, tag_places)
    profile = unit(viewer.profile.features)
    own_tags = tag_places[profile[tag_places] > 0.0]
    own_features = feature_places[profile[feature_places] != 0.0]
    said = np.zeros(own.said_weight.shape[1], np.float32)
    if np.size(viewer.others):
        said[:] = np.asarray(viewer.others)[: len(said)]  # without the variances
    of_start = (start.mean[0] @ profile + start.threshold[0] + start.said_weight[0] @ said) * start.certainty[0]
    return ViewerWeights(
        planes,
        np.float32(scale),
        weights[feature_places].astype(np.float32),
        np.float32(own.threshold[0] * certainty),
        (own.said_weight[0] * certainty).astype(np.float32),
        own_tags,
        np.float32(profile[own_tags].max(initial=0.0)),
        own_features,
        profile[own_features].astype(np.float32),
        said,
        approximate_probability(np.float32(of_start), np.float32(start.random_share[0]))
        if beliefs
        else np.float32(max(of_start, 0.0)),
        np.float32(own.random_share[0]),
        beliefs,
        _RANKED_BY[ranked_by],
    )


def typical_form(learner: Learner, vocabulary: Vocabulary) -> ScoreForm | None:
    """Of random profiles, which have a quarter of all tags, and standard normal features; None without a belief."""
    if not isinstance(learner, BeliefLearner):
        return None
    rng = np.random.default_rng(0)
    tags = np.array([name.is_tag for name in vocabulary.terms])
    shape = _TYPICAL, vocabulary.dimensions
    profiles = np.where(tags, rng.random(shape) < 0.25, rng.standard_normal(shape))
    traits, doubts = said_columns(learner)
    return learner.mean_form(profiles, [[0.0] * traits + [_TYPICAL_DOUBT] * doubts] if doubts else ())


def said_columns(learner: Learner) -> tuple[int, int]:
    """How many numbers others say of a candidate, and how many variances come with them: that of appeal is 0, and not kept."""
    return (learner.directions + learner.traits, learner.traits) if isinstance(learner, ProbitTraits) else (1, 0)


def _eight_bit_scale(weights: Array) -> Array:
    """The step of weights that are rounded to eight bits."""
    largest = np.abs(weights).max(axis=-1, initial=0.0)
    return np.where(largest > 0.0, largest / 127.0, 1.0)


@compiled_short
def _bit_planes(weights: Vector, tags: Integers) -> tuple[NDArray[np.uint64], float]:
    """The weights of tags in eight bits, as bit b of all of them for each b, packed like `pack_tags` does; and their step."""
    planes, largest = np.zeros(((len(tags) + 63) // 64, 8), np.uint64), 0.0
    for tag in tags:
        largest = max(largest, abs(weights[tag]))
    scale = largest / 127.0 if largest > 0.0 else 1.0
    for t in range(len(tags)):
        eight, place = np.int64(np.rint(weights[tags[t]] / scale)), np.uint64(t & 56 | 7 - (t & 7))
        for bit in range(8):
            planes[t >> 6, bit] |= np.uint64(eight >> bit & 1) << place
    return planes, scale
