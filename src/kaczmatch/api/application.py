"""The ASGI application over the use cases that the composition root puts together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Final, final

from anyio import CapacityLimiter
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from kaczmatch.api import problems
from kaczmatch.api.address_shares import AddressShares
from kaczmatch.api.authentication import CallerCache, authenticate
from kaczmatch.api.concurrency_limit import (
    ANSWER_THREADS,
    ANSWERS,
    DECK_THREADS,
    REPORT_THREADS,
    REPORTS,
    TRANSFER_THREADS,
    ConcurrencyLimit,
)
from kaczmatch.api.dependencies import ProcessState
from kaczmatch.api.fast_path import FastPath, FastRoute
from kaczmatch.api.head_requests import HeadRequests
from kaczmatch.api.metrics import Metrics
from kaczmatch.api.middleware import RequestMiddleware
from kaczmatch.api.routes import (
    decks,
    experiments,
    feed,
    health,
    matches,
    operators,
    preferences,
    profiles,
    safety,
    swipes,
    tokens,
    transfer,
    vocabulary,
)
from kaczmatch.api.wrong_credentials import WrongCredentials
from kaczmatch.schemas.base import ID_PATTERN
from kaczmatch.schemas.problems import PROBLEM_MEDIA_TYPE, Problem
from kaczmatch.schemas.swipes import SwipeRequest
from kaczmatch.service.use_cases import UseCases

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

PREFIX: Final = "/v1"
ROUTERS: Final = (
    swipes.router,  # first, because routes are tried in order and most requests are swipes
    decks.router,
    profiles.router,
    matches.router,
    safety.router,
    preferences.router,
    vocabulary.router,
    tokens.router,
    feed.router,
    transfer.router,
    operators.router,
    experiments.router,
    health.router,
)
_FAST: Final = (
    FastRoute(
        "PUT",
        f"{PREFIX}/people/{{user}}/swipes/{{swipe}}",
        re.compile(rf"{PREFIX}/people/(?P<user>[^/]+)/swipes/(?P<swipe>[^/]+)"),
        swipes.swipe_response,
    ),
    FastRoute(
        "POST",
        f"{PREFIX}/people/{{user}}/deck",
        re.compile(rf"{PREFIX}/people/(?P<user>{ID_PATTERN.strip('^$')})/deck"),
        decks.deck_response,
    ),
)
_UNFINISHED_BODIES: Final = 64  # of the largest size, in memory at once
_PROBLEM: Final = {"$ref": f"#/components/schemas/{Problem.__name__}"}
_ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    "4XX": {"model": Problem, "description": "What is wrong with the request."},
    503: {"model": Problem, "description": "The service is starting or too busy: try again after Retry-After."},
}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """Limits on requests: bytes of a body and of an upload, requests and decks in progress, wrong credentials per address and
    minute, allowed origins and host names. One address gets a `share` of the requests in progress."""

    body: int = 1 << 20
    upload: int = 1 << 28
    in_progress: int = 1_000
    decks: int = 32
    share: float = 0.5
    wrong_credentials: int | None = 30
    origins: tuple[str, ...] = ()
    hosts: frozenset[str] = frozenset()


@final
class ServiceApp(FastAPI):
    """Requests pass `entry` before the framework spends anything on them."""

    entry: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["app"] = self
            await self.entry(scope, receive, send)
        else:
            await self.route(scope, receive, send)

    async def route(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the framework."""
        await super().__call__(scope, receive, send)

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document. The framework would say that problems are `application/json`."""
        if self.openapi_schema is None:
            document = super().openapi()
            document["components"]["schemas"][SwipeRequest.__name__] = SwipeRequest.model_json_schema()
            for operation in (operation for path in document["paths"].values() for operation in path.values()):
                for response in operation["responses"].values():
                    content = response.get("content", {})
                    if content.get("application/json", {}).get("schema") == _PROBLEM:
                        content[PROBLEM_MEDIA_TYPE] = content.pop("application/json")
        return self.openapi_schema or {}


def application(
    use_cases: UseCases,
    process: ProcessState,
    limits: RequestLimits,
    *,
    routers: Iterable[APIRouter] = (),
    pages: Iterable[APIRouter] = (),
    lifespan: Lifespan | None = None,
    version: str = "",
) -> FastAPI:
    """The service as an ASGI application. `routers` are added under /v1, `pages` at the root."""
    app = ServiceApp(
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
        generate_unique_id_function=_operation_id,
    )
    app.state.use_cases, app.state.process = use_cases, process
    app.state.metrics = metrics = Metrics()
    app.state.callers = CallerCache(use_cases.credentials)
    app.state.wrong_credentials = WrongCredentials(limits.wrong_credentials)
    app.state.deck_limit = ConcurrencyLimit(limits.decks, DECK_THREADS)
    app.state.answer_limit = ConcurrencyLimit(ANSWERS, ANSWER_THREADS)
    app.state.report_limit = ConcurrencyLimit(REPORTS, REPORT_THREADS)
    app.state.transfer_limiter = CapacityLimiter(TRANSFER_THREADS)
    for router in (*ROUTERS, *routers):
        app.include_router(router, prefix=PREFIX)
    for router in pages:
        app.include_router(router)
    problems.install(app)
    inner: ASGIApp = FastPath(HeadRequests(app.route), _FAST, app.exception_handlers)
    if limits.origins:
        inner = CORSMiddleware(
            inner,
            allow_origins=list(limits.origins),
            allow_methods=["GET", "PUT", "POST", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "If-Match", "If-None-Match"],
            expose_headers=["ETag", "Retry-After", "X-Request-ID"],
        )
    app.entry = RequestMiddleware(
        inner,
        metrics=metrics,
        not_ready_reason=process.not_ready_reason,
        body_limit=limits.body,
        upload_limit=limits.upload,
        in_progress=AddressShares(limits.in_progress, limits.share),
        authenticate=authenticate,
        handlers=app.exception_handlers,
        unfinished=AddressShares(_UNFINISHED_BODIES * limits.body, limits.share),
        hosts=limits.hosts,
    )
    return app


def _operation_id(route: APIRoute) -> str:
    """`create_deck` becomes `createDeck`."""
    verb, *rest = route.name.split("_")
    return verb + "".join(word.capitalize() for word in rest)
