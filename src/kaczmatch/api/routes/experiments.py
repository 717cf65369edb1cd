"""For operators: how the experiment stands."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from kaczmatch.api.authentication import Cases, scoped
from kaczmatch.api.concurrency_limit import ConcurrencyLimit
from kaczmatch.schemas.experiments import ExperimentReport
from kaczmatch.service.access.credentials import OPERATOR, Caller
from kaczmatch.service.experiments.report import ExperimentReports
from kaczmatch.service.use_cases import UseCases

router = APIRouter(prefix="/operator", tags=["operators"])


@router.get("/experiment", response_model=ExperimentReport)
async def get_experiment(request: Request, cases: Cases, operator: Annotated[Caller, Depends(scoped(OPERATOR))]) -> Response:
    """Report on the experiment in the settings, as of `at`: it is made once a minute at most. Look as often as you like.

    The name is empty where there is none.
    """
    del operator
    limit: ConcurrencyLimit = request.app.state.report_limit
    content = await limit.run(cases.answers.of_minute, "experiment", cases.context.clock(), partial(_report, cases))
    return Response(content, media_type="application/json")


def _report(cases: UseCases) -> bytes:
    return ExperimentReports(cases.context).report().model_dump_json().encode()
