"""An experiment: arms that differ in how decks are drawn, and who or what gets which.

The arm follows from a hash of the unit, so every process gives the same answer, at any time, without asking anybody.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import final

from kaczmatch.core.errors import InvalidInput, check_number
from kaczmatch.recommend.decks.policy import Policy
from kaczmatch.recommend.people.location import GRID_DEGREES
from kaczmatch.service.domain.records import Person, StoredDeck

_KM_A_CELL = GRID_DEGREES * 111.2
_NOWHERE = "nowhere"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Assigned(StrEnum):
    """What is assigned to an arm as a whole."""

    USER = "user"
    CLUSTER = "cluster"  # everybody of one region
    TIME = "time"  # everybody, for a while


@final
@dataclass(frozen=True, slots=True)
class Arm:
    """One way to draw decks, and its share of the units."""

    name: str
    policy: Policy
    share: float = 1.0

    def __post_init__(self) -> None:
        check_number("share", self.share, low=0.0, open_low=True)


@final
@dataclass(frozen=True, slots=True)
class Assignment:
    """Where a deck belongs: its arm, and the unit that was assigned where that is not the user."""

    arm: Arm
    unit: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """Another name or salt assigns everything anew. The first arm is what the others are compared with.

    A unit counts once: over `window` after its first deck, or, of time, over its block.
    """

    name: str
    arms: Sequence[Arm]
    salt: str = ""
    assigned: Assigned = Assigned.USER
    window: timedelta = timedelta(days=7)
    block: timedelta = timedelta(days=1)
    region_km: float = 100.0

    def __post_init__(self) -> None:
        if len(self.arms) < 2 or len({arm.name for arm in self.arms}) < len(self.arms):
            raise InvalidInput("experiment_arms", f"an experiment needs two arms or more, got {[arm.name for arm in self.arms]}")

    def assign(self, person: Person, now: datetime) -> Assignment:
        """The arm of a deck for somebody at a moment."""
        if self.assigned is Assigned.TIME:
            unit = self._block_at(now)
        elif self.assigned is Assigned.CLUSTER:
            unit = self._region(person)
        else:
            return Assignment(self.arm(person.id), "")
        return Assignment(self.arm(unit), unit)

    def dealt(self, deck: StoredDeck) -> bool:
        """Whether a deck of this name was dealt as these settings say; not so where they have been changed since."""
        by_time, by_user = self.assigned is Assigned.TIME, self.assigned is Assigned.USER
        same = deck.unit == self._block_at(deck.at) if by_time else (deck.unit == "") == by_user and not deck.unit.isdigit()
        arm = self.arm(deck.unit or deck.user)
        return same and (arm.name, arm.policy.slug) == (deck.arm, deck.policy)

    def over(self, unit: str, first: datetime) -> datetime:
        """When a unit has been watched long enough, given its first deck."""
        if self.assigned is Assigned.TIME:
            return _EPOCH + (int(unit) + 1) * self.block
        return first + self.window

    def arm(self, unit: str) -> Arm:
        """What a unit gets, now and always."""
        digest = hashlib.sha256("\0".join((self.salt, self.name, unit)).encode()).digest()
        left = int.from_bytes(digest[:8], "big") / 2**64 * sum(arm.share for arm in self.arms)
        for arm in self.arms:
            left -= arm.share
            if left < 0.0:
                return arm
        return self.arms[-1]

    def _block_at(self, moment: datetime) -> str:
        return str((moment - _EPOCH) // self.block)

    def _region(self, person: Person) -> str:
        if person.row is None or person.column is None:
            return _NOWHERE
        cells = max(1, round(self.region_km / _KM_A_CELL))
        return f"{person.row // cells}:{person.column // cells}"
