"""A request begins when its body is there."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable
from typing import Any, final

import pytest
from starlette.types import Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.server import ServerState

from kaczmatch.app.connections import ConnectionLimits, Connections
from kaczmatch.app.http_protocol import LimitedHttpProtocol

LIMITS = ConnectionLimits(connections=10, share=1.0, header_bytes=16_384, head_seconds=10, body_seconds=20, idle_seconds=75)
PUT = b"PUT /%d HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n"


@final
class Wire(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written, self.writes, self.closing = b"", 0, False

    def write(self, data: Any) -> None:
        self.written += bytes(data)
        self.writes += 1

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.closing = True

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message["body"]), message["more_body"]
    text = f"{scope['path']} {size} ".encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", str(len(text)).encode())]})
    await send({"type": "http.response.body", "body": text})


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def talk(client: Callable[[LimitedHttpProtocol, Wire, ServerState], Any]) -> None:
    """Run what a client does with one connection."""

    async def run() -> None:
        config, state, wire = Config(echo, log_config=None, ws="none"), ServerState(), Wire()
        config.load()
        connections = Connections(LIMITS)
        protocol = LimitedHttpProtocol(connections, config, state, {})
        protocol.connection_made(wire)
        await client(protocol, wire, state)
        protocol.connection_lost(None)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("size", "first", "begun"), [(10, 0, False), (10, 9, False), (10, 10, True), (9_000, 4_096, False), (9_000, 4_097, True)]
)
def test_a_request_costs_a_task_once_its_body_is_there_or_the_first_part_of_a_large_one(
    size: int, first: int, begun: bool
) -> None:
    async def client(protocol: LimitedHttpProtocol, wire: Wire, state: ServerState) -> None:
        protocol.data_received(PUT % (1, size, b"") + b" " * first)
        assert bool(state.tasks) is begun
        protocol.data_received(b" " * (size - first))
        await settle()
        assert wire.written.endswith(b"/1 %d " % size)

    talk(client)


def test_a_client_that_asks_first_is_told_to_send_its_body() -> None:
    async def client(protocol: LimitedHttpProtocol, wire: Wire, state: ServerState) -> None:
        protocol.data_received(PUT % (1, 3, b"Expect: 100-continue\r\n"))
        await settle()
        assert wire.written == b"HTTP/1.1 100 Continue\r\n\r\n"
        assert not state.tasks
        protocol.data_received(b"abc")
        await settle()
        assert wire.written.count(b"100 Continue") == 1
        assert wire.written.endswith(b"/1 3 ")

    talk(client)


def test_requests_that_are_sent_before_the_answers_are_answered_in_their_order() -> None:
    async def client(protocol: LimitedHttpProtocol, wire: Wire, state: ServerState) -> None:
        protocol.data_received(b"".join(PUT % (number, 2, b"") + b"ab" for number in range(3)) + PUT % (3, 4, b"") + b"ab")
        await settle()
        assert [wire.written.count(b"/%d 2 " % number) for number in range(4)] == [1, 1, 1, 0]
        protocol.data_received(b"cd")
        await settle()
        assert wire.written.index(b"/0 2 ") < wire.written.index(b"/1 2 ") < wire.written.index(b"/2 2 ")
        assert wire.written.endswith(b"/3 4 ")

    talk(client)


def test_a_request_whose_client_goes_away_never_begins() -> None:
    async def client(protocol: LimitedHttpProtocol, wire: Wire, state: ServerState) -> None:
        protocol.data_received(PUT % (1, 10, b"") + b"ab")
        protocol.connection_lost(ConnectionResetError())
        await settle()
        assert not state.tasks
        assert not wire.written

    talk(client)


def test_a_connection_that_was_closed_does_not_wait_for_the_garbage_collector() -> None:
    gone = []

    async def client(protocol: LimitedHttpProtocol, wire: Wire, state: ServerState) -> None:
        protocol.data_received(PUT % (1, 2, b"") + b"ab")
        await settle()
        assert wire.written.endswith(b"/1 2 ")
        protocol.data_received(PUT % (2, 10, b"") + b"ab")
        gone.append(weakref.ref(protocol))

    gc.disable()
    try:
        talk(client)
        assert gone[0]() is None
    finally:
        gc.enable()


def test_a_response_leaves_as_a_whole() -> None:
    """A machine that vanishes has sent all of it or nothing, so that a load balancer can ask another one."""

    async def client(protocol: LimitedHttpProtocol, wire: Wire, _: ServerState) -> None:
        for turn in range(1, 4):
            protocol.data_received(PUT % (turn, 2, b"") + b"hi")
            await settle()
            assert wire.written.endswith(b"/%d 2 " % turn)
            assert wire.writes == turn

    talk(client)


def test_what_was_answered_is_sent_before_a_connection_is_closed() -> None:
    async def client(protocol: LimitedHttpProtocol, wire: Wire, _: ServerState) -> None:
        protocol.data_received(PUT % (1, 2, b"Connection: close\r\n") + b"hi")
        await settle()
        assert wire.written.endswith(b"/1 2 ")
        assert wire.closing

    talk(client)
