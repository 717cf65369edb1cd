"""What every test shares: settings, markers that say what a test needs, and the order in which two workers get on best."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from kaczmatch.settings.model import PREFIX
from worlds.crowd import Crowd, make_crowd
from worlds.postgres import postgres, postgres_url

settings.register_profile("local", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("local"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

for name in [name for name in os.environ if name.startswith(PREFIX)]:
    del os.environ[name]  # the settings of somebody who runs the service from this shell are not meant for tests

__all__ = ["postgres", "postgres_url"]  # fixtures of a real server

TESTS = Path(__file__).parent
NEEDS = {"faults": "faults", "functional/web": "browser", "functional/api": "server"}  # by folder


@pytest.fixture(scope="session")
def crowd() -> Callable[..., Crowd]:
    return make_crowd


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say what each test needs; `make quick` runs those that need nothing."""
    for item in items:
        for folder, marker in NEEDS.items():
            if item.path.is_relative_to(TESTS / folder):
                item.add_marker(marker)
        if uses_postgres(item):
            item.add_marker("server")


def uses_postgres(item: pytest.Item) -> bool:
    """By a fixture, or by a parameter that says on which store it runs."""
    parameters = item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
    stores = {value for value in parameters if isinstance(value, str)}
    return "postgres" in stores or not {"postgres", "postgres_url"}.isdisjoint(getattr(item, "fixturenames", ()))
