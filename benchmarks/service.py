"""Swipes and decks over HTTP beside a bare FastAPI route that does one durable insert through the same group commit, in one run.

Everything is on in the service: credentials, quotas, learning with `probit-diag`, matches, outbox, logs, metrics, the index that
follows. Server and client share the machine. Prints ratios; `make bench` runs it.

    python benchmarks/service.py [--people 100000] [--swipes 6000] [--out FOLDER] [sqlite] [postgres]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import uvicorn
from fastapi import FastAPI, Response
from pydantic import BaseModel

from kaczmatch.app.composition import context_of, credentials_of
from kaczmatch.report.results import Table
from kaczmatch.schemas.profiles import Coordinates, ProfileInput
from kaczmatch.service.domain.impressions import Impression, with_cards
from kaczmatch.service.domain.records import Event, PersonCounters, Record, StoredDeck
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.meeting.people_search import suffixes_of
from kaczmatch.service.meeting.profiles import new_person, snapshot_of
from kaczmatch.settings.reading import read
from kaczmatch.storage import SqlStore
from kaczmatch.storage.migrating import migrate
from tables import add_out, tell

sys.path.append(str(Path(__file__).parents[1] / "tests"))

TAGS, CONNECTIONS, ROUNDS, FLOOR = 60, 64, 5, 0.5
POSTGRESQL = ("shared_buffers=1GB", "max_wal_size=4GB", "wal_compression=on")  # as a server of its own would have it
ENTERED = 500  # people per commit; PostgreSQL ends a transaction that is silent for long
HERE = Path(__file__)
RATIO = "of the rate of a bare insert"


class Load(NamedTuple):
    """What a client saw."""

    a_second: float
    p50_ms: float
    p99_ms: float
    failed: int
    cpu_us: float = 0.0  # of the server, a request

    def __str__(self) -> str:
        refused = f"  {self.failed} refused" if self.failed else ""
        times = f"p50 {self.p50_ms:5.1f} ms  p99 {self.p99_ms:6.1f} ms  server {self.cpu_us:4.0f} µs of CPU each"
        return f"{self.a_second:6.0f}/s  {times}{refused}"


class Body(BaseModel):
    """What a swipe says."""

    candidate: str
    decision: str
    deck: str


def bare(url: str, port: int) -> None:
    """The peer: a route that validates a body of the same shape and appends one row."""
    app, store = FastAPI(), SqlStore(url)

    @app.put("/v1/people/{user}/swipes/{swipe}")
    async def insert(user: str, swipe: str, body: Body) -> Response:
        event = Event(user=user, id=swipe, kind="swiped", at=datetime.now(UTC), candidate=body.candidate, decision=body.decision)
        await asyncio.wrap_future(store.write(lambda tx: tx.append(event)))
        return Response(b"{}", media_type="application/json")

    @app.get("/v1/health/ready")
    async def ready() -> Response:
        return Response(b"{}", media_type="application/json")

    uvicorn.run(app, port=port, access_log=False, http="httptools", log_level="warning")


def prepare(environment: dict[str, str], people: int, cards: int) -> str:
    """Fill an empty store with people and with cards to answer; answers with a key."""
    os.environ.update(environment)
    settings = read()
    migrate(settings.url)
    rng = np.random.default_rng(0)
    with closing(SqlStore(settings.url)) as store:
        context = context_of(settings, store)
        with store.read() as reader:
            words = context.catalogue.vocabulary(reader, context.catalogue.current(reader).vocabulary)
        tags, now = [name.name for name in words.terms], datetime.now(UTC) - timedelta(seconds=1)

        def somebody(place: int) -> tuple[Record, ...]:
            kind, other = ("man", "woman") if place % 2 else ("woman", "man")
            about = ProfileInput(
                name=f"Person {place}",
                born=date(1970 + place % 35, 1 + place % 12, 1 + place % 28),
                i_am=frozenset({kind}),
                i_look_for=frozenset({other}),
                youngest=18,
                oldest=99,
                location=Coordinates(latitude=50.0 + rng.random() * 2.0, longitude=8.0 + rng.random() * 2.0),
                within_km=150.0,
                tags=frozenset(rng.choice(tags, rng.integers(4, 14), replace=False).tolist()),
            )
            person = new_person(f"p{place}", about, words, context.config.schema, now, None)
            return person, *suffixes_of(person), snapshot_of(person), PersonCounters(user=f"p{place}")

        for first in range(0, people, ENTERED):

            def enter(transaction: Transaction, first: int = first) -> None:
                for place in range(first, min(first + ENTERED, people)):
                    for record in somebody(place):
                        transaction.put(record)

            store.write(enter).result()

        def deal(transaction: Transaction) -> None:
            put_cards(transaction, "bench", [card_of(card, people) for card in range(cards)], now)

        store.write(deal).result()
        return credentials_of(settings, context).create("bench", ["app"])[1]


def put_cards(transaction: Transaction, deck: str, cards: Sequence[tuple[str, str]], at: datetime) -> None:
    """A deck for each user who is to see somebody."""
    numbers, hands = transaction.numbers_of({other for _, other in cards}), defaultdict[str, list[Impression]](list)
    for user, other in cards:
        hands[user].append(
            Impression(
                user=user,
                deck=deck,
                candidate=other,
                at=at,
                position=len(hands[user]),
                propensity=0.5,
                score=0.5,
                reason="sampled",
            )
        )
    for user, hand in hands.items():
        dealt = StoredDeck(
            user=user,
            id=deck,
            at=at,
            expires=at,
            policy="mutual",
            sampler="mutual",
            reason="",
            model=1,
            eligible=len(hand),
            min_propensity=0.5,
        )
        transaction.put(with_cards(dealt, hand, numbers))


def card_of(card: int, people: int) -> tuple[str, str]:
    """Women swipe on men and men on women, some of them each on the other; no two cards are the same."""
    user = card * 7919 % people
    return f"p{user}", f"p{(user ^ 1) if card % 10 == 0 else (user + 1 + 2 * (card * 31 % (people // 2))) % people}"


@contextmanager
def serving(command: Sequence[str], port: int, environment: dict[str, str]) -> Iterator[int]:
    with Path(os.devnull).open("wb") as nowhere:
        process = subprocess.Popen(command, env=os.environ | environment, stdout=nowhere, stderr=nowhere)  # noqa: S603
        try:
            wait_ready(process, port, command)
            yield process.pid
        finally:
            process.terminate()
            process.wait(60)


def wait_ready(process: subprocess.Popen[Any], port: int, command: Sequence[str]) -> None:
    while True:
        try:
            request("GET", port, "/v1/health/ready")
            return
        except OSError:
            if process.poll() is not None:
                raise SystemExit(f"the server ended: {' '.join(map(str, command))}") from None
            time.sleep(0.1)


def request(method: str, port: int, path: str, key: str = "") -> None:
    """One request that has to succeed."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    address = f"http://127.0.0.1:{port}{path}"
    urllib.request.urlopen(urllib.request.Request(address, method=method, headers=headers), timeout=60).close()


