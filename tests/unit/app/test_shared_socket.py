"""Connections are spread over the processes that share a socket, and none is lost. Threads stand for processes here."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from threading import Event, Thread
from typing import Any

import pytest

from kaczmatch.app import shared_socket
from kaczmatch.app.shared_socket import SharingLoop, SharingServer

MANY = 24


class Named(asyncio.Protocol):
    """Says who took the connection."""

    def __init__(self, name: bytes, open: set[Any]) -> None:
        self._name, self._open = name, open

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._open.add(transport)
        transport.write(self._name)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._open.discard(self._transport)


@contextmanager
def taking(listening: socket.socket, name: bytes) -> Iterator[None]:
    """A loop of its own that takes connections, until the end."""
    loop, over, started, still_open = SharingLoop(), asyncio.Event(), Future[SharingServer](), set[Any]()

    loop.started.set()

    async def serve() -> None:
        server = await loop.create_server(lambda: Named(name, still_open), sock=listening, backlog=100)
        started.set_result(server)
        await over.wait()
        server.close()
        await server.wait_closed()
        for transport in still_open:
            transport.abort()
        while still_open:
            await asyncio.sleep(0)

    thread = Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    started.result(30)
    try:
        yield
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0), backlog=100) as made:
        yield made


@pytest.fixture
def shared(listening: socket.socket) -> Iterator[socket.socket]:
    """The same socket, as another process has it."""
    with listening.dup() as other:
        yield other


def connected(listening: socket.socket) -> socket.socket:
    return socket.create_connection(listening.getsockname(), timeout=30)


def test_one_after_the_other_they_are_spread(listening: socket.socket, shared: socket.socket) -> None:
    with ExitStack() as opened, taking(listening, b"a"), taking(shared, b"b"):
        takers = Counter(opened.enter_context(connected(listening)).recv(1) for _ in range(MANY))
    assert sum(takers.values()) == MANY
    assert min(takers[b"a"], takers[b"b"]) >= MANY // 4


def test_a_crowd_is_spread_and_everybody_is_taken(listening: socket.socket, shared: socket.socket) -> None:
    with ExitStack() as opened, taking(listening, b"a"), taking(shared, b"b"):
        crowd = [opened.enter_context(connected(listening)) for _ in range(4 * MANY)]
        takers = Counter(one.recv(1) for one in crowd)
    assert sum(takers.values()) == 4 * MANY
    assert min(takers[b"a"], takers[b"b"]) >= MANY // 4


def test_one_that_comes_later_catches_up(listening: socket.socket, shared: socket.socket) -> None:
    with ExitStack() as opened, taking(listening, b"a"):
        for _ in range(4 * MANY):
            assert opened.enter_context(connected(listening)).recv(1) == b"a"
        with taking(shared, b"b"):
            takers = Counter(opened.enter_context(connected(listening)).recv(1) for _ in range(MANY))
    assert takers[b"b"] > takers[b"a"]


class Watched:
    """A loop that notes how long it is to wait, and waits for nothing."""

    def __init__(self) -> None:
        self.pauses = list[float]()
        self.readable: Callable[[], None] | None = None
        self.started = Event()
        self.started.set()

    def add_reader(self, _: socket.socket, then: Callable[[], None]) -> None:
        self.readable = then

    def remove_reader(self, _: socket.socket) -> None:
        self.readable = None

    def call_later(self, pause: float, then: Callable[[], None]) -> None:
        self.pauses.append(pause)
        then()

    def create_task(self, coroutine: Coroutine[Any, Any, Any]) -> Future[None]:
        with suppress(StopIteration):
            coroutine.send(None)
        done = Future[None]()
        done.set_result(None)
        return done


def test_the_more_it_has_the_longer_it_waits_and_of_a_crowd_it_takes_a_share(listening: socket.socket) -> None:
    listening.setblocking(False)
    loop: Any = Watched()
    open = list[Named]()
    with ExitStack() as opened:

        async def connect(taken: socket.socket) -> tuple[None, Named]:
            opened.enter_context(taken)
            open.append(Named(b"", set()))
            return None, open[-1]

        SharingServer(loop, listening, 100, connect, loop.started)
        for _ in range(80):
            opened.enter_context(connected(listening))
        has = list[int]()
        while len(open) < 80:
            has.append(len(open))
            loop.readable()
    assert has == [0, 1, 3, 7, 15, 31, 63]  # twice as many each time
    assert loop.pauses == [pause for number in has for pause in (number.bit_length() / 1000, 0.0)]  # the second, until it listens


def test_connections_that_have_ended_do_not_count(listening: socket.socket, shared: socket.socket) -> None:
    """Somebody who had many once would otherwise wait for ever before each of the next."""
    with taking(listening, b"a"):
        for _ in range(MANY):
            with connected(listening) as one:
                assert one.recv(1) == b"a"
        with taking(shared, b"b"), ExitStack() as opened:
            takers = Counter(opened.enter_context(connected(listening)).recv(1) for _ in range(8))
    assert takers[b"a"] >= 2


def test_without_room_for_another_it_is_tried_again(
    listening: socket.socket, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shared_socket, "_TRY_AGAIN", 0.01)
    times = 0

    class NoRoom(socket.socket):
        def accept(self) -> tuple[socket.socket, object]:
            nonlocal times
            times += 1
            if times < 4:
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            return super().accept()

    with NoRoom(fileno=listening.dup().detach()) as full, taking(full, b"a"), connected(listening) as one:
        assert one.recv(1) == b"a"
    assert times >= 4
    told = capsys.readouterr()
    assert (told.out + told.err).count("Too many open files") == 3


def test_who_has_closed_leaves_connections_to_the_others(listening: socket.socket, shared: socket.socket) -> None:
    with taking(listening, b"a"):
        with taking(shared, b"b"):
            pass
        for _ in range(4):
            with connected(listening) as one:
                assert one.recv(1) == b"a"
