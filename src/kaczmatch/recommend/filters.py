"""Hard filters: what a recommendation never violates, in either direction."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import final

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.errors import InvalidInput
from kaczmatch.recommend.location import NOWHERE, NOWHERE_ELSE, reach
from kaczmatch.recommend.profile import Profile, age_on
from kaczmatch.recommend.schema import Schema

Flags = NDArray[np.bool_]


@final
@dataclass(frozen=True, slots=True, eq=False)
class CandidateColumns:
    """The filter columns of many people, one row each."""

    schema: Schema
    ids: Sequence[Hashable]
    i_am: NDArray[np.uint32]
    i_look_for: NDArray[np.uint32]
    born: NDArray[np.int32]  # yyyymmdd
    youngest: NDArray[np.uint8]
    oldest: NDArray[np.uint8]
    x: NDArray[np.float32]  # the place on the unit sphere; `NOWHERE` for who says none
    y: NDArray[np.float32]
    z: NDArray[np.float32]
    reach: NDArray[np.float32]  # the longest squared chord within the distance sought

    @classmethod
    def of(cls, profiles: Sequence[Profile], schema: Schema) -> CandidateColumns:
        for profile in profiles:
            if profile.schema != schema:
                raise InvalidInput("schema", f"{profile.id!r} belongs to another schema")
        points = np.array([p.location.point if p.location else NOWHERE for p in profiles], np.float32).reshape(-1, 3)
        return cls(
            schema,
            [p.id for p in profiles],
            np.array([schema.mask(p.i_am, "i_am") for p in profiles], np.uint32),
            np.array([schema.mask(p.i_look_for, "i_look_for") for p in profiles], np.uint32),
            np.array([as_number(p.born) for p in profiles], np.int32),
            np.array([p.ages[0] for p in profiles], np.uint8),
            np.array([p.ages[1] for p in profiles], np.uint8),
            points[:, 0],
            points[:, 1],
            points[:, 2],
            np.array([reach(p.within_km) for p in profiles], np.float32),
        )

    def __len__(self) -> int:
        return len(self.ids)


def compatible(viewer: Profile, candidates: CandidateColumns, day: date) -> dict[str, Flags]:
    """For each filter that profiles decide, who passes it."""
    if viewer.schema != candidates.schema:
        raise InvalidInput("schema", "the viewer and the candidates belong to different schemas")
    ages = (as_number(day) - candidates.born) // 10_000
    own_age = age_on(viewer.born, day)
    schema = candidates.schema
    looks, am = schema.mask(viewer.i_look_for, "i_look_for"), schema.mask(viewer.i_am, "i_am")
    return {
        "minimum age": (ages >= schema.minimum_age) & (own_age >= schema.minimum_age),
        "looks for": ((candidates.i_am & looks) != 0) & ((candidates.i_look_for & am) != 0),
        "age": (ages >= viewer.ages[0])
        & (ages <= viewer.ages[1])
        & (own_age >= candidates.youngest)
        & (own_age <= candidates.oldest),
        "distance": _near(viewer, candidates),
    }


def passing(
    viewer: Profile, candidates: CandidateColumns, day: date, blocked: Collection[Hashable] = frozenset()
) -> dict[str, Flags]:
    """For each filter, who passes it; who may be shown passes all. `blocked` holds who blocked or was blocked by the viewer."""
    return {
        "self": np.array([identifier != viewer.id for identifier in candidates.ids], np.bool_),
        "blocked": np.array([identifier not in blocked for identifier in candidates.ids], np.bool_),
        **compatible(viewer, candidates, day),
    }


def allowed(viewer: Profile, candidates: CandidateColumns, day: date, blocked: Collection[Hashable] = frozenset()) -> Flags:
    """Who passes every filter."""
    return every(passing(viewer, candidates, day, blocked))


def every(flags: dict[str, Flags]) -> Flags:
    """Who passes all of these."""
    return np.asarray(np.logical_and.reduce(list(flags.values())))


def as_number(day: date) -> int:
    """yyyymmdd: the completed years between two of these are their difference without its last four digits."""
    return day.year * 10_000 + day.month * 100 + day.day


def _near(viewer: Profile, candidates: CandidateColumns) -> Flags:
    """Within what both sides seek. Who says no place can only meet people who set no distance."""
    x, y, z = viewer.location.point if viewer.location else NOWHERE_ELSE
    east, north, up = candidates.x - x, candidates.y - y, candidates.z - z
    return np.asarray(east * east + north * north + up * up <= np.minimum(reach(viewer.within_km), candidates.reach))
