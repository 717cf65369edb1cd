"""A profile as an app sends it and as it comes back."""

from __future__ import annotations

import json
from datetime import date, datetime
from typing import Annotated, Any, Final, final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from kaczmatch.schemas.base import Name, RequestModel, ResponseModel, Text

OLDEST: Final = 150
MOST_TERMS: Final = 500
LARGEST_DATA: Final = 8_192  # bytes


def _small_json(data: dict[str, Any]) -> dict[str, Any]:
    try:
        size = len(json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode())
    except (ValueError, TypeError, RecursionError):
        raise ValueError("must be JSON: texts of Unicode characters, and finite numbers") from None
    if size > LARGEST_DATA:
        raise ValueError(f"must have at most {LARGEST_DATA:,} bytes as JSON, and has {size:,}")
    return data


LARGEST_FEATURE: Final = 10.0  # a tag is 0 or 1: a feature of 180 would drown all of them
FeatureValue = Annotated[float, Field(ge=-LARGEST_FEATURE, le=LARGEST_FEATURE)]
ProfileData = Annotated[dict[str, Any], AfterValidator(_small_json)]


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
    born: date | None = Field(
        default=None, description="Required, unless the settings say otherwise. Without it nobody has an age."
    )
    i_am: frozenset[Name] = Field(min_length=1, max_length=32)
    i_look_for: frozenset[Name] = Field(
        default=frozenset(), max_length=32, description="Required where the settings say nothing for the kind."
    )
    youngest: int | None = Field(default=None, ge=0, le=OLDEST, description="Of people whose age is known.")
    oldest: int | None = Field(default=None, ge=0, le=OLDEST)
    capacity: int | None = Field(
        default=None, ge=1, le=1_000_000, description="Open matches at a time; null: as the settings say for the kind."
    )
    location: Coordinates | None = None
    within_km: float | None = Field(default=None, ge=0.0, le=50_000.0)
    tags: frozenset[Name] = Field(default=frozenset(), max_length=MOST_TERMS)
    features: dict[Name, FeatureValue] = Field(
        default={},
        max_length=MOST_TERMS,
        description="Numbers from -10 to 10. Scale them to about -1 to 1, as tags are 0 or 1: (height - 170) / 10, not height.",
    )
    data: ProfileData = Field(
        default={},
        description=f"The app's own, such as photo addresses, at most {LARGEST_DATA:,} bytes. Nothing is learned from it.",
    )


@final
class Profile(ResponseModel):
    """A person's own profile as it is stored. `version` rises with every change."""

    id: str
    version: int
    name: str
    born: date | None
    age: int | None
    i_am: tuple[str, ...]
    i_look_for: tuple[str, ...]
    youngest: int | None
    oldest: int | None
    capacity: int | None
    location: Coordinates | None
    within_km: float | None
    tags: tuple[str, ...]
    features: dict[str, float]
    data: dict[str, Any]
    paused: bool
    created: datetime
    changed: datetime


@final
class PersonSummary(ResponseModel):
    """What one person may see of another."""

    id: str
    name: str
    age: int | None
    tags: tuple[str, ...]
    data: dict[str, Any]


@final
class ErasureStatus(ResponseModel):
    """How far an erasure is. The person is gone from its beginning on."""

    done: bool = Field(description="Whether nothing of the person is left.")
    people_left: int = Field(description="Whose records still have traces of the person; at most 1,000 or so are counted.")


@final
class PeoplePage(ResponseModel):
    """Profiles in the order in which people came. `next` is the cursor of the next page; a page may be short before that."""

    items: tuple[Profile, ...]
    next: str | None
