"""uvicorn's HTTP/1.1, with limits on what a client may send and on how long it may take."""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from typing import Any, Final, final

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from kaczmatch.api.request_bodies import SMALL_BODY
from kaczmatch.app.connections import Awaited, Connections
from kaczmatch.schemas.problems import PROBLEM_MEDIA_TYPE

_PROGRESS: Final = 65_536  # bytes of a body that buy a client more time


class _HeadTooLarge(Exception):
    """The parser turns it into an error of its own."""


@final
class _JoinedWrites:
    """A transport that writes once what it is given in one turn of the loop.

    A response then leaves as a whole. uvicorn writes the head before the body, and where a machine vanishes in between, a load
    balancer has passed on a head that it cannot take back.
    """

    __slots__ = ("_loop", "_size", "_transport", "_waiting")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop, self._waiting, self._size = transport, loop, list[bytes](), 0

    def write(self, data: bytes) -> None:
        if not self._waiting:
            self._loop.call_soon(self._flush)
        self._waiting.append(data)
        self._size += len(data)
        if self._size > _PROGRESS:  # the transport has to know, since it says when a client does not read
            self._flush()

    def write_eof(self) -> None:
        self._flush()
        self._transport.write_eof()

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        waiting, self._waiting, self._size = self._waiting, [], 0
        if waiting:
            self._transport.write(b"".join(waiting))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


@final
class LimitedHttpProtocol(HttpToolsProtocol):
    """One connection. `connections` are all of this process.

    What a connection waits for is worked out when somebody asks, once per second, so a request pays next to nothing. A request
    begins when its body is there, or the first part of a large one: thousands that wait for theirs would cost a task each,
    and the garbage collector looks through all that a task refers to.
    """

    def __init__(
        self,
        connections: Connections,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._all = connections
        self._header_limit = connections.limits.header_bytes
        self._unparsed = 0  # bytes since the parser came to the end of a head, a piece of a body, or a request
        self._received = 0  # bytes of bodies
        self._drained = 0  # how often a full buffer of responses was read
        self._refused = False
        self._not_begun: tuple[RequestResponseCycle, Any] | None = None  # and the application that it is for

    @property
    def peer(self) -> str:
        return self.client[0] if self.client else ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(_JoinedWrites(transport, self.loop))  # type: ignore[arg-type]
        if not self._all.add(self, self.loop):
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Afterwards nothing refers to it in a circle, so it is gone at once: thousands would wait for the garbage collector,
        which stops everybody while it looks through them."""
        self._all.discard(self)
        super().connection_lost(exc)
        self.cycle = self._not_begun = None  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        self._unparsed += len(data)
        super().data_received(data)
        if self._unparsed > self._header_limit and not self._refused:
            self.send_400_response("")

    def on_headers_complete(self) -> None:
        if self._unparsed > self._header_limit and self._head_size() > self._header_limit:
            raise _HeadTooLarge
        self._unparsed = 0
        super().on_headers_complete()
        self.headers = []  # what comes after a body in pieces is no header, and has to stay out of the list of the request

    def on_body(self, body: bytes) -> None:
        self._unparsed = 0
        self._received += len(body)
        super().on_body(body)
        if self._not_begun is not None and len(self._not_begun[0].body) > SMALL_BODY:
            self._begin()

    def on_message_complete(self) -> None:
        self._unparsed = 0
        super().on_message_complete()
        self._begin()

    def resume_writing(self) -> None:
        self._drained += 1
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Called where the parser fails."""
        if self._unparsed > self._header_limit:
            status, detail = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"a head may have {self._header_limit:,} bytes"
            self._refuse(status, "too-large", detail)
        else:
            self._refuse(HTTPStatus.BAD_REQUEST, "http", msg or "this is not HTTP")

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._not_begun = cycle, app
        if not cycle.more_body:
            self._begin()
        elif cycle.waiting_for_100_continue:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            cycle.waiting_for_100_continue = False

    def _begin(self) -> None:
        if self._not_begun is not None:
            begun, self._not_begun = self._not_begun, None
            super()._start_asgi_task(*begun)

    def awaits(self) -> Awaited | None:
        cycle = self.cycle
        if self._refused or self.transport.is_closing():
            return Awaited.CLOSING
        if cycle is None or (cycle.response_complete and self.scope is not cycle.scope):
            return Awaited.HEAD if self.scope is not None else Awaited.FIRST_REQUEST
        if cycle.more_body:
            return None if self.flow.read_paused else Awaited.BODY
        if cycle.response_complete:
            return Awaited.NEXT_REQUEST
        return Awaited.READING if self.flow.write_paused else None

    def progress(self) -> object:
        return self.cycle, self._received // _PROGRESS, self._drained

    def time_out(self) -> None:
        awaited = self.awaits()
        if awaited is Awaited.HEAD:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "timeout", "the head of the request did not arrive in time")
        elif awaited is Awaited.BODY and not self.cycle.response_complete:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "timeout", "the body of the request did not arrive in time")
        else:
            if awaited is Awaited.READING:
                self._all.note("unread")
            self.abort()

    def abort(self) -> None:
        self.transport.abort()

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _refuse(self, status: HTTPStatus, code: str, detail: str) -> None:
        """Answer in place of the application, and read nothing any more. The connection is closed a moment later."""
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        self._all.note(code)
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:
            if self.pipeline or cycle.response_started or not cycle.more_body:  # another answer is on its way
                self.abort()
                return
            cycle.disconnected = True
            cycle.message_event.set()
        body = {"type": "about:blank", "title": status.phrase, "status": status.value, "code": code, "detail": detail}
        content = json.dumps(body | {"request_id": ""}).encode()
        head = f"content-type: {PROBLEM_MEDIA_TYPE}\r\ncontent-length: {len(content)}\r\nconnection: close\r\n\r\n"
        self.transport.write(STATUS_LINE[status.value] + head.encode() + content)
        self.flow.pause_reading()
        self.transport.write_eof()
