"""One call, before anybody makes it: both clients are made of the same ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, final
from urllib.parse import quote

import httpx

from kaczmatch.client.decoding import decoded

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """What to send, and what to make of the answer. `repeatable`: sent twice, it has the effect of one."""

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
    """A path with parts that cannot leave their place."""
    return template.format(**{name: quote(part, safe="") for name, part in parts.items()})


def given(**values: Any) -> dict[str, Any]:
    """Those that were said."""
    return {name: value for name, value in values.items() if value is not None}


def answer(kind: type[T]) -> Callable[[httpx.Response], T]:
    return lambda response: decoded(kind, response.json())


def nothing(response: httpx.Response) -> None:
    del response


def content(response: httpx.Response) -> bytes:
    return response.content


def text(response: httpx.Response) -> str:
    return response.text


def plain(response: httpx.Response) -> dict[str, Any]:
    return dict(response.json())
