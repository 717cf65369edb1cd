"""Swipes bypass the framework's routing, which costs more than everything else that a swipe does in the API.

The OpenAPI document has the route like any other, and it answers the same when it is called through the framework.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, final

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

Endpoint = Callable[[Request, bytes], Awaitable[bytes]]

_SWIPE: Final = re.compile(r"/v1/people/(?P<user>[^/]+)/swipes/(?P<swipe>[^/]+)")


class _Route(NamedTuple):
    path: str


_ROUTE: Final = _Route("/v1/people/{user}/swipes/{swipe}")


@final
@dataclass(slots=True)
class SwipeFastPath:
    """Stands in front of the routes. `handlers` turn refusals into problems, as they do behind it.

    The middleware has read the body, so it comes in one piece.
    """

    app: ASGIApp
    endpoint: Endpoint
    handlers: Mapping[Any, Callable[[Request, Any], Any]]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _SWIPE.fullmatch(scope["path"]) if scope["method"] == "PUT" else None
        if found is None:
            await self.app(scope, receive, send)
            return
        scope["path_params"], scope["route"] = found.groupdict(), _ROUTE
        request = Request(scope, receive)
        try:
            body = await self.endpoint(request, (await receive())["body"])
        except Exception as error:
            kinds = (kind for kind in type(error).__mro__ if kind is not Exception)  # the middleware logs unexpected errors
            handler = next((self.handlers[kind] for kind in kinds if kind in self.handlers), None)
            if handler is None:
                raise
            refusal = await handler(request, error)
            await refusal(scope, receive, send)
            return
        headers = [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})
