"""A client that asks for decks at a steady rate, answers the first card of each, and keeps how long everything took."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any

CONNECTIONS = 4


@dataclass
class Seen:
    """When requests were sent, how long each took, and what it was."""

    decks: list[tuple[float, float]] = field(default_factory=list)
    swipes: list[tuple[float, float]] = field(default_factory=list)
    ready: list[tuple[float, int]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


@dataclass
class Client:
    """Asks for decks at a rate and answers the first card of each, until it is told to stop."""

    port: int
    key: str
    people: int
    first: int  # people before this one are left alone
    rate: float
    seen: Seen = field(default_factory=Seen)
    stopping: bool = False

    def run(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        self._began, self._turn = time.perf_counter(), 0
        await asyncio.gather(self._ask_ready(), *(self._ask() for _ in range(CONNECTIONS)))

    async def _ask(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        send = partial(self._send, reader, writer)
        while not self.stopping:
            turn, self._turn = self._turn, self._turn + 1
            await asyncio.sleep(max(0.0, self._began + turn / self.rate - time.perf_counter()))
            user = f"p{self.first + turn * 101 % (self.people - self.first)}"
            began = time.perf_counter()
            status, deck = await send("POST", f"/v1/people/{user}/deck", {})
            self.seen.decks.append((began, time.perf_counter() - began))
            if status not in (200, 201):
                self.seen.refused.append(f"deck {status}")
                continue
            if not deck["cards"]:
                continue
            began, card = time.perf_counter(), deck["cards"][0]
            about = {"candidate": card["id"], "decision": "pass" if turn % 3 else "like", "deck": deck["id"]}
            status, _ = await send("PUT", f"/v1/people/{user}/swipes/s{turn}", about)
            self.seen.swipes.append((began, time.perf_counter() - began))
            if status not in (200, 201, 404):  # whoever was on the card may have been erased
                self.seen.refused.append(f"swipe {status}")
        writer.close()

    async def _ask_ready(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        while not self.stopping:
            status, _ = await self._send(reader, writer, "GET", "/v1/health/ready", None)
            self.seen.ready.append((time.perf_counter(), status))
            await asyncio.sleep(0.25)
        writer.close()

    async def _send(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, method: str, path: str, body: Any
    ) -> tuple[int, Any]:
        writer.write(request_of(method, path, self.key, body))
        status, _, content = await answer_from(reader)
        return status, json.loads(content) if content else None


def request_of(method: str, path: str, key: str, body: Any = None) -> bytes:
    text = "" if body is None else json.dumps(body)
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()


async def answer_from(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    """Status, headers by their names in small letters, and content."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    return int(first.split(" ", 2)[1]), headers, await reader.readexactly(int(headers.get("content-length", "0")))
