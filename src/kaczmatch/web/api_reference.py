"""The HTTP API as a page, from its OpenAPI document: at `/docs` of the service. It asks no other host."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple

from fastapi import APIRouter, Request, Response
from markupsafe import Markup, escape

from kaczmatch.web.pages import Site, SitePage, headers_of

SUBJECTS: Final = (  # tags of the document, in the order in which an app needs them
    "access", "vocabulary", "profiles", "import and export", "decks", "swipes", "matches", "preferences", "safety", "feed",
    "health", "operators",
)  # fmt: skip
REFERENCE: Final = SitePage("/docs", "api_reference.html.j2", "API", cached=False)


class ApiField(NamedTuple):
    """A parameter, or a member of a schema."""

    name: str
    type: str
    required: bool
    description: str


class ApiOperation(NamedTuple):
    """One thing that the API does."""

    subject: str
    id: str
    method: str
    path: str
    words: str
    parameters: tuple[ApiField, ...]
    takes: str
    returns: str


class ApiSchema(NamedTuple):
    """What is sent or returned."""

    name: str
    words: str
    members: tuple[ApiField, ...]


def operations(document: Mapping[str, Any]) -> list[ApiOperation]:
    """By subject; of one subject in the order of the document."""
    found = [
        ApiOperation(
            operation["tags"][0],
            operation["operationId"],
            method.upper(),
            path,
            operation.get("description") or operation.get("summary", ""),
            tuple(
                ApiField(each["name"], type_words(each["schema"]), each.get("required", False), each.get("description", ""))
                for each in operation.get("parameters", ())
            ),
            _body(operation.get("requestBody", {})),
            next((_body(answer) for code, answer in operation["responses"].items() if code.startswith("2")), ""),
        )
        for path, ways in document["paths"].items()
        for method, operation in ways.items()
    ]
    return sorted(found, key=lambda each: SUBJECTS.index(each.subject))


def schemas(document: Mapping[str, Any]) -> list[ApiSchema]:
    """In the order of their names."""
    return [
        ApiSchema(
            name,
            schema.get("description", ""),
            tuple(
                ApiField(member, type_words(each), member in schema.get("required", ()), each.get("description", ""))
                for member, each in schema.get("properties", {}).items()
            ),
        )
        for name, schema in sorted(document["components"]["schemas"].items())
    ]


def type_words(schema: Mapping[str, Any]) -> str:
    """A type as people say it."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema or "const" in schema:
        return " | ".join(repr(value) for value in schema.get("enum", [schema.get("const")]))
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return _either(map(type_words, schema[several]))
    kind = str(schema.get("type", "anything"))
    if kind == "array":
        return f"list of {type_words(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"{type_words(schema['additionalProperties'])} by name"
    return f"{kind} ({schema['format']})" if "format" in schema else kind


def _either(types: Iterable[str]) -> str:
    return " | ".join(dict.fromkeys(types))


def _body(message: Mapping[str, Any]) -> str:
    return _either(type_words(each.get("schema", {})) for each in message.get("content", {}).values())


def linked(words: str, names: Collection[str], link: str) -> str:
    """A type in which each name of a schema leads to it: `link` is how, with {name}."""
    return re.sub(r"\w+", lambda found: link.format(name=found[0]) if found[0] in names else found[0], words)


def reference_page(site: Site, document: Mapping[str, Any]) -> str:
    """The page that says what an OpenAPI document says."""
    named = schemas(document)
    names = {each.name for each in named}

    def link(words: str) -> Markup:
        return Markup(linked(str(escape(words)), names, '<a href="#schema-{name}">{name}</a>'))  # noqa: S704 - escaped

    version = document["info"]["version"]
    return site.render(REFERENCE, operations=operations(document), schemas=named, version=version, link=link)


def reference_router(site: Site) -> APIRouter:
    """The page, rendered at the first request: the document is that of the running service."""
    router = APIRouter(include_in_schema=False)
    rendered: list[str] = []

    async def respond(request: Request) -> Response:
        if not rendered:
            rendered.append(reference_page(site, request.app.openapi()))
        return Response(rendered[0], media_type="text/html; charset=utf-8", headers=headers_of(REFERENCE))

    router.add_api_route(REFERENCE.path, respond, methods=["GET", "HEAD"], response_class=Response)
    return router
