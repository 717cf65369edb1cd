"""What an operator sees while the service starts, and where log lines go."""

from __future__ import annotations

import json
import socket
import sys
from contextlib import closing
from pathlib import Path

import pytest

from kaczmatch.app import asgi, composition
from kaczmatch.app.composition import context_of, open_store
from kaczmatch.app.health import ProcessHealth
from kaczmatch.app.logs import log_file
from kaczmatch.app.server import announce_start
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.settings.model import Settings
from kaczmatch.storage import MemoryStore
from worlds.town import Town


def test_a_slow_step_is_named_and_the_end_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings = Settings(data=tmp_path, port=server.getsockname()[1])
        health = ProcessHealth(Town(MemoryStore()).context)
        said: list[str] = []
        steps = iter(["compiling kernels", "compiling kernels", "loading everybody"])

        def wait(seconds: float) -> bool:
            health.step = next(steps, "")
            if not health.step:
                health.set_ready()
            return health.started.is_set()

        health.started.wait = wait  # type: ignore[method-assign, assignment]
        announce_start(settings, said.append, health)
    assert said == [
        "Starting: compiling kernels, once per installation, which takes half a minute …",
        "Starting: loading everybody …",
        f"Ready: open http://127.0.0.1:{settings.port}",
    ]


def test_a_start_that_failed_is_not_called_ready(tmp_path: Path) -> None:
    health = ProcessHealth(Town(MemoryStore()).context)
    said: list[str] = []
    health.step = "failed to start (KeyError); see the log"
    health.started.set()
    announce_start(Settings(data=tmp_path), said.append, health)
    assert said == ["Not ready: failed to start (KeyError); see the log"]


@pytest.mark.parametrize(
    ("chosen", "terminal", "in_file"), [(None, True, True), (None, False, False), ("json", True, False), ("file", False, True)]
)
def test_log_lines_go_to_a_file_where_somebody_reads_the_terminal(
    chosen: str | None, terminal: bool, in_file: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    settings = Settings.model_validate({"data": tmp_path, "log": chosen})
    assert log_file(settings) == (tmp_path / "kaczmatch.log" if in_file else None)
    assert json.loads(settings.model_dump_json())["log"] == chosen


def test_threads_of_every_worker_take_turns_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """uvicorn starts workers as processes of their own, which have nothing from the one that began them."""
    said: list[float] = []
    monkeypatch.setattr(asgi, "read", Settings)
    monkeypatch.setattr(asgi, "create_app", lambda _: None)
    monkeypatch.setattr(asgi, "set_up_logs_of", lambda _: None)
    monkeypatch.setattr(sys, "setswitchinterval", said.append)
    asgi.create()
    assert said == [asgi.TURN_SECONDS]


def test_a_damaged_snapshot_is_one_line_in_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = list[tuple[str, str]]()
    monkeypatch.setattr(composition.log, "warning", lambda event, *, why, advice: lines.append((event, f"{why}; {advice}")))
    settings = Settings(data=tmp_path)
    with closing(open_store(settings)) as store:
        index = ServingIndex(context_of(settings, store))
        (tmp_path / "snapshot").mkdir()
        (tmp_path / "snapshot" / "index.json").write_bytes(b"nothing")
        index.load()
        assert not index.snapshot_problem
        index.close()
    assert [event for event, _ in lines] == ["snapshot thrown away"]
    assert str(tmp_path / "snapshot") in lines[0][1]
    assert not (tmp_path / "snapshot").exists()
