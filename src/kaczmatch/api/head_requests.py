"""HEAD is GET without the body (RFC 9110)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from starlette.types import ASGIApp, Message, Receive, Scope, Send


@final
@dataclass(slots=True)
class HeadRequests:
    """Turns HEAD into GET for the routes, which know GET only. The server leaves out the body of the response."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def respond(message: Message) -> None:
            scope["method"] = "HEAD"
            await send(message)

        scope["method"] = "GET"
        await self.app(scope, receive, respond)
