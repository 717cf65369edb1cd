"""For operators: how the experiment stands."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel

from kaczmatch.api.guards import Use, scoped
from kaczmatch.inference.clustered import IntervalEstimate
from kaczmatch.service.access.credentials import OPERATOR, Caller
from kaczmatch.service.experiments.report import OUTCOMES, ExperimentReport, ExperimentReports

router = APIRouter(prefix="/operator", tags=["operators"])


class EstimateOut(BaseModel):
    """A figure, and an interval that holds at all looks together with 95 %."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, estimate: IntervalEstimate | None) -> EstimateOut | None:
        return None if estimate is None else cls(value=estimate.value, low=estimate.low, high=estimate.high)


class OutcomeOut(BaseModel):
    """What came of an arm's cards, as a mean over units; none while there are too few units."""

    outcome: str
    mean: EstimateOut | None


class ArmOut(BaseModel):
    """`units` were watched to the end and count; `waiting` are being watched."""

    name: str
    policy: str
    share: float
    units: int
    waiting: int
    decks: int
    cards: int
    outcomes: list[OutcomeOut]


class PointOut(BaseModel):
    """The difference when so many units had been watched."""

    units: int
    value: float
    low: float
    high: float


class ContrastOut(BaseModel):
    """An arm minus the first one: as of now, and as it came to that."""

    arm: str
    outcome: str
    difference: EstimateOut | None
    course: list[PointOut]


class ExperimentOut(BaseModel):
    """Exposure and outcomes of each arm. `balance`: the probability of numbers of units as uneven as these, if all is well;
    `strays`: decks of this name that other settings assigned, which are left out."""

    name: str
    assigned: str
    arms: list[ArmOut]
    contrasts: list[ContrastOut]
    balance: float | None
    strays: int

    @classmethod
    def of(cls, report: ExperimentReport) -> ExperimentOut:
        arms = [
            ArmOut(
                name=arm.name,
                policy=arm.policy,
                share=arm.share,
                units=arm.units,
                waiting=arm.waiting,
                decks=arm.decks,
                cards=arm.cards,
                outcomes=[
                    OutcomeOut(outcome=name, mean=EstimateOut.of(one)) for name, one in zip(OUTCOMES, arm.outcomes, strict=True)
                ],
            )
            for arm in report.arms
        ]
        contrasts = [
            ContrastOut(
                arm=one.arm,
                outcome=one.outcome,
                difference=EstimateOut.of(one.difference),
                course=[PointOut(units=n, value=value, low=low, high=high) for n, value, low, high in one.course],
            )
            for one in report.contrasts
        ]
        return cls(
            name=report.name,
            assigned=report.assigned,
            arms=arms,
            contrasts=contrasts,
            balance=report.balance,
            strays=report.strays,
        )


@router.get("/experiment", response_model=ExperimentOut)
def experiment(use: Use, operator: Annotated[Caller, Depends(scoped(OPERATOR))]) -> ExperimentOut:
    """How the experiment of the settings stands; without a name where there is none. Look as often as you like."""
    del operator
    return ExperimentOut.of(ExperimentReports(use.context).report())
