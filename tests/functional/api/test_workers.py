"""Several processes on one store; and a database that was not migrated."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from kaczmatch.app.composition import context_of, credentials_of
from kaczmatch.cli.app import app
from kaczmatch.service.domain.snapshot_files import SnapshotFiles
from kaczmatch.settings.model import PREFIX, Settings
from kaczmatch.storage import SqlStore
from worlds.ports import free_port
from worlds.postgres import Server

COMMAND = [sys.executable, "-c", "from kaczmatch.cli.main import main; main()"]
AT_ONCE = 16


def environment(**settings: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    return kept | {f"{PREFIX}{name.upper()}": value for name, value in settings.items()}


@contextmanager
def serving(port: int, *options: str, before: Sequence[str] = (), **settings: str) -> Iterator[subprocess.Popen[str]]:
    """`kaczmatch serve` in a process of its own, from ready until it has drained."""
    command = [*before, *COMMAND, "serve", "--port", str(port), *options]
    process = subprocess.Popen(command, env=environment(**settings), stderr=subprocess.PIPE, text=True)  # noqa: S603
    try:
        deadline = time.monotonic() + 240  # a machine at work may have kernels to compile
        while not answers(port):
            assert time.monotonic() < deadline, "it did not become ready"
            time.sleep(0.2)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    assert process.returncode in (0, -signal.SIGTERM), errors
    assert "Traceback" not in errors, errors


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """The processes that answer; the one that began them also has one that looks after shared resources."""
    with suppress(FileNotFoundError):
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("ascii").split()
        return [int(child) for child in children if b"spawn_main" in command_of(int(child))]
    return []


def command_of(process: int) -> bytes:
    """Empty once it has died."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except FileNotFoundError:
        return b""


def seen(address: str, headers: dict[str, str], processes: set[str], many: int) -> None:
    """Ask until so many processes have answered: by many connections at once, which any of them may take, and all of them can."""
    deadline = time.monotonic() + 240  # a machine at work may have kernels to compile
    anew = httpx.Limits(max_keepalive_connections=0)  # each request by a connection of its own
    with ThreadPoolExecutor(AT_ONCE) as pool, httpx.Client(headers=headers, limits=anew) as client:
        while len(processes) < many:
            assert time.monotonic() < deadline, processes
            for answer in pool.map(lambda _: client.get(address), range(AT_ONCE)):
                assert answer.status_code == 200, answer.text
                processes.add(answer.headers["X-Request-ID"].partition("-")[0])
            time.sleep(0.05)  # those that start need the processor


def ended(processes: Sequence[int]) -> None:
    deadline = time.monotonic() + 60
    while any(map(command_of, processes)):
        assert time.monotonic() < deadline, "still there"
        time.sleep(0.05)


@contextmanager
def begun(port: int, *options: str, **settings: str) -> Iterator[subprocess.Popen[str]]:
    """Two processes that start. Nothing of them is left."""
    command = [*COMMAND, "serve", "--port", str(port), "--workers", "2", *options]
    with subprocess.Popen(command, env=environment(**settings), stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        workers = list[int]()
        try:
            deadline = time.monotonic() + 240
            while len(workers := workers_of(process)) < 2:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield process
        finally:
            workers += workers_of(process)
            process.kill()
            for worker in workers:
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)


def drained(process: subprocess.Popen[str]) -> str:
    """What it has said, once it has ended as it was told to."""
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert process.returncode in (0, -signal.SIGTERM), errors
    assert "Traceback" not in errors, errors
    return str(errors)


def answers(port: int) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(f"http://127.0.0.1:{port}/v1/health/ready").status_code == 200
    return False


def test_processes_that_still_start_end_when_they_are_told_to(tmp_path: Path) -> None:
    """Here they wait for another one of the machine that loads everybody."""
    port, files = free_port(), SnapshotFiles(tmp_path / "snapshot")
    with files.building(), begun(port, data=str(tmp_path)) as process:
        deadline, workers = time.monotonic() + 240, workers_of(process)
        while not all(waits_for(worker, "snapshot.building") for worker in workers):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert not answers(port)
        assert "Ready" not in drained(process)


def waits_for(process: int, file: str) -> bool:
    with suppress(FileNotFoundError, ProcessLookupError):
        return any(file in str(link.readlink()) for link in Path(f"/proc/{process}/fd").iterdir())
    return False


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_several_processes_begin_a_store_and_serve_it(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """None dies because another one makes the file at the same moment. Nobody is sent to one that still starts: neither at first,
    nor when one has died and another takes its place."""
    url = f"sqlite:///{tmp_path}/new.db" if kind == "sqlite" else str(request.getfixturevalue("postgres_url"))
    settings = Settings.model_validate({"data": tmp_path, "database": url})
    port = free_port()
    address = f"http://127.0.0.1:{port}/v1"
    body = {"name": "Ada", "born": "1990-05-17", "i_am": ["woman"], "i_look_for": ["man"], "tags": ["jazz"]}
    with begun(port, "--log", "file", data=str(tmp_path), database=url) as process:
        workers, deadline = workers_of(process), time.monotonic() + 240
        while not answers(port):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        store = SqlStore(url)
        _, key = credentials_of(settings, context_of(settings, store)).create("app", ["app", "operator"])
        store.close()
        headers, processes = {"Authorization": f"Bearer {key}"}, set[str]()
        assert httpx.put(f"{address}/people/ada", json=body, headers=headers).status_code == 201
        seen(f"{address}/people/ada", headers, processes, 2)
        assert workers_of(process) == workers
        figures = httpx.get(f"{address}/metrics", headers=headers).text
        assert 'route="/v1/people/{user}"' in figures
        assert "kaczmatch_healthy 1.0" in figures, "what one process watches is not lost among several"
        os.kill(workers[0], signal.SIGKILL)
        while command_of(workers[0]):
            time.sleep(0.01)
        seen(f"{address}/people/ada", headers, processes, 3)
        if kind == "sqlite":
            drained(process)
        else:  # without the first one, others would serve on with nobody in charge, and the port would stay taken
            left = workers_of(process)
            process.kill()
            ended(left)
    assert f"Child process [{workers[0]}] died" in (tmp_path / "kaczmatch.log").read_text("utf-8")


def test_a_database_that_was_not_migrated_is_told(tmp_path: Path, postgres: Server) -> None:
    address = postgres.new("template0")
    told = CliRunner().invoke(app, ["serve"], env={f"{PREFIX}DATA": str(tmp_path), f"{PREFIX}DATABASE": address})
    postgres.drop(address)
    assert told.exit_code == 2
    assert "run `kaczmatch migrate`" in told.stderr
    assert "Traceback" not in told.stderr
