"""The service on two machines beside one, in network namespaces (docs/several-machines.md): what is lost, what it costs, how fast
a change arrives. Needs root, HAProxy and PostgreSQL.

    python benchmarks/hosts.py kills [--kills 100]       a machine vanishes under load, again and again
    python benchmarks/hosts.py cost [--people 50000]     processor time per swipe and deck, beside one machine
    python benchmarks/hosts.py changes [--changes 300]   until a change on one machine is in the decks of the other
    python benchmarks/hosts.py kills changes --out FOLDER

Floors: nothing that was acknowledged is lost, and every request is answered; two machines cost at most a tenth more than one; 99
of 100 changes arrive within a second.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import service
from kaczmatch.report.results import Table
from kaczmatch.storage.migrating import migrate
from tables import add_out, tell

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "faults")]

from survival import survived  # noqa: E402
from worlds.hosts import Hosts, profile  # noqa: E402
from worlds.network import network, wait_until  # noqa: E402

ROUNDS, TENTH, SECOND = 4, 1.1, 1.0


@contextmanager
def running(**settings: str) -> Iterator[Hosts]:
    with tempfile.TemporaryDirectory(prefix="kaczmatch-hosts-") as name, network() as net:
        Path(name).chmod(0o755)
        hosts = Hosts(net, Path(name), **settings)
        try:
            yield hosts
        finally:
            hosts.remove()


def started(hosts: Hosts) -> tuple[str, str]:
    """Both machines and the load balancer: its address, and a key."""
    with hosts.app.inside():
        migrate(hosts.url)
    key = hosts.key()
    for host in hosts.hosts:
        hosts.serve(host)
    hosts.wait_ready(*hosts.hosts)
    return hosts.balance(), key


def kills(times: int) -> list[dict[str, Any]]:
    """Each time one machine of two vanishes while people swipe, and comes back."""
    rng, acknowledged, answered, failed, slowest = Random(0), 0, 0, list[str](), 0.0  # noqa: S311
    with running() as hosts:
        address, key = started(hosts)
        for cycle in range(times):
            host = hosts.hosts[cycle % 2]
            with hosts.loaded(address, key, cycle % 300) as load:
                time.sleep(rng.uniform(0.0, 1.0))
                host.vanish()
                so_far = len(load.told)
                wait_until(lambda load=load, so_far=so_far: len(load.told) > so_far + 20, "the other machine does not go on")
            with hosts.app.inside():
                acknowledged += survived(hosts.url, load.told, cycle % 300).acknowledged
            answered, failed, slowest = answered + load.answered, failed + load.failed, max(slowest, load.slowest)
            host.plug_in()
            hosts.serve(host)
            hosts.wait_ready(host)
            print(
                f"  {cycle + 1} of {times}: {acknowledged:,} acknowledged, 0 lost, {len(failed)} of {answered:,} failed",
                flush=True,
            )
    if failed:
        raise SystemExit(f"{len(failed)} requests failed, such as {failed[0]}")
    return [
        {
            "kills of a machine": times,
            "acknowledged swipes": acknowledged,
            "lost": 0,
            "requests": answered,
            "not answered": len(failed),
            "slowest, s": slowest,
        }
    ]


def changes(times: int) -> list[dict[str, Any]]:
    """Seconds from the answer to a new profile on one machine until the person is in a deck that the other one deals."""
    taken = []
    with running() as hosts:
        _, key = started(hosts)
        one, two = (f"http://{host.address}:8000/v1" for host in hosts.hosts)
        with hosts.client(one, key) as here, hosts.client(two, key) as there:
            for place in range(times):
                where = -80.0 + 0.5 * (place % 300)
                there.put(f"/people/viewer{place}", json=profile("woman", where) | {"tags": []})
                time.sleep(0.3 + 0.25 * (place % 10) / 10)  # not in step with the reading of changes
                assert here.put(f"/people/new{place}", json=profile("man", where)).status_code == 201
                began = time.perf_counter()
                while not there.post(f"/people/viewer{place}/deck", json={}).json()["cards"]:
                    time.sleep(0.005)
                taken.append(time.perf_counter() - began)
    p50, p99 = np.quantile(taken, [0.5, 0.99]).tolist()
    if p99 > SECOND:
        raise SystemExit(f"below the floor: the 99th percentile is {p99:.2f} s")
    return [{"changes": times, "p50, s": p50, "p99, s": p99, "slowest, s": max(taken)}]


def processes_of(process: int) -> list[int]:
    """A process and all that it has started."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *(one for child in children for one in processes_of(int(child)))]


