"""One call before it is made. Both clients consist of the same calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, final
from urllib.parse import quote

import httpx

from kaczmatch.schemas.base import ResponseModel

T = TypeVar("T")
M = TypeVar("M", bound=ResponseModel)


@final
@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """What to send, and how to read the response. A `repeatable` call that is sent twice has the effect of one."""

    method: str
    path: str
    read: Callable[[httpx.Response], T]
    query: Mapping[str, Any] = field(default_factory=dict)
    json: Any = None
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True

    def request(self, client: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        return client.build_request(
            self.method, self.path, params=self.query or None, json=self.json, content=self.content, headers=dict(self.headers)
        )


def path(template: str, **parts: str) -> str:
    """A path whose parts are quoted, so that an id cannot change the route."""
    return template.format(**{name: quote(part, safe="") for name, part in parts.items()})


def given(**values: Any) -> dict[str, Any]:
    """The values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def model(kind: type[M]) -> Callable[[httpx.Response], M]:
    """Reads a response as a model of the contract."""
    return lambda response: kind.model_validate_json(response.content)


def nothing(response: httpx.Response) -> None:
    del response


def content(response: httpx.Response) -> bytes:
    return response.content


def text(response: httpx.Response) -> str:
    return response.text


def mapping(response: httpx.Response) -> dict[str, Any]:
    return dict(response.json())
