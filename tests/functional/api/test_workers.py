"""Several processes on PostgreSQL; and a database that was not migrated."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from tests.postgres import Server

from kaczmatch.app.composing import access_of, context_of
from kaczmatch.settings.model import PREFIX, Settings
from kaczmatch.storage import SqlStore

COMMAND = [sys.executable, "-c", "from kaczmatch.cli.start import main; main()"]


def environment(**settings: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    return kept | {f"{PREFIX}{name.upper()}": value for name, value in settings.items()}


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def serving(port: int, *options: str, **settings: str) -> Iterator[None]:
    """`kaczmatch serve` in a process of its own, from ready until it has drained."""
    command = [*COMMAND, "serve", "--port", str(port), *options]
    process = subprocess.Popen(command, env=environment(**settings), stderr=subprocess.PIPE, text=True)  # noqa: S603
    try:
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"http://127.0.0.1:{port}/v1/health/ready").status_code == 200:
                    break
            except httpx.TransportError:
                pass
            time.sleep(0.2)
        else:
            pytest.fail("it did not become ready")
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    assert process.returncode in (0, -signal.SIGTERM), errors
    assert "Traceback" not in errors, errors


def test_a_served_process_answers_and_drains_when_told_to_stop(tmp_path: Path) -> None:
    port = free_port()
    with serving(port, data=str(tmp_path)):
        assert httpx.get(f"http://127.0.0.1:{port}/v1/vocabulary").status_code == 401


def test_several_processes_serve_one_store(tmp_path: Path, postgres_url: str) -> None:
    settings = Settings.model_validate({"data": tmp_path, "database": postgres_url})
    store = SqlStore(postgres_url)
    _, key = access_of(settings, context_of(settings, store)).create("app", ["app", "operator"])
    store.close()
    port, headers = free_port(), {"Authorization": f"Bearer {key}"}
    address = f"http://127.0.0.1:{port}/v1"
    body = {"name": "Ada", "born": "1990-05-17", "i_am": ["woman"], "i_look_for": ["man"], "tags": ["jazz"]}
    with serving(port, "--workers", "2", data=str(tmp_path), database=postgres_url):
        assert httpx.put(f"{address}/people/ada", json=body, headers=headers).status_code == 201
        processes: set[str] = set()
        deadline = time.monotonic() + 30
        while len(processes) < 2 and time.monotonic() < deadline:
            answer = httpx.get(f"{address}/people/ada", headers=headers)  # a new connection each time: any process may take it
            if answer.status_code == 503:
                continue
            assert answer.status_code == 200
            processes.add(answer.headers["X-Request-ID"].partition("-")[0])
        assert len(processes) == 2
        figures = httpx.get(f"{address}/metrics", headers=headers).text
        assert 'route="/v1/people/{user}"' in figures


def test_a_database_that_was_not_migrated_is_told(tmp_path: Path, postgres: Server) -> None:
    address = postgres.new("template0")
    try:
        told = subprocess.run(  # noqa: S603
            [*COMMAND, "serve"],
            env=environment(data=str(tmp_path), database=address),
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        postgres.drop(address)
    assert told.returncode == 2
    assert "run `kaczmatch migrate`" in told.stderr
    assert "Traceback" not in told.stderr
