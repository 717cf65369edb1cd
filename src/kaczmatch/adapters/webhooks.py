"""Messages by HTTP, signed as Standard Webhooks has it (https://www.standardwebhooks.com)."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import json
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import final
from urllib.parse import SplitResult, urlsplit

import httpx

from kaczmatch.adapters.addresses import is_public
from kaczmatch.core.errors import InvalidInput
from kaczmatch.service.domain.records import OutboxMessage
from kaczmatch.service.messages.sender import SendResult, message_body

PREFIX = "whsec_"
_SHORTEST, _LONGEST = 24, 64  # bytes of a secret, as the standard has it

_MOST_READ, _READ_FOR = 65_536, 1.0  # bytes and seconds of an answer

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


def decode_secret(secret: str) -> bytes:
    """The bytes of a secret: base64, usually after `whsec_`."""
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInput("webhook secret", "must be base64, after whsec_") from None
    if not _SHORTEST <= len(key) <= _LONGEST:
        raise InvalidInput("webhook secret", f"must be {_SHORTEST} to {_LONGEST} bytes as base64; 32 random ones are good")
    return key


def signature(key: bytes, identifier: str, timestamp: int, body: bytes) -> str:
    signed = hmac.digest(key, f"{identifier}.{timestamp}.".encode() + body, hashlib.sha256)
    return f"v1,{base64.b64encode(signed).decode()}"


async def _looked_up(host: str, port: int) -> Sequence[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[4][0]) for place in found))


@final
@dataclass(slots=True)
class WebhookSender:
    """Posts to one address. While a secret is being changed there are two, and every message is signed with both.

    The host is looked up for every message, every address it has must be public, and the connection goes to one of those
    very addresses: a name that answers differently the second time gains nothing. `trusting` is for tests and development: it
    allows plain HTTP and any address.
    """

    url: str
    secrets: Sequence[str] = field(repr=False)
    trusting: bool = False
    timeout: float = 15.0  # seconds for all of one try
    resolve: Resolve = _looked_up
    _parts: SplitResult = field(init=False, repr=False)
    _keys: list[bytes] = field(init=False, repr=False)
    _client: httpx.AsyncClient | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            self._parts = urlsplit(self.url)
            port = self._parts.port
        except ValueError:
            raise InvalidInput("webhook url", "is not a URL") from None
        schemes = ("https", "http") if self.trusting else ("https",)
        if self._parts.scheme not in schemes or not self._parts.hostname or port == 0:
            raise InvalidInput("webhook url", "must be https://host/path")
        if self._parts.username is not None or self._parts.fragment:
            raise InvalidInput("webhook url", "must have neither a user name nor a fragment")
        if not self.secrets:
            raise InvalidInput("webhook secret", "is needed: receivers check the signature")
        self._keys = [decode_secret(secret) for secret in self.secrets]

    async def send(self, message: OutboxMessage, at: datetime) -> SendResult:
        body = json.dumps(message_body(message), separators=(",", ":")).encode()
        timestamp = int(at.timestamp())
        headers = {
            "content-type": "application/json",
            "user-agent": "kaczmatch",
            "webhook-id": message.id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": " ".join(signature(key, message.id, timestamp, body) for key in self._keys),
        }
        try:
            async with asyncio.timeout(self.timeout):
                return await self._post(body, headers)
        except TimeoutError:
            return SendResult(False, f"no answer within {self.timeout:g} s")
        except (httpx.HTTPError, OSError, UnicodeError, ssl.SSLError) as error:
            return SendResult(False, type(error).__name__)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _post(self, body: bytes, headers: dict[str, str]) -> SendResult:
        host, port = self._parts.hostname or "", self._parts.port or (443 if self._parts.scheme == "https" else 80)
        addresses = await self.resolve(host, port)
        if not self.trusting and not all(is_public(address) for address in addresses):
            return SendResult(False, "the address is not a public one")
        problem = "the host has no address"
        for address in addresses:
            try:
                return await self._post_to(address, port, body, headers)
            except httpx.ConnectError as error:
                problem = type(error).__name__
        return SendResult(False, problem)

    async def _post_to(self, address: str, port: int, body: bytes, headers: dict[str, str]) -> SendResult:
        if self._client is None:
            # No proxy and no .netrc from the environment, and no redirects: they could lead anywhere.
            self._client = httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=self.timeout)
        place = f"[{address}]" if ":" in address else address
        path = f"{self._parts.path or '/'}{'?' + self._parts.query if self._parts.query else ''}"
        request = self._client.build_request(
            "POST",
            f"{self._parts.scheme}://{place}:{port}{path}",
            content=body,
            headers={**headers, "host": self._parts.netloc},
            extensions={"sni_hostname": self._parts.hostname},
        )
        response = await self._client.send(request, stream=True)
        try:
            await _read_out(response)
        finally:
            await response.aclose()
        if 200 <= response.status_code < 300:
            return SendResult(True)
        return SendResult(False, f"status {response.status_code}", _asked(response.headers.get("retry-after", "")))


async def _read_out(response: httpx.Response) -> None:
    """Only the status matters, but a connection can be used again once its answer has been read; not any length of it."""
    with suppress(httpx.HTTPError, TimeoutError):
        async with asyncio.timeout(_READ_FOR):
            read = 0
            async for piece in response.aiter_raw():
                read += len(piece)
                if read > _MOST_READ:
                    return


def _asked(retry_after: str) -> timedelta:
    """Seconds that the receiver asks for; a date is not looked at."""
    return timedelta(seconds=min(int(retry_after), 86_400)) if retry_after.isdecimal() and retry_after.isascii() else timedelta(0)
