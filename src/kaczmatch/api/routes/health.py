"""Whether the service runs and is ready, and metrics for Prometheus."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from kaczmatch.api.authentication import scoped
from kaczmatch.api.dependencies import ProcessState, process_state
from kaczmatch.api.metrics import Metrics
from kaczmatch.schemas.health import Health
from kaczmatch.service.access.credentials import OPERATOR, Caller

router = APIRouter(tags=["health"])


@router.get("/health/live")
async def get_liveness() -> Health:
    """The process answers."""
    return Health(ok=True)


@router.get("/health/ready", responses={503: {"model": Health, "description": "Not ready; `detail` says why."}})
async def get_readiness(process: Annotated[ProcessState, Depends(process_state)], response: Response) -> Health:
    """Kernels are compiled, migrations are current, everybody is loaded, and changes since then arrive."""
    reason = process.unhealthy_reason()
    if reason:
        response.status_code = 503
        response.headers["Retry-After"] = "2"
    return Health(ok=not reason, detail=reason)


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
def get_metrics(request: Request, caller: Annotated[Caller, Depends(scoped(OPERATOR))]) -> Response:
    """Counts by route, never by person."""
    del caller
    metrics: Metrics = request.app.state.metrics
    return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
