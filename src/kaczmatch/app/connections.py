"""The open connections of a process: which of them have kept it waiting for too long, and which make room for others."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from dataclasses import dataclass
from enum import Enum, auto
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Final, Protocol, final

import structlog

from kaczmatch.api.address_shares import address_key

LINGER_SECONDS: Final = 2.0  # for a client to read a refusal; closing at once would take it away from a client that still sends
SWEEP_SECONDS: Final = 1.0
_AT_ONCE, _PAUSE_SECONDS = 100, 0.005  # connections that are looked at without a pause
_CLOSED_AT_ONCE: Final = 4  # of them: each wakes up the request that waits for its body, which costs more than a look
_LOOKS: Final = 128  # at connections, to find one that makes room

log = structlog.stdlib.get_logger("kaczmatch")


class Awaited(Enum):
    """What a client has to do next."""

    FIRST_REQUEST = auto()
    NEXT_REQUEST = auto()
    HEAD = auto()  # the rest of it
    BODY = auto()
    READING = auto()  # of a response
    CLOSING = auto()


class Connection(Protocol):
    """What is asked of a connection."""

    @property
    def peer(self) -> str: ...

    def awaits(self) -> Awaited | None:
        """What it waits for; None while a request is being worked on."""

    def progress(self) -> object:
        """Something that is equal as long as the client does not get any further."""

    def time_out(self) -> None:
        """Tell the client, where that is possible, and close."""

    def abort(self) -> None:
        """Close without a word."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """How many connections there may be, how long they may wait for what, and how large a head may be."""

    connections: int
    share: float  # of them, for one address
    header_bytes: int
    head_seconds: float
    body_seconds: float
    idle_seconds: float
    proxies: tuple[IPv4Network | IPv6Network, ...] = ()  # their connections bring many clients, so they have no share

    @property
    def of_one_address(self) -> int:
        return max(1, int(self.connections * self.share))

    def seconds(self, awaited: Awaited) -> float:
        """How long to wait."""
        match awaited:
            case Awaited.FIRST_REQUEST | Awaited.NEXT_REQUEST:
                return self.idle_seconds
            case Awaited.HEAD:
                return self.head_seconds
            case Awaited.BODY | Awaited.READING:
                return self.body_seconds
            case Awaited.CLOSING:
                return LINGER_SECONDS

    def is_proxy(self, peer: str) -> bool:
        if not (self.proxies and peer):
            return False
        address = ip_address(peer.partition("%")[0])
        return any(address in network for network in self.proxies)


@final
class Connections:
    """All open connections. One timer looks at all of them, so that a request sets and cancels none.

    Where there are too many, the oldest one that waits for its client makes room, so newcomers get in while somebody holds
    sockets open. Those that have just sent a request are passed over.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._since: OrderedDict[Connection, tuple[object, float]] = OrderedDict()  # what it waits for, since when
        self._of_address: dict[str, OrderedDict[Connection, None]] = {}
        self._closed: Counter[str] = Counter()
        self._unseen: list[Connection] = []  # of this sweep
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._since)

    def add(self, connection: Connection, loop: asyncio.AbstractEventLoop) -> bool:
        """Whether a new connection may stay."""
        limits, address = self.limits, address_key(connection.peer)
        own = self._of_address.get(address, OrderedDict())
        if len(own) >= limits.of_one_address and not limits.is_proxy(connection.peer):
            admitted = self._make_room(own)
        else:
            admitted = len(self._since) < limits.connections or self._make_room(self._since)
        if not admitted:
            self.note("refused")
            return False
        self._since[connection] = (None, loop.time())
        self._of_address.setdefault(address, own)[connection] = None
        if self._timer is None:
            self._timer = loop.call_later(SWEEP_SECONDS, self._tick, loop)
        return True

    def discard(self, connection: Connection) -> None:
        if self._since.pop(connection, None) is None:
            return
        address = address_key(connection.peer)
        own = self._of_address[address]
        del own[connection]
        if not own:
            del self._of_address[address]

    def note(self, why: str) -> None:
        """Count something that is closed, for the log."""
        self._closed[why] += 1

    def look_at(self, connection: Connection, now: float) -> bool:
        """Close it if it has kept us waiting for too long; answers with whether it has."""
        if connection not in self._since:
            return False
        before, since = self._since[connection]
        awaited = connection.awaits()
        waits = None if awaited is None else (awaited, connection.progress())
        if awaited is None or waits != before:
            self._since[connection] = (waits, now)
            return False
        if now - since < self.limits.seconds(awaited):
            return False
        connection.time_out()
        return True

    def _make_room(self, order: OrderedDict[Connection, None] | OrderedDict[Connection, tuple[object, float]]) -> bool:
        """Close one that waits for its client; preferably not one that has sent a request since the last sweep."""
        found = None
        for _ in range(min(_LOOKS, len(order))):
            connection = next(iter(order))
            awaited = connection.awaits()
            order.move_to_end(connection)
            if awaited is None:
                continue
            found = found or connection
            if awaited is not Awaited.NEXT_REQUEST or self._since[connection][0] == (awaited, connection.progress()):
                found = connection
                break
        if found is None:
            return False
        self.note("made_room")
        self.discard(found)
        found.abort()
        return True

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        """Look at some of them. Requests get their turn in between, though all may have to be closed at once."""
        now, self._unseen = loop.time(), self._unseen or list(self._since)
        closed = 0
        for _ in range(min(_AT_ONCE, len(self._unseen))):
            closed += self.look_at(self._unseen.pop(), now)
            if closed == _CLOSED_AT_ONCE:
                break
        if self._unseen:
            self._timer = loop.call_later(_PAUSE_SECONDS, self._tick, loop)
            return
        if self._closed:
            log.warning("connections closed", **self._closed)
            self._closed.clear()
        self._timer = loop.call_later(SWEEP_SECONDS, self._tick, loop) if self._since else None
