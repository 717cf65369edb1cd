"""People, and what is counted about them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final, final
from zlib import crc32

from kaczmatch.service.domain.records.base import PersonId, Record, SingletonRecord

NEVER = datetime(1970, 1, 1, tzinfo=UTC)
PARTS: Final = 4_096


def part_of(person: str) -> int:
    """What is left of somebody's number divided by `PARTS`. So both id and number say where the table of both has them."""
    return crc32(person.encode()) % PARTS


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PersonNumber(Record):
    """The number that stands for a person in all other tables. The store makes it when it first writes about somebody.

    It is dropped at the end of an erasure. Whoever comes under the same id afterwards gets another number.
    """

    table = "person_numbers"
    key = ("part", "id")
    order = ("number",)
    indexes = (("part", "number"),)
    personal = True
    parts = "part"

    part: int  # see `part_of`
    id: str
    number: int


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LastPersonNumber(SingletonRecord):
    """How many numbers have been given, or are reserved by a process. It only rises, so that no number is given twice."""

    table = "last_person_number"

    given: int


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Person(Record):
    """A profile as the app put it. Tags and features are kept by their places in the vocabulary (see `sparse_features`)."""

    table = "people"
    key = ("id",)
    indexes = (("paused", "id"), ("seen", "id"))
    personal = True
    parts = "id"

    id: PersonId
    version: int  # rises with every change: the ETag
    name: str
    i_am: tuple[str, ...]
    i_look_for: tuple[str, ...]
    born: date | None
    youngest: int | None
    oldest: int | None
    row: int | None  # of the location's grid cell
    column: int | None
    within_km: float | None
    features: bytes
    features_version: int  # of the `FeatureSnapshot` that has them too
    paused: bool
    created: datetime
    changed: datetime
    seen: date  # the last day on which they asked for a deck, swiped or changed their profile
    capacity: int | None = None  # open matches at once; None: as the settings say for the kind
    data: str = ""  # the app's own, as JSON; empty: nothing

    def away(self, days: int | None, today: date) -> bool:
        """Whether they have not been there for more than so many days."""
        return days is not None and (today - self.seen).days > days


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class NameSuffix(Record):
    """A person's name from one of its words on, as `name_suffixes` folds it: people are found by how a word begins."""

    table = "name_suffixes"
    key = ("user", "text")
    order = ("text", "user")
    indexes = (("text", "user"),)
    personal = True
    parts = "user"

    user: PersonId
    text: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureSnapshot(Record):
    """A person's features as they were for a while. Events name it, so that nobody's features are kept in others' logs."""

    table = "feature_snapshots"
    key = ("user", "version")
    personal = True
    parts = "user"

    user: PersonId
    version: int
    features: bytes


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PersonCounters(Record):
    """Counters of one person: what they swiped, and their appeal (`learners.population.appeal`)."""

    table = "person_counters"
    key = ("user",)
    order = ("last_swipe_at", "user")
    indexes = (("last_swipe_at", "user"),)
    indexed_if = "in_session"  # few are, and every swipe changes the counters of two

    user: PersonId
    swipes: int = 0  # likes and passes
    likes: int = 0
    excess: float = 0.0
    information: float = 0.0
    appeal_as_of: datetime | None = None  # the moment to which the two above are aged
    last_deck: str | None = None  # the last one dealt
    last_swipe_at: datetime = NEVER
    session: str = ""  # the last one, named by the id of its first swipe
    in_session: bool = False  # whether that is still open
    quota_use: bytes = b""  # see `quotas`
    open_matches: int = 0
    resets: int = 0  # how often they have started anew

    # Every swipe changes two of these, and `dataclasses.replace` takes three times as long.

    def with_appeal(self, excess: float, information: float, as_of: datetime) -> PersonCounters:
        return PersonCounters(
            user=self.user,
            swipes=self.swipes,
            likes=self.likes,
            excess=excess,
            information=information,
            appeal_as_of=as_of,
            last_deck=self.last_deck,
            last_swipe_at=self.last_swipe_at,
            session=self.session,
            in_session=self.in_session,
            quota_use=self.quota_use,
            open_matches=self.open_matches,
            resets=self.resets,
        )

    def after_swipe(self, at: datetime, session: str, quota_use: bytes, *, counts: bool, liked: bool) -> PersonCounters:
        return PersonCounters(
            user=self.user,
            swipes=self.swipes + counts,
            likes=self.likes + liked,
            excess=self.excess,
            information=self.information,
            appeal_as_of=self.appeal_as_of,
            last_deck=self.last_deck,
            last_swipe_at=at,
            session=session,
            in_session=True,
            quota_use=quota_use,
            open_matches=self.open_matches,
            resets=self.resets,
        )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class HeldPerson(Record):
    """Somebody whom an operator holds back: paused, and unable to resume."""

    table = "held_people"
    key = ("user",)

    user: PersonId
    actor: str  # the operator's key


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedId(Record):
    """The id of somebody who was erased, which messages and changes still name. It goes with the last of them."""

    table = "erased_ids"
    key = ("user",)

    user: PersonId


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PendingErasure(Record):
    """Somebody who was erased and of whom there are still traces in other people's records."""

    table = "pending_erasures"
    key = ("user",)

    user: PersonId
