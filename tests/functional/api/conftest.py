"""Services over HTTP: on memory and on SQLite, each started once; and others for the tests that need one of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from kaczmatch.settings.model import Settings
from worlds.served import Service, serving

Opened = Callable[..., Service]


def opener(folders: pytest.TempPathFactory, running: ExitStack) -> Opened:
    def start(store: str = "memory", *, clock: Any = None, **settings: Any) -> Service:
        usual = {"data": folders.mktemp("data"), "edits_a_day": 3, "wrong_keys_a_minute": None, "log_level": "error"}
        chosen = Settings(**usual | settings)
        return running.enter_context(serving(chosen, store=store, **{} if clock is None else {"clock": clock}))

    return start


@pytest.fixture(scope="session")
def opened_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """Start services that are stopped at the end of everything."""
    with ExitStack() as running:
        yield opener(tmp_path_factory, running)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """Start services that are stopped at the end of a module."""
    with ExitStack() as running:
        yield opener(tmp_path_factory, running)


@pytest.fixture(scope="session", params=["memory", "sqlite"])
def service(request: pytest.FixtureRequest, opened_once: Opened) -> Service:
    return opened_once(request.param)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def stored(request: pytest.FixtureRequest, opened: Opened) -> Service:
    """For what strangers send, on each database."""
    return opened(request.param, **{"database": request.getfixturevalue("postgres").new()} if request.param == "postgres" else {})


@pytest.fixture(scope="session")
def one_service(opened_once: Opened) -> Service:
    """For what does not depend on the store."""
    return opened_once("memory")
