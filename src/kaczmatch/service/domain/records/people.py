"""Who takes part, and what is counted of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import final

from kaczmatch.service.domain.records.base import Record

NEVER = datetime(1970, 1, 1, tzinfo=UTC)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Person(Record):
    """A profile as the app put it; tags and features by their places in the vocabulary (see `sparse`)."""

    table = "people"
    key = ("id",)
    indexes = (("paused", "id"),)

    id: str
    version: int  # rises with every change: the ETag
    name: str
    i_am: tuple[str, ...]
    i_look_for: tuple[str, ...]
    born: date
    youngest: int
    oldest: int
    row: int | None  # of the location's grid cell
    column: int | None
    within_km: float | None
    features: bytes
    paused: bool
    created: datetime
    changed: datetime


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Standing(Record):
    """Counters of one person: as a swiper, and how others took to them (`learners.appeal`)."""

    table = "standings"
    key = ("user",)
    order = ("swiped", "user")
    indexes = (("talking", "swiped", "user"),)

    user: str
    swipes: int = 0  # likes and passes
    likes: int = 0
    excess: float = 0.0
    information: float = 0.0
    weighed: datetime | None = None  # to when the two before are aged
    deck: str | None = None  # the last one dealt
    swiped: datetime = NEVER  # last time
    session: str = ""  # the last one, named by the id of its first swipe
    talking: bool = False  # whether that is still open
    spent: bytes = b""  # of their quotas (see `quotas`)

    # Every swipe changes two of these, and `dataclasses.replace` takes three times as long.

    def weighed_anew(self, excess: float, information: float, weighed: datetime) -> Standing:
        return Standing(
            user=self.user,
            swipes=self.swipes,
            likes=self.likes,
            excess=excess,
            information=information,
            weighed=weighed,
            deck=self.deck,
            swiped=self.swiped,
            session=self.session,
            talking=self.talking,
            spent=self.spent,
        )

    def after_swipe(self, at: datetime, session: str, spent: bytes, *, counts: bool, liked: bool) -> Standing:
        return Standing(
            user=self.user,
            swipes=self.swipes + counts,
            likes=self.likes + liked,
            excess=self.excess,
            information=self.information,
            weighed=self.weighed,
            deck=self.deck,
            swiped=at,
            session=session,
            talking=True,
            spent=spent,
        )
