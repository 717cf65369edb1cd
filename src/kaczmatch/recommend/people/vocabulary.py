"""The vocabulary: which term each coordinate of a vector stands for. Terms are added, renamed and retired."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from numbers import Real
from typing import final

import numpy as np

from kaczmatch.core.errors import InvalidInput, did_you_mean
from kaczmatch.core.tags import named_vector
from kaczmatch.core.vectors import Vector


@final
@dataclass(frozen=True, slots=True)
class Term:
    """A tag (0 or 1) or a real-valued feature. It keeps its coordinate for ever, so that older states stay valid.

    A term with `kinds` is for people of these kinds only: what a mentor is, and mentees judge. Without, it is for everybody.
    """

    name: str
    is_tag: bool = True
    retired: bool = False
    kinds: tuple[str, ...] = ()

    def is_for(self, kinds: Collection[str]) -> bool:
        """Whether people of these kinds may have it."""
        return not self.kinds or not frozenset(self.kinds).isdisjoint(kinds)


@final
@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Terms in order, with a version that every change raises."""

    terms: tuple[Term, ...] = field(hash=False)  # it would take as long as what is looked up by it; the version tells them apart
    version: int = 1

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for term in self.terms:
            if not isinstance(term.name, str) or not term.name.strip():
                raise InvalidInput("name", f"must be a text that says something, got {term.name!r}")
            if term.name in seen:
                raise InvalidInput("name", f"{term.name!r} is there already")
            seen.add(term.name)
        if not self.terms:
            raise InvalidInput("name", "a vocabulary needs at least one")

    @classmethod
    def of(cls, tags: Iterable[str] = (), features: Iterable[str] = ()) -> Vocabulary:
        """A vocabulary of these tags, then these features."""
        return cls(_terms(tags, features))

    @property
    def dimensions(self) -> int:
        return len(self.terms)

    def add(self, tags: Iterable[str] = (), features: Iterable[str] = (), kinds: Iterable[str] = ()) -> Vocabulary:
        """New terms at the end, for everybody or for some kinds. Grow the states to ``vocabulary.dimensions``."""
        return Vocabulary(self.terms + _terms(tags, features, tuple(kinds)), self.version + 1)

    def rename(self, old: str, new: str) -> Vocabulary:
        """The same coordinate under another name."""
        coordinate = self._coordinate(old)
        return self._with_term(coordinate, replace(self.terms[coordinate], name=new))

    def retire(self, name: str) -> Vocabulary:
        """Profiles may no longer use this term. Its coordinate stays, at 0."""
        coordinate = self._coordinate(name)
        return self._with_term(coordinate, replace(self.terms[coordinate], retired=True))

    def vector(
        self, tags: Iterable[str] = (), features: Mapping[str, float] | None = None, kinds: Collection[str] | None = None
    ) -> Vector:
        """Tags and feature values as a vector; with `kinds`, of somebody of these kinds."""
        values = np.zeros(self.dimensions)
        if isinstance(tags, str):
            raise InvalidInput("tags", f"must be a list of tags, got the text {tags!r}")
        coordinates = _active(self)
        for tag in tags:
            values[self._active_coordinate(tag, coordinates, "tags", kinds, is_tag=True)] = 1.0
        for name, value in (features or {}).items():
            coordinate = self._active_coordinate(name, coordinates, "features", kinds, is_tag=False)
            if isinstance(value, bool | np.bool_) or not isinstance(value, Real) or not math.isfinite(value):
                raise InvalidInput("features", f"{name!r} must be a finite number, got {value!r}")
            values[coordinate] = float(value)
        return values

    def named(self, values: Mapping[str, float]) -> Vector:
        """One dictionary of tags and features as a vector. A name that is left out has the value 0."""
        active = [coordinate for coordinate, term in enumerate(self.terms) if not term.retired]
        vector = np.zeros(self.dimensions)
        vector[active] = named_vector(values, tuple(self.terms[coordinate].name for coordinate in active), "features")
        return vector

    def _coordinate(self, name: str) -> int:
        for coordinate, known in enumerate(self.terms):
            if known.name == name:
                return coordinate
        raise InvalidInput("name", f"there is no {name!r}; {did_you_mean(str(name), (known.name for known in self.terms))}")

    def _active_coordinate(
        self, name: str, coordinates: Mapping[str, int], field: str, kinds: Collection[str] | None, *, is_tag: bool
    ) -> int:
        coordinate = coordinates.get(name)
        if coordinate is not None and self.terms[coordinate].is_tag is is_tag:
            term = self.terms[coordinate]
            if kinds is not None and not term.is_for(kinds):
                raise InvalidInput(field, f"{name!r} is for {' or '.join(term.kinds)}, not for {' or '.join(sorted(kinds))}")
            return coordinate
        if any(known.name == name and known.retired for known in self.terms):
            raise InvalidInput(field, f"{name!r} was retired")
        kind = "tag" if is_tag else "feature"
        terms = [self.terms[coordinate] for coordinate in coordinates.values()]
        usable = [term.name for term in terms if term.is_tag is is_tag and (kinds is None or term.is_for(kinds))]
        raise InvalidInput(field, f"there is no {kind} {name!r}; {did_you_mean(str(name), usable)}")

    def _with_term(self, coordinate: int, name: Term) -> Vocabulary:
        return Vocabulary((*self.terms[:coordinate], name, *self.terms[coordinate + 1 :]), self.version + 1)


@lru_cache(8)
def _active(vocabulary: Vocabulary) -> dict[str, int]:
    """The coordinates of terms that profiles may use."""
    return {known.name: coordinate for coordinate, known in enumerate(vocabulary.terms) if not known.retired}


def _terms(tags: Iterable[str], features: Iterable[str], kinds: tuple[str, ...] = ()) -> tuple[Term, ...]:
    return (*(Term(tag, kinds=kinds) for tag in tags), *(Term(name, is_tag=False, kinds=kinds) for name in features))
