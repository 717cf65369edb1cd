"""What is taken away, and who must notice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A safeguard, the text that is it, what stands there without it, and the tests that must notice."""

    name: str
    file: str
    safeguard: str
    without: str
    tests: str
