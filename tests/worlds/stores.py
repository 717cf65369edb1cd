"""A store of each kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from kaczmatch.service.domain.store import Store
from kaczmatch.storage import MemoryStore, SqlStore


def open_store(kind: str, request: pytest.FixtureRequest, folder: Path) -> Store:
    """In memory, in a file of `folder`, or in a database of the test's PostgreSQL server."""
    if kind == "memory":
        return MemoryStore()
    return SqlStore(request.getfixturevalue("postgres_url") if kind == "postgres" else f"sqlite:///{folder}/store.db")
