"""Ports for processes that cannot be given port 0."""

from __future__ import annotations

import contextlib
import secrets
import socket

import pytest


def free_port() -> int:
    """Below the range that the system gives to connections, so that nobody takes it before, or while, its server is away."""
    for _ in range(100):
        port = secrets.randbelow(10_000) + 20_000  # at random: two workers look at the same time
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    pytest.fail("no free port between 20000 and 30000")
