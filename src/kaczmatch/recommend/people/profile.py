"""A person as the recommender sees them."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import final

from numpy.typing import ArrayLike

from kaczmatch.core.errors import InvalidInput, check_integer, check_number
from kaczmatch.core.vectors import Vector, as_vector, check_vector, read_only
from kaczmatch.recommend.people.location import Location
from kaczmatch.recommend.people.schema import DATING, Schema
from kaczmatch.recommend.people.vocabulary import Vocabulary

MAX_AGE = 150


def age_on(born: date, day: date) -> int:
    """Completed years. In years without a 29 February, people born on that day complete one on 1 March."""
    return day.year - born.year - ((day.month, day.day) < (born.month, born.day))


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, init=False)
class Profile:
    """What a person is, whom the person looks for, and tags and features as a vector over the vocabulary."""

    id: Hashable
    i_am: frozenset[str]
    i_look_for: frozenset[str]
    features: Vector
    born: date | None
    ages: tuple[int, int]
    location: Location | None
    within_km: float
    schema: Schema = field(repr=False)

    def __init__(
        self,
        *,
        id: Hashable,
        i_am: Collection[str],
        i_look_for: Collection[str],
        features: ArrayLike | Mapping[str, float],
        vocabulary: Vocabulary | None = None,
        born: date | None = None,
        ages: tuple[int, int] = (0, MAX_AGE),
        location: Location | None = None,
        within_km: float = math.inf,
        schema: Schema = DATING,
    ) -> None:
        """`features` are values over the vocabulary, or a dictionary of tags and features with the `vocabulary` that has them."""
        if isinstance(features, Mapping):
            if vocabulary is None:
                raise InvalidInput("features", "is a dictionary; say in which vocabulary too: vocabulary=Vocabulary.of([…])")
            features = vocabulary.named(features)
        given = {
            "id": id,
            "i_am": i_am,
            "i_look_for": i_look_for,
            "features": read_only(check_vector(as_vector(features, "features"), "features").copy()),
            "born": born,
            "ages": ages,
            "location": location,
            "within_km": within_km,
            "schema": schema,
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        if self.id is None:
            raise InvalidInput("id", "must be given")
        for name in ("i_am", "i_look_for"):
            self.schema.mask(getattr(self, name), name)
            object.__setattr__(self, name, frozenset(getattr(self, name)))
        if self.born is not None and not isinstance(self.born, date):
            raise InvalidInput("born", f"must be a date, got {self.born!r}")
        if not isinstance(self.ages, tuple | list) or len(self.ages) != 2:
            raise InvalidInput("ages", f"must be the youngest and the oldest age, got {self.ages!r}")
        youngest, oldest = (check_integer("ages", age, low=0, high=MAX_AGE) for age in self.ages)
        if youngest > oldest:
            raise InvalidInput("ages", f"must be from the younger to the older, got {self.ages!r}")
        if self.location is not None and not isinstance(self.location, Location):
            raise InvalidInput(
                "location", f"must be a Location, such as Location.from_coordinates(48.1, 11.6), got {self.location!r}"
            )
        check_number("within_km", self.within_km, low=0.0)
        if self.within_km < math.inf and self.location is None:
            raise InvalidInput("location", "is needed to look for people within a distance")

    def old_enough(self, day: date) -> bool:
        """Whether the schema lets this person take part yet. Without a date of birth: where it asks for none."""
        return not self.schema.age_required if self.born is None else age_on(self.born, day) >= self.schema.minimum_age

    def possible_ages(self, day: date) -> tuple[int, int]:
        """The least and the greatest age that this person can have. An age that nobody knows passes every limit."""
        return (0, MAX_AGE) if self.born is None else (age := age_on(self.born, day), age)
