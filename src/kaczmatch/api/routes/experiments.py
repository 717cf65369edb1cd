"""For operators: how the experiment stands."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from kaczmatch.api.authentication import Cases, scoped
from kaczmatch.schemas.experiments import ExperimentReport
from kaczmatch.service.access.credentials import OPERATOR, Caller
from kaczmatch.service.experiments.report import ExperimentReports

router = APIRouter(prefix="/operator", tags=["operators"])


@router.get("/experiment")
def get_experiment(cases: Cases, operator: Annotated[Caller, Depends(scoped(OPERATOR))]) -> ExperimentReport:
    """Report on the experiment in the settings. The name is empty where there is none. Look as often as you like."""
    del operator
    return ExperimentReports(cases.context).report()
