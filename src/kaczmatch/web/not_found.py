"""A page for an address that does not exist. Programs still get a problem (RFC 9457)."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from kaczmatch.web.pages import Site, SitePage, headers_of

NOT_FOUND: Final = SitePage("", "not_found.html.j2", cached=False)


def show_not_found(app: FastAPI, site: Site) -> None:
    """For browsers, which ask for HTML first."""
    problem: Any = app.exception_handlers[HTTPException]
    content = site.render(NOT_FOUND)

    async def respond(request: Request, error: Any) -> Response:
        is_page = request.method in ("GET", "HEAD") and request.headers.get("accept", "").startswith("text/html")
        if not is_page or request.url.path.startswith("/v1/"):
            answer: Response = await problem(request, error)
            return answer
        return Response(content, 404, headers_of(NOT_FOUND), "text/html; charset=utf-8")

    app.add_exception_handler(404, respond)
