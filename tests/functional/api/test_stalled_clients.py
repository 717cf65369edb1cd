"""Nobody without a credential keeps others out: a real process with few files, and clients that hold back, drip or flood.

127.0.0.1 attacks. 127.0.0.2 is somebody else, whose requests must all be answered.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection
from itertools import count
from pathlib import Path

import httpx
import pytest

from kaczmatch.app.composition import context_of, credentials_of
from kaczmatch.settings.model import Settings
from kaczmatch.storage import SqlStore
from kaczmatch.storage.migrating import migrate
from stalled_sockets import HEAD, stalled
from worlds.ports import free_port
from worlds.postgres import Server

from .test_workers import serving

ATTACKER, OTHER = "127.0.0.1", "127.0.0.2"
FILES, SOCKETS, PEOPLE = 1_000, 1_200, 12
LIMITS = {"head_seconds": "1", "body_seconds": "3", "idle_seconds": "4", "waiting_limit": "30", "body_limit": "10240"}
FEW_FILES = ("sh", "-c", f'ulimit -n {FILES}; exec "$@"', "sh")
SWIPE = b"PUT /v1/people/ada/swipes/one HTTP/1.1\r\nHost: localhost\r\n"


@dataclass
class Served:
    """The service in a process of its own, and a key."""

    port: int
    process: int
    key: str
    numbers: Iterator[int]

    def other(self, source: str = OTHER) -> httpx.Client:
        """A client from an address, with a credential."""
        return httpx.Client(
            base_url=f"http://127.0.0.1:{self.port}/v1",
            headers={"Authorization": f"Bearer {self.key}"},
            transport=httpx.HTTPTransport(local_address=source),
            timeout=20,
        )

    def socket(self, sent: bytes = b"", receive_buffer: int = 0) -> socket.socket:
        opened = socket.socket()
        if receive_buffer:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        opened.settimeout(20)
        opened.bind((ATTACKER, 0))
        opened.connect(("127.0.0.1", self.port))
        opened.sendall(sent)
        return opened

    def use(self, source: str = OTHER) -> None:
        """Everybody gets a deck and swipes. Each request is answered as if nobody else were there."""
        with self.other(source) as client:
            for person in range(PEOPLE):
                deck = client.post(f"/people/p{person}/deck")
                assert deck.status_code == 200, deck.text
                swipe = {"candidate": deck.json()["cards"][0]["id"], "decision": "skip", "deck": deck.json()["id"]}
                answer = client.put(f"/people/p{person}/swipes/s{next(self.numbers)}", json=swipe)
                assert answer.status_code == 200, answer.text

    def seconds_of_processor(self) -> float:
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def served(url: str, folder: Path) -> Iterator[Served]:
    settings, store = Settings.model_validate({"data": folder, "database": url}), SqlStore(url)
    _, key = credentials_of(settings, context_of(settings, store)).create("app", ["app"])
    store.close()
    port = free_port()
    with serving(port, before=FEW_FILES, data=str(folder), database=url, log_level="error", **LIMITS) as process:
        service = Served(port, process.pid, key, count())
        with service.other() as client:
            for person in range(PEOPLE):
                i_am, look_for = ("woman", "man") if person % 2 else ("man", "woman")
                about = {"name": f"P {person}", "born": "1990-05-17", "i_am": [i_am], "i_look_for": [look_for]}
                assert client.put(f"/people/p{person}", json=about).status_code == 201
        time.sleep(1.5)  # the process follows the store four times per second
        yield service


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("data")
    if request.param == "sqlite":
        url = f"sqlite:///{folder}/kaczmatch.sqlite3"
        migrate(url)
        with served(url, folder) as service:
            yield service
    else:
        server: Server = request.getfixturevalue("postgres")
        url = server.new()
        with served(url, folder) as service:
            yield service
        server.drop(url)


def ended(opened: socket.socket, drop: bytes = b"") -> bytes | None:
    """What a socket gets until the service closes it, while it sends a little at a time; None: it was never closed."""
    opened.settimeout(0.1)
    got, end = b"", time.monotonic() + 30
    with opened:
        while time.monotonic() < end:
            try:
                opened.sendall(drop)
                piece = opened.recv(65_536)
                if not piece:
                    return got
                got += piece
            except TimeoutError:
                continue
            except ConnectionError:
                return got
    return None


def unread(opened: socket.socket) -> bytes | None:
    """The same for a socket that reads nothing."""
    with opened:
        for _ in range(150):
            time.sleep(0.2)
            try:
                opened.sendall(b"\r\n")
            except ConnectionError:
                return b""
    return None


def test_more_sockets_than_files_that_hold_back_bodies_keep_nobody_out(service: Served) -> None:
    sockets = [stalled("127.0.0.1", service.port, ATTACKER) for _ in range(SOCKETS)]
    service.use(OTHER)
    service.use(ATTACKER)  # they have an address in common with somebody honest, such as a provider's
    assert httpx.get(f"http://127.0.0.1:{service.port}/v1/health/ready").status_code == 200
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(ended, sockets))
    assert None not in answers
    timed_out = [answer for answer in answers if answer and answer.startswith(b"HTTP/1.1 408 ")]
    assert 100 < len(timed_out) < FILES  # the others made room
    assert all(answer in (b"", timed_out[0]) for answer in answers)
    assert json.loads(timed_out[0].partition(b"\r\n\r\n")[2])["code"] == "timeout"


LIVE = b"GET /v1/health/live HTTP/1.1\r\nHost: localhost\r\n"
SLOW = {  # what is sent at first, what every moment from then on, and the status that is answered
    "the rest of a head": (LIVE, b"X: y\r\n", b"408"),
    "the rest of a body": (HEAD, b" ", b"408"),
    "the rest of a body in pieces": (SWIPE + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", b"408"),
    "a body that nobody needs": (LIVE + b"Content-Length: 1000\r\n\r\n", b" ", b"408"),
    "a body after the answer": (LIVE + b"Content-Length: 6000\r\n\r\n" + b" " * 5_000, b" ", b"200"),
    "empty lines, no request": (LIVE + b"\r\n", b"\r\n", b"200"),
    "no second request": (LIVE + b"\r\n", b"", b"200"),
    "no request at all": (b"", b"", b""),
}


@pytest.fixture(scope="module")
def slow(service: Served) -> dict[str, bytes | None]:
    """What slow clients got until they were let go, all of them at the same time."""
    reader = service.socket(receive_buffer=4_096)
    reader.sendall(b"GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200)
    with ThreadPoolExecutor(len(SLOW) + 1) as pool:
        waiting = {name: pool.submit(ended, service.socket(begins), drop) for name, (begins, drop, _) in SLOW.items()} | {
            "reading": pool.submit(unread, reader)
        }
        return {name: future.result() for name, future in waiting.items()}


@pytest.mark.parametrize("what", SLOW)
def test_what_comes_too_slowly_is_not_waited_for(slow: dict[str, bytes | None], what: str) -> None:
    got, status = slow[what], SLOW[what][2]
    assert got is not None, "it was never closed"
    assert got.count(b"HTTP/1.1 ") == bool(status)
    assert got[9:12] == status


def test_a_client_that_does_not_read_is_let_go(slow: dict[str, bytes | None]) -> None:
    assert slow["reading"] is not None


ENDLESS = {
    "header": SWIPE + b"X-Endless: ",
    "address": b"GET /v1/",
    "extension of a piece": SWIPE + b"Transfer-Encoding: chunked\r\n\r\n1;extension=",
    "trailer": SWIPE + b"Transfer-Encoding: chunked\r\n\r\n1\r\n \r\n0\r\nX-Trailer: ",
}


def test_nothing_endless_is_read(service: Served) -> None:
    """64 MiB in pieces of 1,000 bytes, each of which the parser would append to all before."""

    def send(begins: bytes) -> tuple[int, bytes | None]:
        opened, sent = service.socket(begins), 0
        with contextlib.suppress(ConnectionError, TimeoutError):
            for _ in range(2**26 // 1_000):
                opened.sendall(b"a" * 1_000)
                sent += 1_000
        return sent, ended(opened)

    before = service.seconds_of_processor()
    with ThreadPoolExecutor(len(ENDLESS)) as pool:
        results = dict(zip(ENDLESS, pool.map(send, ENDLESS.values()), strict=True))
    assert max(sent for sent, _ in results.values()) < 2**25, results
    for _, got in results.values():
        assert got is not None
        assert got[:13] in (b"HTTP/1.1 431 ", b""), results  # a reset may take it away from who still sends
    assert service.seconds_of_processor() - before < 2.0


def test_a_head_that_is_too_large_is_told_so(service: Served) -> None:
    for size, status in ((16_000, b"200"), (17_000, b"431")):
        request = b"GET /v1/health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: " + b"a" * size + b"\r\n\r\n"
        assert (ended(service.socket(request)) or b"")[9:12] == status


def test_the_beginnings_of_many_bodies_do_not_fill_the_memory(service: Served) -> None:
    """Strangers get no further than 4 KiB, so these have a key."""
    head = HEAD.replace(b"Content-Length: 100", b"Content-Length: 10240").replace(b"nobody", service.key.encode())
    sockets = [service.socket(head + b" " * 10_000) for _ in range(60)]
    with service.other() as client:  # whose body comes in two pieces, too
        about = json.dumps({"name": "Eve", "born": "1990-05-17", "i_am": ["woman"], "i_look_for": ["woman"]}).encode()
        pieces = (piece for piece in (about[:20], about[20:]) if not time.sleep(0.2))
        assert client.put("/people/eve", content=pieces, headers={"Content-Type": "application/json"}).status_code == 201
    with ThreadPoolExecutor(len(sockets)) as pool:
        answers = [(got or b"")[9:12] for got in pool.map(ended, sockets)]
    assert answers.count(b"429") == 28  # 64 of the largest bodies for all, half of them for one address
    assert answers.count(b"408") == 32


def test_a_flood_from_one_address_leaves_room_for_others(service: Served) -> None:
    """Sixty connections send swipes under keys that do not exist, as fast as they are answered."""
    told, over = Counter[str](), threading.Event()

    def flood(number: int) -> None:
        connection = HTTPConnection("127.0.0.1", service.port, timeout=20, source_address=(ATTACKER, 0))
        for attempt in count():
            connection.request("PUT", "/v1/people/ada/swipes/one", b"{}", {"Authorization": f"Bearer {attempt}-{number}"})
            told[json.loads(connection.getresponse().read())["code"]] += 1
            if over.is_set():
                connection.close()
                return

    with ThreadPoolExecutor(60) as pool:
        flooding = [pool.submit(flood, number) for number in range(60)]
        try:
            service.use()
        finally:
            over.set()
        for future in flooding:
            future.result()
    assert set(told) <= {"unauthenticated", "too-many-wrong", "address"}
    assert told["address"] > 0
