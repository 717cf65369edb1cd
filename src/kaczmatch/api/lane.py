"""A lane of its own for swipes: they go past the framework's routing, which costs more than everything they do here.

The route stands in the OpenAPI document as any other, and answers the same where it is called through the framework.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, Final, NamedTuple, final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

Endpoint = Callable[[Request], Awaitable[Response]]

_SWIPE: Final = re.compile(r"/v1/people/(?P<user>[^/]+)/swipes/(?P<swipe>[^/]+)")


class _Route(NamedTuple):
    path: str


_ROUTE: Final = _Route("/v1/people/{user}/swipes/{swipe}")


@final
@dataclass(slots=True)
class Lane:
    """In front of the routes; `handlers` turn refusals into answers, as they do behind it."""

    app: ASGIApp
    endpoint: Endpoint
    handlers: Mapping[Any, Callable[[Request, Any], Any]]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _SWIPE.fullmatch(scope["path"]) if scope["type"] == "http" and scope["method"] == "PUT" else None
        if found is None:
            await self.app(scope, receive, send)
            return
        scope["path_params"], scope["route"] = found.groupdict(), _ROUTE
        request = Request(scope, receive)
        try:
            answer = await self.endpoint(request)
        except Exception as error:
            answer = await self._refused(request, error)
        await answer(scope, receive, send)

    async def _refused(self, request: Request, error: Exception) -> Response:
        handler = next((self.handlers[kind] for kind in type(error).__mro__ if kind in self.handlers), None)
        if handler is None:
            raise error
        answer = handler(request, error)
        told: Response = await answer if isawaitable(answer) else answer
        return told
