"""A town in memory."""

from __future__ import annotations

import pytest

from kaczmatch.storage.memory import MemoryStore
from worlds.town import Town


@pytest.fixture
def town() -> Town:
    return Town(MemoryStore())
