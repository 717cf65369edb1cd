"""The names behind a vector: tags (0 or 1) and real-valued features, which come, change names and go."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import final

import numpy as np

from kaczmatch.core.errors import InvalidInput, nearest
from kaczmatch.core.vectors import Vector


@final
@dataclass(frozen=True, slots=True)
class Term:
    """One coordinate. It keeps its place for ever, so that states learned under older versions still fit."""

    name: str
    is_tag: bool = True
    retired: bool = False


@final
@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Names in their places, under a version that every change raises."""

    terms: tuple[Term, ...]
    version: int = 1

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for name in self.terms:
            if not isinstance(name.name, str) or not name.name.strip():
                raise InvalidInput("name", f"must be a text that says something, got {name.name!r}")
            if name.name in seen:
                raise InvalidInput("name", f"{name.name!r} is there already")
            seen.add(name.name)
        if not self.terms:
            raise InvalidInput("name", "a vocabulary needs at least one")

    @classmethod
    def of(cls, tags: Iterable[str] = (), features: Iterable[str] = ()) -> Vocabulary:
        return cls((*(Term(tag) for tag in tags), *(Term(feature, is_tag=False) for feature in features)))

    @property
    def dimensions(self) -> int:
        return len(self.terms)

    def add(self, tags: Iterable[str] = (), features: Iterable[str] = ()) -> Vocabulary:
        """New names at the end; grow the states with ``learner.grow(state, vocabulary.dimensions)``."""
        added = (*(Term(tag) for tag in tags), *(Term(feature, is_tag=False) for feature in features))
        return Vocabulary(self.terms + added, self.version + 1)

    def rename(self, old: str, new: str) -> Vocabulary:
        """The same coordinate under another name."""
        place = self._place(old)
        return self._changed(place, replace(self.terms[place], name=new))

    def retire(self, name: str) -> Vocabulary:
        """A name that no profile may use any more; its coordinate stays, at 0."""
        place = self._place(name)
        return self._changed(place, replace(self.terms[place], retired=True))

    def vector(self, tags: Iterable[str] = (), features: Mapping[str, float] | None = None) -> Vector:
        """Tags and feature values as the learners take them."""
        values = np.zeros(self.dimensions)
        if isinstance(tags, str):
            raise InvalidInput("tags", f"must be a list of tags, got the text {tags!r}")
        places = {known.name: place for place, known in enumerate(self.terms) if not known.retired}
        for tag in tags:
            values[self._used(tag, places, "tags", is_tag=True)] = 1.0
        for name, value in (features or {}).items():
            place = self._used(name, places, "features", is_tag=False)
            if isinstance(value, bool | np.bool_) or not isinstance(value, Real) or not math.isfinite(value):
                raise InvalidInput("features", f"{name!r} must be a finite number, got {value!r}")
            values[place] = float(value)
        return values

    def _place(self, name: str) -> int:
        for place, known in enumerate(self.terms):
            if known.name == name:
                return place
        raise InvalidInput("name", f"there is no {name!r}; {nearest(str(name), (known.name for known in self.terms))}")

    def _used(self, name: str, places: Mapping[str, int], field: str, *, is_tag: bool) -> int:
        place = places.get(name)
        if place is not None and self.terms[place].is_tag is is_tag:
            return place
        if any(known.name == name and known.retired for known in self.terms):
            raise InvalidInput(field, f"{name!r} was retired")
        kind = "tag" if is_tag else "feature"
        usable = [known for known, place in places.items() if self.terms[place].is_tag is is_tag]
        raise InvalidInput(field, f"there is no {kind} {name!r}; {nearest(str(name), usable)}")

    def _changed(self, place: int, name: Term) -> Vocabulary:
        return Vocabulary((*self.terms[:place], name, *self.terms[place + 1 :]), self.version + 1)
