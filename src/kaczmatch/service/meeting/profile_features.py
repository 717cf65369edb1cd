"""What a stored profile says, as a vector over the vocabulary and as names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.service.domain.records import Person
from kaczmatch.service.domain.sparse_features import entries_of, unpacked, unpacked_rows


def features_of(person: Person, vocabulary: Vocabulary) -> Vector:
    """Tags and features as a vector. Retired names count no more, and names that came after this vocabulary do not count yet."""
    features = unpacked(person.features, vocabulary.dimensions, beyond=True)
    if retired := _retired(vocabulary):
        features[retired] = 0.0
    return features


def feature_rows(people: Sequence[Person], vocabulary: Vocabulary) -> Matrix:
    """The same of many, one row each."""
    rows = unpacked_rows([person.features for person in people], vocabulary.dimensions)
    if retired := _retired(vocabulary):
        rows[:, retired] = 0.0
    return rows


@lru_cache(8)
def _retired(vocabulary: Vocabulary) -> list[int]:
    return [place for place, name in enumerate(vocabulary.terms) if name.retired]


def tag_names(people: Sequence[Person], vocabulary: Vocabulary) -> list[tuple[str, ...]]:
    """The names of the tags that each has."""
    tags = _tags(vocabulary)
    return [tuple([tags[place] for place, _ in entries_of(person.features) if place in tags]) for person in people]


@lru_cache(8)
def _tags(vocabulary: Vocabulary) -> dict[int, str]:
    """The names of tags by their places, without retired ones."""
    return {place: term.name for place, term in enumerate(vocabulary.terms) if term.is_tag and not term.retired}


def tags_of(person: Person, vocabulary: Vocabulary) -> tuple[list[str], dict[str, float]]:
    """Names of the tags somebody has, and their real-valued features."""
    values = features_of(person, vocabulary)
    used = [(vocabulary.terms[place], float(values[place])) for place in np.flatnonzero(values).tolist()]
    return [name.name for name, _ in used if name.is_tag], {name.name: value for name, value in used if not name.is_tag}
