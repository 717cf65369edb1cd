"""Swipes and decks bypass the framework's routing, which costs more than everything else that they do in the API.

The OpenAPI document has their routes like any others, and they answer the same when they are called through the framework.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from kaczmatch.api.problems import ErrorHandlers, response_to

Endpoint = Callable[[Request, bytes], Awaitable[bytes | None]]


@final
@dataclass(frozen=True, slots=True)
class FastRoute:
    """A method and a path, and who answers it: with a body, or with None, and then the framework answers."""

    method: str
    path: str  # as in the OpenAPI document
    pattern: re.Pattern[str]
    endpoint: Endpoint


@final
@dataclass(slots=True)
class FastPath:
    """Stands in front of the routes. `handlers` turn refusals into problems, as they do behind it.

    The middleware has read the body, so it comes in one piece.
    """

    app: ASGIApp
    routes: Sequence[FastRoute]
    handlers: ErrorHandlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        for route in self.routes:
            found = route.pattern.fullmatch(scope["path"]) if scope["method"] == route.method else None
            if found is not None:
                await self._answer(route, found.groupdict(), scope, receive, send)
                return
        await self.app(scope, receive, send)

    async def _answer(self, route: FastRoute, values: dict[str, Any], scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        scope["path_params"], scope["route"] = values, route
        request = Request(scope, receive)
        try:
            body = await route.endpoint(request, message["body"])
        except Exception as error:
            refusal = await response_to(error, request, self.handlers)
            if refusal is None:
                raise
            await refusal(scope, receive, send)
            return
        if body is None:
            await self.app(scope, _again(message, receive), send)
            return
        headers = [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _again(message: Any, receive: Receive) -> Receive:
    """The body that was read, and then whatever comes."""
    waiting = [message]

    async def next_message() -> Any:
        return waiting.pop() if waiting else await receive()

    return next_message
