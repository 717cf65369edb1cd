"""Which connections are closed, and when: with a clock and connections that are told what to wait for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_network

import pytest

from kaczmatch.app.connections import LINGER_SECONDS, Awaited, ConnectionLimits, Connections


@dataclass(eq=False)
class Client:
    """One connection."""

    peer: str = "192.0.2.1"
    waits: Awaited | None = Awaited.BODY
    step: int = 0
    closed: str = ""

    def awaits(self) -> Awaited | None:
        return self.waits

    def progress(self) -> object:
        return self.step

    def time_out(self) -> None:
        self.closed = "timed out"

    def abort(self) -> None:
        self.closed = "aborted"


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    yield made
    made.close()


def limited(connections: int = 8, share: float = 0.5, proxies: tuple[str, ...] = ()) -> Connections:
    limits = ConnectionLimits(
        connections=connections,
        share=share,
        header_bytes=1_024,
        head_seconds=10.0,
        body_seconds=20.0,
        idle_seconds=75.0,
        proxies=tuple(map(ip_network, proxies)),
    )
    return Connections(limits)


@pytest.mark.parametrize(
    ("awaited", "seconds"),
    [
        (Awaited.FIRST_REQUEST, 75.0),
        (Awaited.NEXT_REQUEST, 75.0),
        (Awaited.HEAD, 10.0),
        (Awaited.BODY, 20.0),
        (Awaited.READING, 20.0),
        (Awaited.CLOSING, LINGER_SECONDS),
    ],
)
def test_each_thing_is_waited_for_only_so_long(loop: asyncio.AbstractEventLoop, awaited: Awaited, seconds: float) -> None:
    connections, client = limited(), Client(waits=awaited)
    assert connections.add(client, loop)
    now = loop.time()
    connections.look_at(client, now)
    connections.look_at(client, now + seconds - 0.1)
    assert not client.closed
    connections.look_at(client, now + seconds)
    assert client.closed == "timed out"


def test_progress_buys_time_and_work_on_a_request_is_never_cut_off(loop: asyncio.AbstractEventLoop) -> None:
    connections, slow, busy = limited(), Client(), Client(waits=None)
    assert connections.add(slow, loop)
    assert connections.add(busy, loop)
    now = loop.time()
    for turn in range(10):
        for client in (slow, busy):
            connections.look_at(client, now + 15.0 * turn)
        slow.step += 1
    assert not slow.closed
    assert not busy.closed
    for client in (slow, busy):
        connections.look_at(client, now + 150.0)
        connections.look_at(client, now + 170.0)
    assert slow.closed == "timed out"
    assert not busy.closed


def test_an_address_that_has_its_share_gives_up_its_oldest_stalled_connection(loop: asyncio.AbstractEventLoop) -> None:
    connections = limited()
    busy, stalled, other = Client(waits=None), [Client() for _ in range(3)], Client("192.0.2.2")
    for client in (busy, *stalled, other):
        assert connections.add(client, loop)
    newcomer = Client(waits=Awaited.FIRST_REQUEST)
    assert connections.add(newcomer, loop)
    assert [client.closed for client in (busy, *stalled, other, newcomer)] == ["", "aborted", "", "", "", ""]
    assert len(connections) == 5


def test_where_all_of_an_address_are_at_work_its_newcomer_is_refused(loop: asyncio.AbstractEventLoop) -> None:
    connections = limited()
    busy = [Client(waits=None) for _ in range(4)]
    assert all(connections.add(client, loop) for client in busy)
    assert not connections.add(Client(), loop)
    assert connections.add(Client("192.0.2.2"), loop)
    assert not any(client.closed for client in busy)
    connections.discard(busy[0])
    assert connections.add(Client(), loop)


def test_who_sends_requests_outlives_who_only_stays(loop: asyncio.AbstractEventLoop) -> None:
    connections = limited()
    used, silent = (Client(waits=Awaited.NEXT_REQUEST) for _ in range(2))
    clients = [used, silent, Client(waits=None), Client(waits=None)]
    assert all(connections.add(client, loop) for client in clients)
    for turn in range(5):  # each newcomer takes a place; `used` has sent another request before each
        for client in clients:
            connections.look_at(client, loop.time() + turn)
        used.step += 1
        clients.append(Client(waits=Awaited.NEXT_REQUEST))
        assert connections.add(clients[-1], loop)
    assert silent.closed == "aborted"
    assert not used.closed


def test_a_newcomer_gets_in_though_all_others_are_in_use(loop: asyncio.AbstractEventLoop) -> None:
    connections = limited()
    used = [Client(waits=Awaited.NEXT_REQUEST) for _ in range(4)]
    assert all(connections.add(client, loop) for client in (*used, Client()))
    assert [client.closed for client in used] == ["aborted", "", "", ""]


def test_the_whole_limit_holds_for_many_addresses(loop: asyncio.AbstractEventLoop) -> None:
    connections = limited()
    clients = [Client(f"192.0.2.{number}") for number in range(20)]
    assert all(connections.add(client, loop) for client in clients)
    assert len(connections) == 8
    assert [bool(client.closed) for client in clients] == [True] * 12 + [False] * 8


def test_many_that_have_to_be_closed_at_once_leave_turns_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kaczmatch.app.connections.SWEEP_SECONDS", 0.01)
    connections, clients = limited(200, 1.0), [Client() for _ in range(100)]
    limits = connections.limits
    closed_in_a_turn: list[int] = []

    async def run() -> None:
        loop = asyncio.get_running_loop()
        for client in clients:
            assert connections.add(client, loop)
            connections.look_at(client, loop.time() - limits.body_seconds)
        before = 0
        while before < len(clients):
            await asyncio.sleep(0)
            closed = sum(client.closed == "timed out" for client in clients)
            closed_in_a_turn.append(closed - before)
            before = closed
        for client in clients:
            connections.discard(client)

    asyncio.run(run())
    assert max(closed_in_a_turn) <= 4


def test_an_ipv6_network_is_one_address(loop: asyncio.AbstractEventLoop) -> None:
    connections = limited()
    clients = [Client(f"2001:db8::{number:x}") for number in range(6)]
    assert all(connections.add(client, loop) for client in (*clients, Client("2001:db8:1::1")))
    assert [client.closed for client in clients] == ["aborted", "aborted", "", "", "", ""]


def test_a_trusted_proxy_has_no_share_of_its_own(loop: asyncio.AbstractEventLoop) -> None:
    connections = limited(proxies=("192.0.2.0/30",))
    proxied = [Client("192.0.2.1") for _ in range(8)]
    assert all(connections.add(client, loop) for client in proxied)
    assert not any(client.closed for client in proxied)
