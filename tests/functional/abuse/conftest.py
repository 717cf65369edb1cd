"""A town to abuse, on the quickest store."""

from __future__ import annotations

import pytest

from kaczmatch.storage.memory import MemoryStore
from town import Town


@pytest.fixture
def town() -> Town:
    return Town(MemoryStore())