def cpu_seconds(process: int) -> float:
    """What a process has used so far, as the kernel counts it."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def loaded(port: int, process: int, requests: Sequence[bytes], connections: int = CONNECTIONS) -> Load:
    before = cpu_seconds(process)
    load = asyncio.run(drive(port, requests, connections))
    return load._replace(cpu_us=1e6 * (cpu_seconds(process) - before) / len(requests))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def drive(
    port: int, requests: Sequence[bytes], connections: int = CONNECTIONS, rate: float | None = None, host: str = "127.0.0.1"
) -> Load:
    """Send prepared requests over a few connections, one after the other on each; at a `rate` a second if one is given."""
    waiting, times, failed = iter(enumerate(requests)), [], 0
    began = time.perf_counter()

    async def client() -> None:
        nonlocal failed
        reader, writer = await asyncio.open_connection(host, port)
        for place, request in waiting:
            due = began + place / rate if rate else 0.0
            if rate and due > time.perf_counter():
                await asyncio.sleep(due - time.perf_counter())
            start = time.perf_counter()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            await reader.readexactly(length)
            times.append(time.perf_counter() - start)
            failed += head[9:10] != b"2"
        writer.close()

    await asyncio.gather(*(client() for _ in range(connections)))
    taken = time.perf_counter() - began
    p50, p99 = np.quantile(times, [0.5, 0.99]) * 1e3
    return Load(len(times) / taken, float(p50), float(p99), failed)


def swipe_requests(first: int, number: int, people: int, key: str) -> list[bytes]:
    requests = []
    for card in range(first, first + number):
        user, other = card_of(card, people)
        body = json.dumps({"candidate": other, "decision": "like" if card % 5 < 2 else "pass", "deck": "bench"})
        requests.append(
            f"PUT /v1/people/{user}/swipes/s{card} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        )
    return requests


def deck_requests(number: int, people: int, key: str) -> list[bytes]:
    return [
        f"POST /v1/people/p{place * 101 % people}/deck HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}".encode()
        for place in range(number)
    ]


def measure(name: str, folder: Path, urls: tuple[str, str], people: int, swipes: int) -> dict[str, Any]:
    """One database: rounds of the peer and of the service in turn, then decks. The middle of the rounds as a row."""
    port = free_port()
    environment = {
        "KACZMATCH_DATABASE": urls[0],
        "KACZMATCH_DATA": str(folder),
        "KACZMATCH_PORT": str(port),
        "KACZMATCH_REFIT": "false",
        "OPENBLAS_NUM_THREADS": "1",
        "KACZMATCH_VOCABULARY": str(folder / "words.txt"),
    }
    (folder / "words.txt").write_text("\n".join(f"tag {place}" for place in range(TAGS)))
    key = prepare(environment, people, (ROUNDS + 1) * swipes)
    migrate(urls[1])
    other = free_port()
    rates: dict[str, list[float]] = {"bare insert": [], "swipe": []}
    slowest = []
    service = [str(Path(sys.executable).with_name("kaczmatch")), "serve"]
    with (
        serving([sys.executable, str(HERE), "--bare", urls[1], str(other)], other, {}) as peer,
        serving(service, port, environment) as ours,
    ):
        for turn in range(ROUNDS + 1):  # the first one warms up
            requests = swipe_requests(turn * swipes, swipes, people, key)
            for party, where, process in (("bare insert", other, peer), ("swipe", port, ours)):
                load = loaded(where, process, requests)
                print(f"  {name:9s} {party:12s} {load}{'' if turn else '  (warm-up)'}", flush=True)
                if load.failed:
                    raise SystemExit(f"{load.failed} requests were refused: this measures nothing")
                if turn:
                    rates[party].append(load.a_second)
                    slowest += [load.p99_ms] if party == "swipe" else []
        decks = loaded(port, ours, deck_requests(600, people, key), connections=8)
    ratios = np.array(rates["swipe"]) / np.array(rates["bare insert"])
    return {
        "store": name,
        "swipes per second": float(np.median(rates["swipe"])),
        "p99 of a swipe, ms": float(np.median(slowest)),
        RATIO: float(np.median(ratios)),
        "lowest and highest round": f"{ratios.min():.2f} to {ratios.max():.2f}",
        "decks per second": decks.a_second,
        "p99 of a deck, ms": decks.p99_ms,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="*", default=["sqlite", "postgres"])
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--swipes", type=int, default=6_000)
    parser.add_argument("--bare", nargs=2)
    add_out(parser)
    options = parser.parse_args()
    if options.bare:
        bare(options.bare[0], int(options.bare[1]))
        return
    if (ROUNDS + 1) * options.swipes > options.people:
        parser.error(f"{options.people:,} people are too few: each swipes once")
    folder = Path(tempfile.mkdtemp(prefix="kaczmatch-bench-"))
    rows = []
    try:
        for name in options.stores:
            place: Any = folder / name
            place.mkdir()
            if name == "sqlite":
                urls = f"sqlite:///{place}/service.db", f"sqlite:///{place}/bare.db"
                rows.append(measure("SQLite", place, urls, options.people, options.swipes))
            else:
                from worlds.postgres import Server, programs

                print(f"  PostgreSQL with {', '.join(POSTGRESQL)}, for both")
                server = Server(programs(), POSTGRESQL)
                try:
                    urls = server.new("template1"), server.new("template1")
                    rows.append(measure("PostgreSQL", place, urls, options.people, options.swipes))
                finally:
                    server.remove()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    title = (
        f"{options.people:,} people, {TAGS} tags, {CONNECTIONS} connections, the middle of {ROUNDS} rounds of {options.swipes:,}"
    )
    tell(options.out, Table("service", title, rows, timed=True))
    if any(row[RATIO] < FLOOR for row in rows):
        raise SystemExit(f"below the floor of {FLOOR}")


if __name__ == "__main__":
    main()
