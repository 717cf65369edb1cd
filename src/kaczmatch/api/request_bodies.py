"""Limits on request bodies: their size, and how deeply they are nested, because parsing deep JSON could overflow a stack."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.types import Message, Receive

from kaczmatch.api.address_shares import AddressShares

DEEPEST: Final = 32
SMALL_BODY: Final = 4_096  # bytes: a login, a swipe, most profiles
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKETS = re.compile(rb"[\[\]{}]")


class BodyTooLarge(Exception):
    """The body is larger than the limit."""


class BodyTooDeep(Exception):
    """The body is nested too deeply."""


class TooManyBodies(Exception):
    """An address has sent the beginnings of too many bodies."""


async def read_body(
    receive: Receive, limit: int, unfinished: AddressShares, address: str, authenticate: Callable[[], Awaitable[object]]
) -> bytes | None:
    """The body, read no further than the limit; None where the client went away.

    The rest of a large body is read only for somebody with a credential, because parsing it takes time from everybody.
    Memory is taken from `unfinished` while the rest of a body is missing. Most bodies come in one piece and take none.
    """
    pieces: list[bytes] = []
    size = held = 0
    known = False
    try:
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            piece: bytes = message.get("body", b"")
            size += len(piece)
            if size > limit:
                raise BodyTooLarge
            if size > SMALL_BODY and not known:
                await authenticate()
                known = True
            pieces.append(piece)
            if not message.get("more_body", False):
                return pieces[0] if len(pieces) == 1 else b"".join(pieces)
            if piece:
                if not unfinished.take(address, len(piece)):
                    raise TooManyBodies
                held += len(piece)
    finally:
        if held:
            unfinished.give_back(address, held)


def check_depth(body: bytes) -> None:
    if body.count(b"[") + body.count(b"{") <= DEEPEST:
        return
    depth = 0
    for bracket in _BRACKETS.finditer(_STRINGS.sub(b"", body)):
        depth += 1 if bracket[0] in (b"[", b"{") else -1
        if depth > DEEPEST:
            raise BodyTooDeep


def replayed(body: bytes, receive: Receive) -> Receive:
    """A channel that hands out a body that was read already, and then what comes after it."""
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def limited(receive: Receive, limit: int) -> Receive:
    """A channel that stops at the limit, for uploads that are read piece by piece."""
    size = 0

    async def receive_piece() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > limit:
            raise BodyTooLarge
        return message

    return receive_piece
