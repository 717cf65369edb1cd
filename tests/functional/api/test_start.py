"""Where and how the service may start, and that it is ready only when it is."""

from __future__ import annotations

import asyncio
import socket
import stat
import warnings
from datetime import date
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import pytest
from pydantic.warnings import UnsupportedFieldAttributeWarning

from kaczmatch.app.asgi import app_of, create_app
from kaczmatch.app.composition import context_of, open_store, read_or_create_secret
from kaczmatch.app.server import check, free_port, serve, when_listening
from kaczmatch.app.system import compose
from kaczmatch.core.errors import InvalidInput
from kaczmatch.schemas.profiles import ProfileInput
from kaczmatch.service.access.credentials import Credentials
from kaczmatch.service.meeting.profiles import Profiles
from kaczmatch.settings.model import Settings
from kaczmatch.storage import MemoryStore
from worlds.served import Service


def test_no_start_beyond_loopback_without_a_key(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, host="0.0.0.0")  # noqa: S104
    with pytest.raises(InvalidInput, match="there is no key yet"):
        check(settings)
    store = open_store(settings)
    key, _ = Credentials(context_of(settings, store), b"x" * 32).create("app", ["app"])
    store.close()
    check(settings)
    store = open_store(settings)
    Credentials(context_of(settings, store), b"x" * 32).revoke(key.id).result()
    store.close()
    with pytest.raises(InvalidInput, match="there is no key yet"):
        check(settings)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.1.2.3"])
def test_loopback_needs_no_key(tmp_path: Path, host: str) -> None:
    check(Settings(data=tmp_path, host=host))


def test_the_demo_is_for_this_machine_alone(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="this machine alone"):
        check(Settings(data=tmp_path, host="192.0.2.1", demo=True))


def test_a_port_that_is_taken_is_said_before_anything_starts(tmp_path: Path) -> None:
    host = "127.0.0.1"
    with socket.create_server((host, 0)) as taken:
        port = taken.getsockname()[1]
        told: list[str] = []
        with pytest.raises(
            InvalidInput, match=rf"{port} cannot be listened on \(address already in use\); choose another with --port"
        ):
            serve(Settings(data=tmp_path, host=host, port=port), told.append)
        assert told == []
        assert list(tmp_path.iterdir()) == []
    assert free_port(host, port) == port
    assert free_port(host, 0) > 0


def test_the_address_is_said_when_it_can_be_connected_to_and_not_before() -> None:
    told = Event()
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        waiting = Thread(target=when_listening, args=("127.0.0.1", port, told.set, 0.01), daemon=True)
        waiting.start()
        assert not told.wait(0.3)  # bound, but not listening
        bound.listen()
        assert told.wait(10.0)
        waiting.join(10.0)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"learner": "tk", "learner_settings": {}}, "needs a learner that knows how sure it is"),
        ({"webhook_url": "https://hooks.example.com/"}, "secret"),
    ],
)
def test_what_config_check_refuses_serve_refuses_before_it_says_anything(
    tmp_path: Path, wrong: dict[str, Any], words: str
) -> None:
    told: list[str] = []
    with pytest.raises(InvalidInput, match=words):
        serve(Settings(data=tmp_path / "data", port=0, **wrong), told.append)
    assert told == []
    assert not (tmp_path / "data").exists()


def test_the_secret_is_made_once_and_kept_private(tmp_path: Path) -> None:
    file = tmp_path / "data" / "token-secret"
    first = read_or_create_secret(file)
    assert len(first) == 64
    assert read_or_create_secret(file) == first
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [found.name for found in file.parent.iterdir()] == ["token-secret"]


def test_until_it_is_ready_requests_are_told_to_come_back(tmp_path: Path) -> None:
    system = compose(Settings(data=tmp_path), MemoryStore())
    app = app_of(system)

    async def ask(path: str) -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            return await client.get(path)

    assert asyncio.run(ask("/v1/health/live")).status_code == 200
    for path in ("/v1/health/ready", "/v1/vocabulary"):
        answer = asyncio.run(ask(path))
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
    system.start()
    system.wait_ready()
    assert asyncio.run(ask("/v1/health/ready")).json() == {"ok": True, "detail": ""}
    system.stop()
    assert asyncio.run(ask("/v1/health/ready")).json() == {"ok": False, "detail": "stopping"}


def test_a_start_at_a_terminal_shows_no_warning_of_a_library(tmp_path: Path) -> None:
    """FastAPI's own silence was undone by numba's, in a thread beside it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        app = create_app(Settings(data=tmp_path, port=0))
        warnings.warn("said in a way that nobody at a terminal can use", UnsupportedFieldAttributeWarning, stacklevel=1)
        app.state.system.stop()


def test_settings_that_do_not_fit_who_is_there_are_said(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    store = open_store(settings)
    about = ProfileInput(name="Ann", born=date(1990, 1, 1), i_am=frozenset({"woman"}), i_look_for=frozenset({"man"}))
    Profiles(context_of(settings, store)).put("ann", about).result()
    store.close()
    fewer = Settings(data=tmp_path, kinds=("man", "mentor"))
    system = compose(fewer, open_store(fewer))
    system.start()
    system.health.started.wait()
    why = system.health.not_ready_reason()
    system.stop()
    assert "the settings do not fit the stored profiles: i_am: there is no 'woman'" in why
    assert "ann" not in why


def test_metrics_count_routes_and_name_nobody(one_service: Service) -> None:
    one, _ = one_service.couple()
    one_service.ok("GET", f"/people/{one}")
    text = one_service.call("GET", "/metrics").text
    assert 'route="/v1/people/{user}"' in text
    assert one not in text
    assert "kaczmatch_people " in text


def test_metrics_tell_how_the_process_does(service: Service) -> None:
    service.couple()
    text = service.call("GET", "/metrics").text
    told = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert told["kaczmatch_healthy"] == told["kaczmatch_ready"] == "1.0"
    assert {step for step in told if step.startswith("kaczmatch_start_seconds")} == {
        f'kaczmatch_start_seconds{{step="{step}"}}' for step in ("compiling kernels", "preparing the store", "loading everybody")
    }
    assert 0.0 <= float(told["kaczmatch_change_lag_seconds"]) < 10.0
    assert float(told["kaczmatch_disk_free_bytes"]) > 0.0
    if "kaczmatch_writes_waiting" in told:  # a store with commits
        assert float(told["kaczmatch_commit_works_count"]) > 0.0
        assert told['kaczmatch_commit_works_bucket{le="+Inf"}'] == told["kaczmatch_commit_works_count"]
