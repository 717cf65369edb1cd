"""Ways to end a process or a server without a word, while it works, and to see what was kept."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

import httpx

from kaczmatch.app.composition import context_of, credentials_of
from kaczmatch.settings.model import PREFIX, Settings
from kaczmatch.storage import SqlStore
from survival import Survived, survived
from victim import JOBS, PEOPLE, THREADS
from worlds.ports import free_port
from worlds.postgres import Server

VICTIM = Path(__file__).with_name("victim.py")
SERVE = [sys.executable, "-W", "ignore", "-c", "from kaczmatch.cli.main import main; main()", "serve"]
PATIENCE = 300  # seconds until something that has to happen has not happened


class Nursery:
    """Makes processes that work on a database, and kills them."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process, self._ledger = process, folder / "ledger"

    def start(self, job: str, url: str, cycle: int) -> int:
        """The number of a process that has begun its job, and whose first swipes are acknowledged."""
        self._ledger.unlink(missing_ok=True)
        self._process.stdin.write(f"{job} {url} {self._ledger} {cycle}\n")  # type: ignore[union-attr]
        self._process.stdin.flush()  # type: ignore[union-attr]
        child = int(self._process.stdout.readline())  # type: ignore[union-attr]
        awaited = {*(["begun"] if job in JOBS else []), *(["swiped"] if job != "migrate" else [])}
        wait_until(lambda: awaited <= {line.split()[0] for line in self.lines()}, "it did nothing")
        return child

    def lines(self) -> list[str]:
        return self._ledger.read_text().splitlines(keepends=True) if self._ledger.exists() else []

    def kill(self, child: int) -> list[str]:
        """Everything that was acknowledged until then."""
        os.kill(child, signal.SIGKILL)
        assert self._process.stdout.readline() == "gone\n"  # type: ignore[union-attr]
        return self.lines()


@contextmanager
def nursery(folder: Path) -> Iterator[Nursery]:
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-W", "ignore", VICTIM], **pipes) as process:  # noqa: S603
        yield Nursery(process, folder)
        process.stdin.close()  # type: ignore[union-attr]


def kill_process(children: Nursery, job: str, url: str, cycle: int, rng: Random) -> Survived:
    """A process is killed while it swipes, and does its job meanwhile."""
    child = children.start(job, url, cycle)
    time.sleep(rng.uniform(0.0, 0.5))
    return survived(url, children.kill(child), cycle)


def crash_server(children: Nursery, server: Server, url: str, cycle: int, rng: Random) -> Survived:
    """Every process of PostgreSQL is killed at once, or told to stop immediately, while somebody swipes."""
    child = children.start("swipe", url, cycle)
    time.sleep(rng.uniform(0.0, 0.3))
    try:
        if cycle % 2:
            server.stop(signal.SIGQUIT)
        else:
            server.crash()
    finally:
        server.start()
    return survived(url, children.kill(child), cycle)


class Served:
    """`kaczmatch serve` in processes of its own, and clients that swipe through it."""

    def __init__(self, url: str, folder: Path, workers: int = 1, scopes: tuple[str, ...] = ("app",)) -> None:
        self.url, self._settings = url, {"data": str(folder), "database": url, "workers": str(workers), "log_level": "error"}
        chosen = Settings.model_validate(self._settings)
        with closing(SqlStore(url)) as store:
            _, key = credentials_of(chosen, context_of(chosen, store)).create("test", scopes)
        self._headers = {"Authorization": f"Bearer {key}"}
        self._process: subprocess.Popen[bytes] | None = None
        self._address = ""

    def start(self) -> None:
        port = free_port()
        self._address = f"http://127.0.0.1:{port}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
        environment = kept | {f"{PREFIX}{name.upper()}": value for name, value in self._settings.items()}
        command = [*SERVE, "--port", str(port)]
        self._process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)  # noqa: S603
        wait_until(self.is_ready, "the service did not become ready", pause=0.1)

    def stop(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:  # a worker that took the place of a killed one is still starting
            for child in children_of(self._process.pid):
                os.kill(child, signal.SIGKILL)
            self._process.kill()
            self._process.wait()
        self._process = None

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait(PATIENCE)
        self._process = None

    def kill_one_worker(self, rng: Random) -> None:
        assert self._process is not None
        workers = [pid for pid in children_of(self._process.pid) if b"spawn_main" in command_of(pid)]
        victim = rng.choice(workers)
        os.kill(victim, signal.SIGKILL)
        wait_until(lambda: not command_of(victim), "it did not die")

    @contextmanager
    def loaded(self, cycle: int) -> Iterator[list[str]]:
        """While clients swipe; what was acknowledged to them."""
        told, over = list[str](), Event()

        def swipe(thread: int) -> None:
            with httpx.Client(base_url=self._address, headers=self._headers, timeout=PATIENCE) as client:
                for place in count(thread, THREADS):
                    me, other = f"w{place % PEOPLE}", f"m{place // PEOPLE % PEOPLE}"
                    decision = "like" if place % 3 else "pass"
                    body = {"candidate": other, "decision": decision, "deck": f"d{cycle}"}
                    if over.is_set() or place >= PEOPLE * PEOPLE:
                        return
                    try:
                        answer = client.put(f"/v1/people/{me}/swipes/c{cycle}-{place}", json=body)
                    except httpx.TransportError:
                        continue
                    if answer.status_code == 200:
                        told.append(f"swiped {me} c{cycle}-{place} {other} {decision}\n")

        with ThreadPoolExecutor(THREADS) as threads:
            for thread in range(THREADS):
                threads.submit(swipe, thread)
            try:
                wait_until(lambda: bool(told), "nothing was acknowledged")
                yield told
            finally:
                over.set()

    def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        return httpx.request(method, f"{self._address}/v1{path}", headers=self._headers, timeout=PATIENCE, **options)

    def limit(self, what: int, most: int) -> None:
        """How much of something its processes may use."""
        assert self._process is not None
        for process in (self._process.pid, *children_of(self._process.pid)):
            resource.prlimit(process, what, (most, resource.prlimit(process, what)[1]))

    def is_ready(self) -> bool:
        try:
            return httpx.get(f"{self._address}/v1/health/ready").status_code == 200
        except httpx.TransportError:
            return False


def kill_service(service: Served, cycle: int, rng: Random) -> Survived:
    """The whole service is killed while clients swipe, and started again."""
    service.start()
    with service.loaded(cycle) as told:
        time.sleep(rng.uniform(0.0, 0.5))
        service.kill()
    return survived(service.url, told, cycle)


def kill_worker(service: Served, cycle: int, rng: Random) -> Survived:
    """One of several processes is killed while clients swipe. The others go on."""
    with service.loaded(cycle) as told:
        time.sleep(rng.uniform(0.0, 0.5))
        service.kill_one_worker(rng)
        before = len(told)
        time.sleep(0.2)
        wait_until(lambda: len(told) > before or len(told) >= PEOPLE * PEOPLE // 2, "the other processes did not go on")
    return survived(service.url, told, cycle)


def wait_until(happened: Any, otherwise: str, pause: float = 0.005) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, otherwise
        time.sleep(pause)


def children_of(process: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def command_of(process: int) -> bytes:
    """What a process runs; nothing where it is dead."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""
