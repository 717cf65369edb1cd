"""Features by name: a dictionary of tags and values in place of a vector. A name that is left out has the value 0."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.errors import InvalidInput, check_number, did_you_mean
from kaczmatch.core.vectors import Matrix, Vector

Tags = tuple[str, ...]
Features = ArrayLike | Mapping[str, float] | Sequence[Mapping[str, float]]


def is_named_rows(features: object) -> TypeGuard[Sequence[Mapping[str, float]]]:
    """Whether it is a list of dictionaries."""
    return isinstance(features, list | tuple) and bool(features) and isinstance(features[0], Mapping)


def tags_in(rows: Iterable[Mapping[str, Any]]) -> Tags:
    """All names, in the order in which they first appear."""
    return tuple(dict.fromkeys(name for row in rows for name in row))


def checked_tags(names: Iterable[str], dimensions: int) -> Tags:
    found = tuple(names)
    if len(found) != dimensions or len(set(found)) != dimensions:
        raise InvalidInput("tags", f"must be {dimensions} different names, got {len(found)}")
    return found


def named_vector(values: Mapping[str, Any], tags: Tags, field: str) -> Vector:
    return np.asarray(named_matrix([values], tags, field)[0])


def named_matrix(rows: Sequence[Mapping[str, Any]], tags: Tags, field: str) -> Matrix:
    """One row per dictionary, one column per tag."""
    place = {name: column for column, name in enumerate(tags)}
    matrix = np.zeros((len(rows), len(tags)))
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InvalidInput(field, f"row {number}: must be a dictionary of tags as the rows before, got {type(row).__name__}")
        for name, value in row.items():
            if name not in place:
                raise InvalidInput(field, f"row {number}: there is no tag {name!r}; {did_you_mean(str(name), map(str, tags))}")
            known = float(value) if isinstance(value, bool | np.bool_) else check_number(field, value, low=-1e50, high=1e50)
            matrix[number, place[name]] = known
    return matrix
