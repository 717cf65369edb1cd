"""The service on two machines, with a load balancer and PostgreSQL on others, as the page about several machines has it."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import cycle as cycled
from pathlib import Path
from threading import Event
from typing import Any

import httpx

from kaczmatch.app.composition import context_of, credentials_of
from kaczmatch.service.access.credentials import SCOPES
from kaczmatch.settings.model import PREFIX, Settings
from kaczmatch.storage import SqlStore
from worlds.fork_server import ForkServer
from worlds.network import Machine, Network, program, wait_until
from worlds.postgres import Server, programs, unprivileged

PAGE = Path(__file__).parents[2] / "docs" / "several-machines.md"
THREADS, PEOPLE = 4, 24  # clients; women, and men


def configuration(language: str) -> str:
    """The one of the page."""
    found = re.search(rf"^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


class Load:
    """What clients were told while something happened."""

    def __init__(self) -> None:
        self.told: list[str] = []  # acknowledged swipes, in the words of tests/faults/survival.py
        self.answered, self.slowest = 0, 0.0
        self.failed: list[str] = []

    def noted(self, what: str, client: httpx.Client, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer; empty where there was none, or not the right one."""
        began = time.perf_counter()
        try:
            answer = client.request(method, path, json=body)
        except httpx.TransportError as error:
            self.failed.append(f"{what}: {error!r}")
            return {}
        self.answered, self.slowest = self.answered + 1, max(self.slowest, time.perf_counter() - began)
        if answer.status_code != 200:
            self.failed.append(f"{what}: {answer.status_code} {answer.text[:200]}")
            return {}
        return dict(answer.json())


def profile(kind: str, latitude: float) -> dict[str, Any]:
    """A woman who looks for men near by, or a man who looks for women."""
    place = {"latitude": latitude, "longitude": 8.0}
    said = {"name": "Somebody", "born": "1990-05-17", "location": place, "within_km": 20, "tags": ["climbing"]}
    return said | {"i_am": [kind], "i_look_for": ["man" if kind == "woman" else "woman"]}


