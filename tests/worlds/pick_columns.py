"""A crowd as picks see it."""

from __future__ import annotations

from datetime import date

from kaczmatch.recommend.people.filters import FilterColumns
from kaczmatch.recommend.picks.columns import PickColumns
from worlds.crowd import Crowd

DAY = date(2026, 6, 1)


def columns_of(crowd: Crowd, excluded: list[tuple[int, int]]) -> PickColumns:
    people = FilterColumns.from_profiles(list(crowd.profiles.values()), crowd.index.schema)
    features = [profile.features for profile in crowd.profiles.values()]
    states, others = list(crowd.states.values()), list(crowd.others.values())
    vocabulary = crowd.index.vocabulary
    return PickColumns.of(people, features, crowd.learner, states, vocabulary, DAY, others=others, excluded=excluded)
