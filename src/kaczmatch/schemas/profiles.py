"""A profile as an app sends it and as it comes back."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Final, final

from pydantic import BaseModel, ConfigDict, Field

from kaczmatch.schemas.base import Name, RequestModel, ResponseModel, Text

YOUNGEST: Final = 18
OLDEST: Final = 150
MOST_TERMS: Final = 500

LARGEST_FEATURE: Final = 10.0  # a tag is 0 or 1: a feature of 180 would drown all of them
FeatureValue = Annotated[float, Field(ge=-LARGEST_FEATURE, le=LARGEST_FEATURE)]


@final
class Coordinates(BaseModel):
    """A point on Earth in degrees. The service rounds it to a coarse grid before it is stored."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    latitude: float = Field(ge=-90.0, le=90.0)
    longitude: float = Field(ge=-180.0, le=180.0)


@final
class ProfileInput(RequestModel):
    """What an app says about a person."""

    name: Text = Field(min_length=1, max_length=200)
    born: date
    i_am: frozenset[Name] = Field(min_length=1, max_length=32)
    i_look_for: frozenset[Name] = Field(min_length=1, max_length=32)
    youngest: int = Field(default=YOUNGEST, ge=0, le=OLDEST)
    oldest: int = Field(default=OLDEST, ge=0, le=OLDEST)
    location: Coordinates | None = None
    within_km: float | None = Field(default=None, ge=0.0, le=50_000.0)
    tags: frozenset[Name] = Field(default=frozenset(), max_length=MOST_TERMS)
    features: dict[Name, FeatureValue] = Field(
        default={},
        max_length=MOST_TERMS,
        description="Numbers from -10 to 10. Scale them to about -1 to 1, as tags are 0 or 1: (height - 170) / 10, not height.",
    )


@final
class Profile(ResponseModel):
    """A person's own profile as it is stored. `version` rises with every change."""

    id: str
    version: int
    name: str
    born: date
    age: int
    i_am: tuple[str, ...]
    i_look_for: tuple[str, ...]
    youngest: int
    oldest: int
    location: Coordinates | None
    within_km: float | None
    tags: tuple[str, ...]
    features: dict[str, float]
    paused: bool
    created: datetime
    changed: datetime


@final
class PersonSummary(ResponseModel):
    """What one person may see of another."""

    id: str
    name: str
    age: int
    tags: tuple[str, ...]
