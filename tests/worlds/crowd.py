"""A crowd of people to recommend: the library without a service."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np

from kaczmatch import Learner, State, learner
from kaczmatch.core.swipes import ShownCandidate, appeal_row
from kaczmatch.core.vectors import Vector
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.recommend.decks.recommender import Recommender
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.recommend.people.location import Location
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.people.schema import DATING, Schema
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.recommend.scoring import Viewer


@dataclass
class Crowd:
    """People with tags, places and learned tastes, and the index of them."""

    profiles: dict[Hashable, Profile]
    states: dict[Hashable, State]
    others: dict[Hashable, Vector]
    index: CandidateIndex

    @property
    def learner(self) -> Learner:
        return self.index.learner

    def viewer(self, identifier: Hashable) -> Viewer:
        return Viewer(self.profiles[identifier], self.learner, self.states[identifier], self.others[identifier])

    def states_of(self, ids: Sequence[Hashable]) -> list[State]:
        return [self.states[identifier] for identifier in ids]

    def recommender(self, **settings: Any) -> Recommender:
        return Recommender(index=self.index, states=self.states_of, **settings)


def make_crowd(
    people: int,
    slug: str = "probit-diag",
    seed: int = 0,
    tags: int = 11,
    reals: int = 2,
    schema: Schema = DATING,
    ageless: float = 0.0,
    **settings: Any,
) -> Crowd:
    """A crowd that meets easily: about half of all pairs are compatible. A share `ageless` has given no date of birth."""
    rng = np.random.default_rng(seed)
    rule = learner(slug, **settings)

    def said(rng: np.random.Generator) -> Vector:
        """An appeal, or traits with their variances."""
        if not isinstance(rule, ProbitTraits):
            return appeal_row(rng.normal())
        return np.concatenate([rng.normal(size=rule.directions + rule.traits), rng.uniform(0.1, 1.0, rule.traits)])

    vocabulary = Vocabulary.of([f"tag {i}" for i in range(tags)], [f"feature {i}" for i in range(reals)])
    profiles: dict[Hashable, Profile] = {}
    states: dict[Hashable, State] = {}
    for identifier in range(people):
        features = np.concatenate([rng.random(tags) < 0.4, np.float32(rng.normal(size=reals))])
        profiles[identifier] = Profile(
            id=identifier,
            i_am=frozenset(rng.choice(schema.kinds, rng.integers(1, 3), replace=False).tolist()),
            i_look_for=frozenset(rng.choice(schema.kinds, rng.integers(1, 4), replace=False).tolist()),
            born=date(int(rng.integers(1960, 2011)), int(rng.integers(1, 13)), int(rng.integers(1, 29))),
            features=features,
            schema=schema,
            ages=(int(rng.integers(0, 35)), int(rng.integers(35, 80))),
            location=None if rng.random() < 0.2 else Location.from_coordinates(*(np.array([50.0, 8.0]) + rng.random(2)).tolist()),
        )
        if ageless and rng.random() < ageless:
            profiles[identifier] = replace(profiles[identifier], born=None)
        if profiles[identifier].location and rng.random() < 0.5:
            profiles[identifier] = replace(profiles[identifier], within_km=float(rng.choice([20.0, 60.0, 200.0])))
        state = rule.start(np.ones(tags + reals))
        for _ in range(int(rng.integers(0, 12))):
            seen = ShownCandidate(
                (rng.random(tags + reals) < 0.4).astype(float), said(rng) if isinstance(rule, ProbitTraits) else ()
            )
            state = rule.swipe(state, seen, int(rng.choice([-1, 1])))
        states[identifier] = state
    others = {identifier: said(rng) for identifier in profiles}
    index = CandidateIndex(vocabulary, rule, schema=schema)
    index.upsert(*profiles.values())
    index.set_states(states)
    index.set_others(others)
    return Crowd(profiles, states, others, index)