def processor_seconds(hosts: Hosts) -> tuple[float, float]:
    """Of the service on all machines, and of PostgreSQL."""
    ours = [one for host in hosts.hosts for process in host.processes for one in processes_of(process.pid)]
    return sum(map(service.cpu_seconds, ours)), sum(map(service.cpu_seconds, processes_of(hosts.server.process.pid)))


def cost(people: int, swipes: int) -> list[dict[str, Any]]:
    """One machine with two processes and two machines with one each take turns. The same requests, through the load balancer."""
    found: dict[str, list[dict[str, float]]] = {"one": [], "two": []}
    with running() as hosts:
        words = hosts.folder / "words.txt"
        words.write_text("\n".join(f"tag {place}" for place in range(service.TAGS)))
        with hosts.app.inside():
            settings = hosts.environment(hosts.app, vocabulary=str(words))
            key = service.prepare(settings, people, (2 * ROUNDS * 2) * swipes)
        cards = 0
        for turn in range(2 * ROUNDS):
            name = "one" if turn % 2 == 0 else "two"
            serving = hosts.hosts[: 1 if name == "one" else 2]
            for host in serving:
                hosts.serve(host, workers=str(2 // len(serving)), vocabulary=str(words))
            hosts.wait_ready(*serving)
            hosts.balance()
            for warm in (True, False):
                requests = service.swipe_requests(cards, swipes, people, key)
                cards += swipes
                row = measured(hosts, requests, "swipe") | measured(
                    hosts, service.deck_requests(300, people, key)[turn * 10 :], "deck", 8
                )
                print(f"  {name}{' (warm-up)' if warm else ''}: {row}", flush=True)
                found[name] += [] if warm else [row]
            for host in serving:
                host.end()
    rows = [
        {"machines": name, **{what: float(np.median([row[what] for row in rows])) for what in rows[0]}}
        for name, rows in found.items()
    ]
    ratios = {what: rows[1][what] / rows[0][what] for what in rows[0] if what != "machines"}
    rows.append({"machines": "two beside one", **ratios})
    return rows


def measured(hosts: Hosts, requests: Sequence[bytes], what: str, connections: int = service.CONNECTIONS) -> dict[str, float]:
    before = processor_seconds(hosts)
    with hosts.app.inside():
        load = asyncio.run(service.drive(8080, requests, connections, host=hosts.balancer.address))
    after = processor_seconds(hosts)
    if load.failed:
        raise SystemExit(f"{load.failed} requests were refused: this measures nothing")
    ours, database = (1e6 * (now - then) / len(requests) for then, now in zip(before, after, strict=True))
    return {f"service, µs per {what}": ours, f"PostgreSQL, µs per {what}": database}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=("kills", "cost", "changes"), default=("kills", "cost", "changes"))
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--changes", type=int, default=300)
    parser.add_argument("--people", type=int, default=50_000)
    parser.add_argument("--swipes", type=int, default=3_000)
    add_out(parser)
    asked = parser.parse_args()
    if 4 * ROUNDS * asked.swipes > asked.people:
        parser.error(f"{asked.people:,} people are too few: each swipes once")
    titles: dict[str, tuple[str, Callable[[], list[dict[str, Any]]], bool]] = {
        "kills": ("A machine of two vanishes under load", lambda: kills(asked.kills), True),
        "cost": (
            f"Processor time: two machines with one process each beside one machine with two, {asked.people:,} people",
            lambda: cost(asked.people, asked.swipes),
            True,
        ),
        "changes": ("Until a change is in the decks of the other machine", lambda: changes(asked.changes), True),
    }
    tables = [Table(name, title, run(), timed=timed) for name, (title, run, timed) in titles.items() if name in asked.parts]
    tell(asked.out, *tables)
    dear = [
        f"{row[what]:.2f} times the {what}"
        for table in tables
        for row in table.rows
        if row.get("machines") == "two beside one"
        for what in row
        if what.startswith("service") and row[what] > TENTH
    ]
    if dear:
        raise SystemExit("below the floor: " + "; ".join(dear))


if __name__ == "__main__":
    main()