class Hosts:
    """PostgreSQL on 10.0.0.2, a load balancer on 10.0.0.4, an app on 10.0.0.5, the service on 10.0.0.11 and 10.0.0.12."""

    def __init__(self, network: Network, folder: Path, database: str = "kaczmatch", **settings: str) -> None:
        self.folder = folder
        self._fork_servers: dict[Path | None, ForkServer] = {}
        self._database = network.machine("db", "10.0.0.2")
        self.balancer, self.app = network.machine("lb", "10.0.0.4"), network.machine("app", "10.0.0.5")
        self.hosts = (network.machine("a", "10.0.0.11"), network.machine("b", "10.0.0.12"))
        with self._database.inside():
            self.server = Server(programs(), ["max_connections=120"], host="10.0.0.2")
            self.server.ask(f"CREATE DATABASE {database}")
        self.url = self.server.address(database)
        self._settings = {
            "database": self.url,
            "token_secret": "the same secret on every machine",
            "trusted_proxies": self.balancer.address,
            "log_level": "error",
            "log": "json",
            "swipes_a_day": "none",
            "decks_a_day": "none",
            "refit": "false",
            **settings,
        }

    def environment(self, host: Machine, code: Path | None = None, **settings: str) -> dict[str, str]:
        """With `code`, that of another release."""
        chosen = self._settings | {"data": str(self.folder / host.namespace), "host": host.address} | settings
        kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
        path = {} if code is None else {"PYTHONPATH": str(code)}
        return kept | path | {f"{PREFIX}{name.upper()}": value for name, value in chosen.items()}

    def key(self) -> str:
        chosen = Settings(database=self.url, token_secret=self._settings["token_secret"])
        with self.app.inside(), closing(SqlStore(self.url)) as store:
            return credentials_of(chosen, context_of(chosen, store)).create("app", tuple(SCOPES))[1]

    def serve(self, host: Machine, code: Path | None = None, **settings: str) -> None:
        """Without waiting until it is ready."""
        if code not in self._fork_servers:
            self._fork_servers[code] = ForkServer(code)
        log = self.folder / f"{host.namespace}.log"
        host.processes.append(self._fork_servers[code].start(host.namespace, self.environment(host, **settings), log))

    def wait_ready(self, *hosts: Machine) -> None:
        for host in hosts:
            try:
                wait_until(lambda host=host: self._ready(host), f"{host.address} did not become ready")
            except AssertionError as late:
                raise AssertionError(f"{late}: {self.log(host)}") from None

    def _ready(self, host: Machine) -> bool:
        assert all(process.poll() is None for process in host.processes), "it has ended"
        return self._is_up(f"http://{host.address}:8000/v1/health/ready")

    def _is_up(self, address: str) -> bool:
        try:
            with self.app.inside():
                return httpx.get(address, timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    def log(self, host: Machine) -> str:
        """What the machine has said. Its process makes the file when it begins."""
        file = self.folder / f"{host.namespace}.log"
        return file.read_text()[-4_000:] if file.exists() else ""

    def balance(self) -> str:
        """The address of HAProxy, started with the configuration of the page."""
        file = self.folder / "haproxy.cfg"
        file.write_text(configuration("haproxy"))
        if not self.balancer.processes:
            self.balancer.start([program("haproxy"), "-db", "-f", str(file)], stderr=subprocess.DEVNULL, **unprivileged())
        address = f"http://{self.balancer.address}:8080/v1"
        wait_until(lambda: self._is_up(f"{address}/health/live"), "HAProxy did not start")
        return address

    def pool(self) -> str:
        """Start PgBouncer with the configuration of the page, trusting its users; the address of the database through it."""
        for statement in configuration("sql").replace("ALTER ROLE kaczmatch", "ALTER ROLE tester").split(";")[:-1]:
            self.server.ask(statement)
        file, users = self.folder / "pgbouncer.ini", self.folder / "users.txt"
        users.write_text('"tester" ""\n')
        text = configuration("ini").replace("scram-sha-256", "trust").replace("/etc/pgbouncer/userlist.txt", str(users))
        text = text.replace("host=127.0.0.1 port=5432", f"host=10.0.0.2 port={self.server.port}")
        file.write_text(f"{text}admin_users = tester\nunix_socket_dir =\n")
        self._database.start([program("pgbouncer"), "-q", str(file)], **unprivileged())
        return self.url.replace(f":{self.server.port}/", ":6432/")

    @contextmanager
    def client(self, address: str, key: str, **options: Any) -> Iterator[httpx.Client]:
        """In the app's machine, as long as the thread is here."""
        headers = {"Authorization": f"Bearer {key}"}
        with self.app.inside(), httpx.Client(base_url=address, headers=headers, timeout=30, **options) as client:
            yield client

    def settle(self, address: str, key: str, cycle: int) -> list[str]:
        """People of this cycle, who meet nobody else."""
        people = [f"{kind}{cycle}-{place}" for place in range(PEOPLE) for kind in ("woman", "man")]
        with self.client(address, key) as client:
            for name in people:
                answer = client.put(f"/people/{name}", json=profile(name.partition(str(cycle))[0], -80.0 + 0.5 * cycle))
                assert answer.status_code == 201, answer.text
        return people

    @contextmanager
    def loaded(self, address: str, key: str, cycle: int) -> Iterator[Load]:
        """While people ask for decks and answer every card. Once all are answered, answers come again: an id has one effect."""
        load, over, people = Load(), Event(), self.settle(address, key, cycle)

        def use(thread: int) -> None:
            answers: dict[str, dict[str, str]] = {}
            with self.client(address, key) as client:
                for me in cycled(people[thread::THREADS]):
                    deck = load.noted("deck", client, "POST", f"/people/{me}/deck", {})
                    for card in deck.get("cards", ()):
                        other = card["id"]
                        decision = "like" if (len(answers) + thread) % 3 else "pass"
                        answers[f"c{cycle}-{me}-{other}"] = {"candidate": other, "decision": decision, "deck": deck["id"]}
                    for swipe, body in answers.items():
                        if over.is_set():
                            return
                        if swipe.startswith(f"c{cycle}-{me}-") and load.noted(
                            "swipe", client, "PUT", f"/people/{me}/swipes/{swipe}", body
                        ):
                            load.told.append(f"swiped {me} {swipe} {body['candidate']} {body['decision']}\n")

        with ThreadPoolExecutor(THREADS) as threads:
            using = [threads.submit(use, thread) for thread in range(THREADS)]
            try:
                wait_until(lambda: bool(load.told) or any(one.done() for one in using), "nothing was acknowledged")
                yield load
            finally:
                over.set()
        for one in using:
            one.result()

    def remove(self) -> None:
        for host in (*self.hosts, self.balancer):
            host.end()
        for made in self._fork_servers.values():
            made.close()
        self.server.remove()
