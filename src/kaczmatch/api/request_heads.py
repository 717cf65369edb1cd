"""Checks on the head of a request, before anything is read after it."""

from __future__ import annotations

from typing import Final

from starlette.types import Scope

_ONCE: Final = frozenset({b"authorization", b"content-length", b"host"})  # two of them could be read by two readers differently
_LONGEST_LENGTH: Final = 18  # digits of a Content-Length


class BadHead(Exception):
    """What is wrong with the head of a request, in words for the client."""


def content_length(scope: Scope) -> int:
    """The length that a head announces; 0 without one. Raises BadHead for a head that two readers could read differently."""
    length, seen = 0, set()
    for name, value in scope["headers"]:
        if name in _ONCE:
            if name in seen:
                raise BadHead(f"there is more than one {name.decode().title()} header: send one")
            seen.add(name)
            if name == b"content-length":
                if not value.isdigit() or len(value) > _LONGEST_LENGTH:
                    raise BadHead("Content-Length is not a number of bytes")
                length = int(value)
    if b"host" not in seen and scope["http_version"] == "1.1":
        raise BadHead("there is no Host header, which HTTP/1.1 asks for: send one")
    return length


def has_encoded_slash(scope: Scope) -> bool:
    """Whether `%2F` is in the path. It is a character of an id, but no id has it; decoded it would name another route."""
    raw: bytes = scope.get("raw_path") or b""
    return b"%2" in raw and b"%2f" in raw.lower()
