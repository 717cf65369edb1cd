"""How an experiment stands."""

from __future__ import annotations

from datetime import datetime
from typing import final

from pydantic import Field

from kaczmatch.schemas.base import ResponseModel


@final
class SequentialEstimate(ResponseModel):
    """A value with an interval that holds at all looks together with a probability of 95 %."""

    value: float
    low: float
    high: float


@final
class OutcomeEstimate(ResponseModel):
    """The mean of one outcome over units. It is null while there are too few units."""

    outcome: str
    mean: SequentialEstimate | None


@final
class ArmReport(ResponseModel):
    """What is known about one arm. `units` were watched to the end and count; `waiting` units are still watched."""

    name: str
    policy: str
    share: float
    units: int
    waiting: int
    decks: int
    cards: int
    outcomes: tuple[OutcomeEstimate, ...]


@final
class CoursePoint(ResponseModel):
    """The difference between two arms when this many units had been watched."""

    units: int
    value: float
    low: float
    high: float


@final
class Contrast(ResponseModel):
    """An arm minus the first arm: now, and how it came to that."""

    arm: str
    outcome: str
    difference: SequentialEstimate | None
    course: tuple[CoursePoint, ...]


@final
class ExperimentReport(ResponseModel):
    """Exposure and outcomes per arm. The name is empty where no experiment runs."""

    at: datetime = Field(description="The moment it is of.")
    name: str
    assigned: str
    arms: tuple[ArmReport, ...]
    contrasts: tuple[Contrast, ...]
    balance: float | None = Field(
        description="The probability of unit counts at least as uneven as these, if assignment works as it should."
    )
    not_drawn: int = Field(description="Cards that were not drawn: the app brought them itself. They are left out.")
    strays: int = Field(description="Decks of this name that other settings assigned. They are left out.")
