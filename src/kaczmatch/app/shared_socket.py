"""Several processes take connections from one socket, and one that has fewer of them goes first.

Left to themselves, an idle process that wakes up first takes all that wait. An app that keeps a dozen connections open would then
be answered by one process, however many there are. Nobody counts for all: each process waits a little longer the more connections
it has, and another one is quicker. One that still starts does not listen.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from threading import Event
from typing import Any, Final, final
from weakref import WeakSet

import structlog
import uvloop

_TRY_AGAIN: Final = 1.0  # seconds, where the system has no room for another connection
_LOOK: Final = 0.05  # seconds, whether the process has started

Connected = tuple[Any, asyncio.BaseProtocol]  # its transport comes first

log = structlog.stdlib.get_logger("kaczmatch")


@final
class SharingLoop(uvloop.Loop):
    """For uvicorn's `loop`: an event loop whose servers share their sockets with other processes."""

    def __init__(self) -> None:
        super().__init__()
        self.started = Event()  # from then on its servers listen

    async def create_server(  # type: ignore[override]
        self, protocol_factory: Callable[[], asyncio.Protocol], *, sock: socket.socket, backlog: int, **options: Any
    ) -> SharingServer:
        sock.setblocking(False)
        return SharingServer(
            self, sock, backlog, lambda taken: self.connect_accepted_socket(protocol_factory, taken, **options), self.started
        )


@final
class SharingServer:
    """Takes connections from the start of its process until it is closed: what uvicorn asks of a server."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        listening: socket.socket,
        backlog: int,
        connect: Callable[[socket.socket], Awaitable[Connected]],
        started: Event,
    ) -> None:
        self._loop, self._listening, self._backlog, self._connect, self._started = loop, listening, backlog, connect, started
        self._connecting = set[asyncio.Task[None]]()
        self._open = WeakSet[asyncio.BaseProtocol]()  # a connection that was lost is forgotten by all
        self._later: asyncio.TimerHandle | None = None
        self._at_once, self._closed = 1, False
        self._wait_for_start()

    def close(self) -> None:
        self._closed = True
        self._loop.remove_reader(self._listening)
        if self._later is not None:
            self._later.cancel()

    async def wait_closed(self) -> None:
        if self._connecting:
            await asyncio.wait(self._connecting)

    def _wait_for_start(self) -> None:
        if self._started.is_set():
            self._listening.listen(self._backlog)
            self._listen()
        else:
            self._later = self._loop.call_later(_LOOK, self._wait_for_start)

    def _listen(self) -> None:
        self._loop.add_reader(self._listening, self._give_way)

    def _give_way(self) -> None:
        """A millisecond for each time that their number doubles: others go first who have half as many, and nobody waits long."""
        self._loop.remove_reader(self._listening)
        number = len(self._open) + len(self._connecting)
        self._later = self._loop.call_later(number.bit_length() / 1000, self._take)

    def _take(self) -> None:
        """One at first, and twice as many each time as long as others wait: a crowd is not kept waiting."""
        pause = 0.0
        try:
            for _ in range(self._at_once):
                taken, _ = self._listening.accept()
                taken.setblocking(False)
                task = self._loop.create_task(self._begin(taken))
                self._connecting.add(task)
                task.add_done_callback(self._connecting.discard)
            self._at_once *= 2
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            self._at_once = 1  # that was all: another process was quicker, or the client is gone
        except OSError as error:  # too many open files, mostly
            log.error("a connection cannot be taken", error=error.strerror)
            pause = _TRY_AGAIN
        finally:
            self._later = self._loop.call_later(pause, self._listen)

    async def _begin(self, taken: socket.socket) -> None:
        try:
            transport, protocol = await self._connect(taken)
        except (OSError, RuntimeError):  # the client is gone
            taken.close()
            return
        self._open.add(protocol)
        if self._closed:  # while it was taken
            transport.close()
