"""Pages, rendered once and served with a strict Content-Security-Policy."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, final

import jinja2
from fastapi import APIRouter, Request, Response
from markupsafe import Markup

from kaczmatch.web.assets import Assets

TEMPLATES: Final = Path(__file__).parent / "templates"

# Nothing inline, nothing from elsewhere, no text that becomes markup or code.
STRICT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self'",
        "font-src": "'self'",
        "manifest-src": "'self'",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
)


@final
@dataclass(frozen=True, slots=True)
class SitePage:
    """A template at a path. `title` is its name in the navigation, where a page without one is not listed."""

    path: str
    template: str
    title: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    policy: Mapping[str, str] = field(default_factory=lambda: STRICT)
    cached: bool = True  # rendered once, the same for everybody; other pages have routes of their own


@final
class Site:
    """Pages that link to each other, with their templates and assets."""

    def __init__(self, pages: Sequence[SitePage], assets: Assets | None = None, **shared: Any) -> None:
        """`shared` are values for every template."""
        self.pages = tuple(pages)
        self.assets = assets or Assets.read()
        self._templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals.update(shared, asset=self.assets.address, icon=icon)

    def router(self) -> APIRouter:
        """The routes of cached pages and of assets."""
        router = APIRouter(include_in_schema=False)
        for page in self.pages:
            if not page.cached:
                continue
            router.add_api_route(page.path, self._cached_response(page), methods=["GET", "HEAD"], response_class=Response)
        router.include_router(self.assets.router())
        return router

    def render(self, page: SitePage, **values: Any) -> str:
        """Render a page with its own values and these, without the indentation of its templates."""
        listed = [(listed.path, listed.title) for listed in self.pages if listed.title]
        text = self._templates.get_template(page.template).render(page=page, listed=listed, **page.values, **values)
        return "\n".join(filter(None, map(str.strip, text.splitlines())))

    def _cached_response(self, page: SitePage) -> Any:
        content = self.render(page).encode()
        etag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
        headers = headers_of(page) | {"ETag": etag}

        async def respond(request: Request) -> Response:
            if request.headers.get("if-none-match") == etag:
                return Response(status_code=304, headers=headers)
            return Response(content, media_type="text/html; charset=utf-8", headers=headers)

        return respond


def icon(name: str) -> Markup:
    """One of `icons.html.j2`, for the eye only."""
    return Markup('<svg class="icon" aria-hidden="true"><use href="#icon-{}"/></svg>').format(name)


def headers_of(page: SitePage) -> dict[str, str]:
    policy = "; ".join(f"{name} {value}" for name, value in page.policy.items())
    return {"Cache-Control": "no-cache", "Content-Security-Policy": policy}
