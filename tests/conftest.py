"""What every test shares: settings, markers that say what a test needs, and the order in which workers get on best."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from httpx._transports import default
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

from kaczmatch.evaluation import self_test
from kaczmatch.settings.model import PREFIX
from kaczmatch.storage import migrating
from worlds.compiled import compile_all
from worlds.crowd import Crowd, make_crowd
from worlds.postgres import new_postgres_url, postgres, postgres_url
from worlds.stores import copying

settings.register_profile("local", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("local"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

for name in [name for name in os.environ if name.startswith(PREFIX)]:
    del os.environ[name]  # the settings of somebody who runs the service from this shell are not meant for tests

__all__ = ["new_postgres_url", "postgres", "postgres_url"]  # fixtures of a real server

TESTS = Path(__file__).parent
NEEDS = {"faults": "faults", "functional/web": "browser", "functional/api": "server"}  # by folder
# In parallel, one worker gets all of such a folder: two browsers, or two processes that are killed, would disturb each other.
TOGETHER = ("tests/functional/web", "tests/faults")
LONGEST_FIRST = (*TOGETHER, "tests/paper/test_reproduction", "tests/functional", "tests/contract", "tests/paper")


@pytest.fixture(scope="session")
def crowd() -> Callable[..., Crowd]:
    return make_crowd


@pytest.fixture(autouse=True, scope="session")
def certificates() -> Iterator[None]:
    """Are read once. httpx reads those of all authorities for every client, which takes longer than most requests do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(default, "create_ssl_context", cache(default.create_ssl_context))
        yield


@pytest.fixture(autouse=True, scope="session")
def tables_of_new_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Are copied. tests/unit/storage/test_migrations.py migrates in earnest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrating, "_migrate", copying(tmp_path_factory.mktemp("tables") / "store.db"))
        yield


@pytest.fixture(autouse=True, scope="module")  # not of the session: pages show the whole of it
def few_shuffles() -> Iterator[None]:
    """Evaluations ask little of their own test, which has tests of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(self_test, "MOST_SHUFFLES", 8)
        patch.setattr(self_test, "MOST_REFITS", 1)
        yield


@pytest.fixture
def whole_self_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many shuffles as it takes."""
    monkeypatch.setattr(self_test, "MOST_SHUFFLES", 200)
    monkeypatch.setattr(self_test, "MOST_REFITS", 10)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is loaded stays: to look through it for garbage again and again takes a third of the collection, and of each start
    of a service in this process."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say what each test needs; `make quick` runs those that need nothing. The longest come first, so that no worker waits."""
    for item in items:
        for folder, marker in NEEDS.items():
            if item.path.is_relative_to(TESTS / folder):
                item.add_marker(marker)
        if uses_postgres(item):
            item.add_marker("server")
    items.sort(key=lambda item: [not item.nodeid.startswith(folder) for folder in LONGEST_FIRST])


def uses_postgres(item: pytest.Item) -> bool:
    """By a fixture, or by a parameter that says on which store it runs."""
    parameters = item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
    stores = {value for value in parameters if isinstance(value, str)}
    return "postgres" in stores or not {"postgres", "postgres_url", "new_postgres_url"}.isdisjoint(
        getattr(item, "fixturenames", ())
    )


def pytest_configure(config: pytest.Config) -> None:
    """Before the workers start, compile for all what each would have to, unless it was done by a run before."""
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        config.option.loadscopereorder = False  # we have an order of our own
        compile_all()


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores, since many tests wait: for a browser, a server, a process to end. Each takes memory."""
    return min(len(os.sched_getaffinity(0)) + 1, 4)


class Folders(LoadScopeScheduling):
    """A file at a time to whichever worker is free, so that what a file sets up is set up once; some folders as a whole."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return next((folder for folder in TOGETHER if file.startswith(folder)), file)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Folders:
    return Folders(config, log)
