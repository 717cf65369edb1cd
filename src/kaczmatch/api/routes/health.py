"""Whether it lives, whether it is ready, and figures for Prometheus."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel

from kaczmatch.api.figures import Figures
from kaczmatch.api.guards import Use, scoped
from kaczmatch.service.access.credentials import OPERATOR, Caller

router = APIRouter(tags=["health"])


class Health(BaseModel):
    ok: bool
    detail: str = ""


@router.get("/health/live", response_model=Health)
async def live() -> Health:
    """The process answers."""
    return Health(ok=True)


@router.get("/health/ready", response_model=Health, responses={503: {"model": Health}})
async def ready(use: Use, response: Response) -> Health:
    """Kernels are compiled, migrations current, everybody loaded, and what changed since is noticed."""
    why = use.ailing()
    if why:
        response.status_code = 503
        response.headers["Retry-After"] = "2"
    return Health(ok=not why, detail=why)


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
def metrics(request: Request, caller: Annotated[Caller, Depends(scoped(OPERATOR))]) -> Response:
    """Counts by route, never by person."""
    del caller
    figures: Figures = request.app.state.figures
    return Response(figures.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
