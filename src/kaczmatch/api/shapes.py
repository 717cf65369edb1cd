"""What routes take and answer, shared by several of them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from kaczmatch.api.guards import ID
from kaczmatch.recommend.people.location import Location
from kaczmatch.recommend.people.profile import MAX_AGE, age_on
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.service.domain.records import Person
from kaczmatch.service.meeting.profiles import ProfileInput, tags_of

MOST_TAGS: Final = 500


def _no_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("must not have NUL characters")
    return text


Id = Annotated[str, Field(pattern=ID)]
Text = Annotated[str, AfterValidator(_no_nul)]
Word = Annotated[Text, Field(min_length=1, max_length=80)]
Value = Annotated[float, Field(ge=-1e6, le=1e6)]


class Shape(BaseModel):
    """A body: nothing in it goes unread."""

    model_config = ConfigDict(extra="forbid")


class Place(Shape):
    """Where somebody is; it is snapped to a coarse grid before it is kept."""

    latitude: float = Field(ge=-90.0, le=90.0)
    longitude: float = Field(ge=-180.0, le=180.0)


class ProfileIn(Shape):
    """What an app says of a person."""

    name: Text = Field(min_length=1, max_length=200)
    born: date
    i_am: list[Word] = Field(min_length=1, max_length=32)
    i_look_for: list[Word] = Field(min_length=1, max_length=32)
    youngest: int = Field(18, ge=0, le=MAX_AGE)
    oldest: int = Field(MAX_AGE, ge=0, le=MAX_AGE)
    location: Place | None = None
    within_km: float | None = Field(None, ge=0.0, le=50_000.0)
    tags: list[Word] = Field([], max_length=MOST_TAGS)
    features: dict[Word, Value] = Field({}, max_length=MOST_TAGS)

    def about(self) -> ProfileInput:
        return ProfileInput(
            name=self.name,
            born=self.born,
            i_am=frozenset(self.i_am),
            i_look_for=frozenset(self.i_look_for),
            youngest=self.youngest,
            oldest=self.oldest,
            latitude=None if self.location is None else self.location.latitude,
            longitude=None if self.location is None else self.location.longitude,
            within_km=self.within_km,
            tags=frozenset(self.tags),
            features=self.features,
        )


class Profile(BaseModel):
    """Somebody's own profile as it is kept."""

    id: str
    version: int
    name: str
    born: date
    age: int
    i_am: list[str]
    i_look_for: list[str]
    youngest: int
    oldest: int
    location: Place | None
    within_km: float | None
    tags: list[str]
    features: dict[str, float]
    paused: bool
    created: datetime
    changed: datetime

    @classmethod
    def of(cls, person: Person, words: Vocabulary, now: datetime) -> Profile:
        tags, features = tags_of(person, words)
        place = None if person.row is None or person.column is None else Location(person.row, person.column)
        return cls(
            id=person.id,
            version=person.version,
            name=person.name,
            born=person.born,
            age=age_on(person.born, now.astimezone(UTC).date()),
            i_am=list(person.i_am),
            i_look_for=list(person.i_look_for),
            youngest=person.youngest,
            oldest=person.oldest,
            location=None if place is None else Place(latitude=place.latitude, longitude=place.longitude),
            within_km=person.within_km,
            tags=tags,
            features=features,
            paused=person.paused,
            created=person.created,
            changed=person.changed,
        )


class Face(BaseModel):
    """What one person may see of another."""

    id: str
    name: str
    age: int
    tags: list[str]

    @classmethod
    def of(cls, person: Person, words: Vocabulary, now: datetime) -> Face:
        age = age_on(person.born, now.astimezone(UTC).date())
        return cls(id=person.id, name=person.name, age=age, tags=tags_of(person, words)[0])
