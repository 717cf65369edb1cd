"""The ASGI application over parts that were put together elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Final, final

from anyio import CapacityLimiter
from fastapi import APIRouter, FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from kaczmatch.api import problems
from kaczmatch.api.edge import Edge
from kaczmatch.api.figures import Figures
from kaczmatch.api.guards import Doorman
from kaczmatch.api.heads import Heads
from kaczmatch.api.lane import Lane
from kaczmatch.api.parts import Parts
from kaczmatch.api.places import Places
from kaczmatch.api.routes import (
    decks,
    experiments,
    feed,
    health,
    matches,
    mine,
    operator,
    people,
    safety,
    swipes,
    tokens,
    transfer,
    vocabulary,
)

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

PREFIX: Final = "/v1"
DEALERS: Final = 2  # decks that are dealt side by side: it is mostly Python, and more would wait for each other's turns
ROUTERS: Final = (
    swipes.router,  # first, because routes are tried in order and most requests are swipes
    decks.router,
    people.router,
    matches.router,
    safety.router,
    mine.router,
    vocabulary.router,
    tokens.router,
    feed.router,
    transfer.router,
    operator.router,
    experiments.router,
    health.router,
)
_ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    "4XX": {"model": problems.Problem, "description": "What is wrong with the request."},
    503: {"model": problems.Problem, "description": "Too much is going on; come back after Retry-After."},
}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of anything."""

    body: int = 1 << 20
    upload: int = 1 << 28
    at_once: int = 1_000
    decks: int = 32
    origins: tuple[str, ...] = ()
    hosts: frozenset[str] = frozenset()


@final
class Service(FastAPI):
    """Requests come to the `front` before the framework spends anything on them."""

    front: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["app"] = self
            await self.front(scope, receive, send)
        else:
            await self.routed(scope, receive, send)

    async def routed(self, scope: Scope, receive: Receive, send: Send) -> None:
        """By the framework."""
        await super().__call__(scope, receive, send)


def application(
    parts: Parts,
    limits: Limits,
    *,
    routers: Iterable[APIRouter] = (),
    pages: Iterable[APIRouter] = (),
    lifespan: Lifespan | None = None,
    version: str = "",
) -> FastAPI:
    """The service as an ASGI application. `routers` are further ones under /v1, `pages` have addresses of their own."""
    app = Service(
        title="kaczmatch",
        version=version or "0",
        description="Learns what each person likes from their own swipes, and recommends people likely to like each other.",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses=_ERRORS,
        separate_input_output_schemas=False,
        redirect_slashes=False,
    )
    app.state.parts = parts
    app.state.figures = figures = Figures()
    app.state.doorman = Doorman(parts.access)
    app.state.decks = Places(limits.decks, DEALERS)
    app.state.transfers = CapacityLimiter(transfer.AT_ONCE)
    for router in (*ROUTERS, *routers):
        app.include_router(router, prefix=PREFIX)
    for router in pages:
        app.include_router(router)
    problems.install(app)
    within: ASGIApp = Lane(Heads(app.routed), swipes.decided, app.exception_handlers)
    if limits.origins:
        within = CORSMiddleware(
            within,
            allow_origins=list(limits.origins),
            allow_methods=["GET", "PUT", "POST", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "If-Match", "If-None-Match"],
            expose_headers=["ETag", "Retry-After", "X-Request-ID"],
        )
    app.front = Edge(
        within,
        figures=figures,
        unready=parts.unready,
        body_limit=limits.body,
        upload_limit=limits.upload,
        most_at_once=limits.at_once,
        hosts=limits.hosts,
    )
    return app
