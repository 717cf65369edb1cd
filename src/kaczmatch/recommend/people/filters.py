"""Hard filters, in plain numpy: rules that no deck breaks, in either direction."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.recommend.people.location import NOWHERE, NOWHERE_ELSE, max_squared_chord
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.people.schema import Schema

Mask = NDArray[np.bool_]

NO_BIRTH_DATE: Final = 0  # in columns, for people who have given none


@final
@dataclass(frozen=True, slots=True, eq=False)
class FilterColumns:
    """What the filters need of many people, one row per person."""

    schema: Schema
    ids: Sequence[Hashable]
    i_am: NDArray[np.uint32]
    i_look_for: NDArray[np.uint32]
    born: NDArray[np.int32]  # yyyymmdd, or `NO_BIRTH_DATE`
    youngest: NDArray[np.uint8]
    oldest: NDArray[np.uint8]
    x: NDArray[np.float32]  # the place on the unit sphere; `NOWHERE` for people without one
    y: NDArray[np.float32]
    z: NDArray[np.float32]
    max_squared_chord: NDArray[np.float32]  # for the distance within which this person looks

    @classmethod
    def from_profiles(cls, profiles: Sequence[Profile], schema: Schema) -> FilterColumns:
        for profile in profiles:
            if profile.schema != schema:
                raise InvalidInput("schema", f"{profile.id!r} belongs to another schema")
        points = np.array([p.location.point if p.location else NOWHERE for p in profiles], np.float32).reshape(-1, 3)
        return cls(
            schema,
            [p.id for p in profiles],
            np.array([schema.mask(p.i_am, "i_am") for p in profiles], np.uint32),
            np.array([schema.mask(p.i_look_for, "i_look_for") for p in profiles], np.uint32),
            np.array([date_number(p.born) for p in profiles], np.int32),
            np.array([p.ages[0] for p in profiles], np.uint8),
            np.array([p.ages[1] for p in profiles], np.uint8),
            points[:, 0],
            points[:, 1],
            points[:, 2],
            np.array([max_squared_chord(p.within_km) for p in profiles], np.float32),
        )

    def __len__(self) -> int:
        return len(self.ids)


def profile_filters(viewer: Profile, candidates: FilterColumns, day: date) -> dict[str, Mask]:
    """Who passes each filter that two profiles decide."""
    if viewer.schema != candidates.schema:
        raise InvalidInput("schema", "the viewer and the candidates belong to different schemas")
    ages = (date_number(day) - candidates.born) // 10_000
    ageless = candidates.born == NO_BIRTH_DATE
    least, greatest = viewer.possible_ages(day)
    schema = candidates.schema
    looks_for, is_a = schema.mask(viewer.i_look_for, "i_look_for"), schema.mask(viewer.i_am, "i_am")
    return {
        "minimum age": np.where(ageless, not schema.age_required, ages >= schema.minimum_age) & viewer.old_enough(day),
        "looks for": ((candidates.i_am & looks_for) != 0) & ((candidates.i_look_for & is_a) != 0),
        "age": (ageless | ((ages >= viewer.ages[0]) & (ages <= viewer.ages[1])))
        & (greatest >= candidates.youngest)
        & (least <= candidates.oldest),
        "distance": _within_distance(viewer, candidates),
    }


def all_filters(
    viewer: Profile, candidates: FilterColumns, day: date, blocked: Collection[Hashable] = frozenset()
) -> dict[str, Mask]:
    """Who passes each filter. `blocked` are people who blocked the viewer or whom the viewer blocked."""
    return {
        "self": np.array([identifier != viewer.id for identifier in candidates.ids], np.bool_),
        "blocked": np.array([identifier not in blocked for identifier in candidates.ids], np.bool_),
        **profile_filters(viewer, candidates, day),
    }


def passes_all_filters(
    viewer: Profile, candidates: FilterColumns, day: date, blocked: Collection[Hashable] = frozenset()
) -> Mask:
    """Who passes every filter."""
    return all_pass(all_filters(viewer, candidates, day, blocked))


def all_pass(flags: dict[str, Mask]) -> Mask:
    """Who passes all of these filters."""
    return np.asarray(np.logical_and.reduce(list(flags.values())))


def date_number(day: date | None) -> int:
    """yyyymmdd: the completed years between two of these are their difference without its last four digits."""
    return NO_BIRTH_DATE if day is None else day.year * 10_000 + day.month * 100 + day.day


def _within_distance(viewer: Profile, candidates: FilterColumns) -> Mask:
    """Who is near enough for both sides. People without a place can only meet people who set no distance."""
    x, y, z = viewer.location.point if viewer.location else NOWHERE_ELSE
    east, north, up = candidates.x - x, candidates.y - y, candidates.z - z
    return np.asarray(
        east * east + north * north + up * up <= np.minimum(max_squared_chord(viewer.within_km), candidates.max_squared_chord)
    )
