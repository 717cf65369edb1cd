"""What a stored profile says, as a vector over the vocabulary and as names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.service.domain.records import Person
from kaczmatch.service.domain.sparse_features import unpacked_rows


def features_of(person: Person, vocabulary: Vocabulary) -> Vector:
    """Tags and features as a vector. Retired names count no more, and names that came after this vocabulary do not count yet."""
    features: Vector = feature_rows([person], vocabulary)[0]
    return features


def feature_rows(people: Sequence[Person], vocabulary: Vocabulary) -> Matrix:
    """The same of many, one row each."""
    rows = unpacked_rows([person.features for person in people], vocabulary.dimensions)
    rows[:, _retired(vocabulary)] = 0.0
    return rows


@lru_cache(8)
def _retired(vocabulary: Vocabulary) -> list[int]:
    return [place for place, name in enumerate(vocabulary.terms) if name.retired]


def tags_of(person: Person, vocabulary: Vocabulary) -> tuple[list[str], dict[str, float]]:
    """Names of the tags somebody has, and their real-valued features."""
    return tags_in(features_of(person, vocabulary), vocabulary)


def tags_in(values: Vector, vocabulary: Vocabulary) -> tuple[list[str], dict[str, float]]:
    """The same of a vector."""
    used = [(vocabulary.terms[place], float(values[place])) for place in np.flatnonzero(values).tolist()]
    return [name.name for name, _ in used if name.is_tag], {name.name: value for name, value in used if not name.is_tag}
