"""What a body may be: not too large, and not nested so deeply that reading it would overflow a stack."""

from __future__ import annotations

import re
from typing import Final

from starlette.types import Message, Receive

DEEPEST: Final = 32
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKETS = re.compile(rb"[\[\]{}]")


class TooLarge(Exception):
    """More than may be sent."""


class TooDeep(Exception):
    """Nested too deeply."""


async def whole(receive: Receive, limit: int) -> bytes | None:
    """The body, read no further than the limit; None where the client went away."""
    read: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise TooLarge
        read.append(part)
        if not message.get("more_body", False):
            return read[0] if len(read) == 1 else b"".join(read)


def checked_depth(body: bytes) -> None:
    if body.count(b"[") + body.count(b"{") <= DEEPEST:
        return
    depth = 0
    for bracket in _BRACKETS.findall(_STRINGS.sub(b"", body)):
        depth += 1 if bracket in (b"[", b"{") else -1
        if depth > DEEPEST:
            raise TooDeep


def again(body: bytes, receive: Receive) -> Receive:
    """A channel that hands out a body that was read already, and then what comes after it."""
    told = False

    async def replay() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def counted(receive: Receive, limit: int) -> Receive:
    """A channel that stops at the limit, for uploads that are read piece by piece."""
    size = 0

    async def count() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > limit:
            raise TooLarge
        return message

    return count
