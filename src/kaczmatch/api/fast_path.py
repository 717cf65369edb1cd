"""Swipes bypass the framework's routing, which costs more than everything else that a swipe does in the API.

The OpenAPI document has the route like any other, and it answers the same when it is called through the framework.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, final

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from kaczmatch.api.problems import ErrorHandlers, response_to

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
    handlers: ErrorHandlers

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
            refusal = await response_to(error, request, self.handlers)
            if refusal is None:
                raise
            await refusal(scope, receive, send)
            return
        headers = [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})
